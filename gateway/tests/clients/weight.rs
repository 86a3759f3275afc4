//! Weight of the page: the bytes that a browser needs up to the first picture, and the requests
//! that fetch them.

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::stage::Stage;

/// Header of a browser.
const BROWSER: &str = "accept-encoding: gzip, deflate, br, zstd\r\n";
/// Tiles from one side of a region to the other.
const REGION: i64 = 64;

struct Answer {
    head: String,
    /// As it was sent.
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| *known == name);
        found.next().map_or("", |(_, value)| value)
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

async fn ask(stage: &Stage, method: &str, path: &str, headers: &str) -> Answer {
    let mut stream = TcpStream::connect(stage.address(0)).await.unwrap();
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    let end = bytes.windows(4).position(|at| at == b"\r\n\r\n").unwrap() + 4;
    let body = bytes.split_off(end);
    let head = String::from_utf8(bytes).unwrap();
    Answer { head, body }
}

/// Adds up the bytes that a browser gets.
struct Browser<'a> {
    stage: &'a Stage,
    asked: BTreeSet<String>,
    bytes: usize,
}

impl Browser<'_> {
    /// Gets it once; gives its text.
    async fn get(&mut self, path: &str) -> String {
        if self.asked.insert(path.to_owned()) {
            let sent = ask(self.stage, "GET", path, BROWSER).await;
            assert!(
                sent.head.starts_with("HTTP/1.1 200"),
                "{path}: {}",
                sent.head
            );
            self.bytes += sent.head.len() + sent.body.len();
        }
        let plain = ask(self.stage, "GET", path, "").await.body;
        String::from_utf8_lossy(&plain).into_owned()
    }
}

/// Returns each text between `begin` and `end`.
fn all_between<'a>(text: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
    let parts = text.split(begin).skip(1);
    parts
        .filter_map(|part| Some(part.split_once(end)?.0))
        .collect()
}

/// Fetches the page with its modules, the map around the spawn, houses, and the icons of the pack.
async fn first_picture(browser: &mut Browser<'_>) {
    let index = browser.get("/").await;
    let mut files = all_between(&index, "href=\"/", "\"");
    files.extend(all_between(&index, "src=\"/", "\""));
    let mut files: Vec<String> = files.iter().map(|file| format!("/{file}")).collect();
    let mut items = Vec::new();
    while let Some(file) = files.pop() {
        if browser.asked.contains(&file) {
            continue;
        }
        let text = browser.get(&file).await;
        if file.ends_with(".js") {
            let imported = all_between(&text, "from \"./", "\"");
            files.extend(imported.iter().map(|name| format!("/page/{name}")));
            let lists = all_between(&text, "const FILES = [", "]");
            items.extend(lists.iter().map(|list| (*list).to_owned()));
        }
    }
    assert_eq!(items.len(), 1, "the lists of items");
    for name in all_between(&items[0].replace(", ", "\n"), "\"", "\"") {
        browser.get(&format!("/manifests/items/{name}.json")).await;
    }
    browser.get("/manifests/buildings.json").await;
    let land: Value = serde_json::from_str(&browser.get("/world/terrain.json").await).unwrap();
    let at = |axis: &str| land["spawn"][axis].as_i64().unwrap().div_euclid(REGION);
    // A window shows a part of a region; the map in the corner reaches into those around it.
    for x in at("x") - 1..=at("x") + 1 {
        for z in at("z") - 1..=at("z") + 1 {
            browser.get(&format!("/world/terrain/{x}/{z}")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_picture_takes_few_requests_and_less_than_200_kilobytes() {
    let stage = Stage::open(&[("DISABLE_RATE_LIMIT", "true")]).await;
    let mut browser = Browser {
        stage: &stage,
        asked: BTreeSet::new(),
        bytes: 0,
    };
    first_picture(&mut browser).await;
    let (requests, bytes) = (browser.asked.len(), browser.bytes);
    println!("{bytes} bytes in {requests} requests");
    assert!(bytes <= 200_000, "{bytes} bytes");
    assert!(requests <= 25, "{requests}: {:?}", browser.asked);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_is_sent_in_the_encoding_that_was_asked_for() {
    let stage = Stage::open(&[("DISABLE_RATE_LIMIT", "true")]).await;
    let five_minutes = "public, max-age=300, must-revalidate";
    for (path, cache) in [
        ("/", "no-cache"),
        ("/page/bundle.js", "no-cache"),
        ("/page/style.css", "no-cache"),
        ("/openapi.json", "no-cache"),
        ("/asyncapi.json", "no-cache"),
        ("/docs", "no-cache"),
        ("/docs/docs.js", "no-cache"),
        ("/manifests/npcs.json", five_minutes),
        ("/api/data/skill-unlocks", five_minutes),
        ("/world/terrain.json", five_minutes),
        ("/world/map", five_minutes),
        ("/world/terrain/0/0", five_minutes),
    ] {
        let plain = ask(&stage, "GET", path, "").await;
        assert_eq!(plain.header("content-encoding"), "", "{path}");
        let mut tags = BTreeSet::from([plain.header("etag").to_owned()]);
        for (wanted, encoding) in [("gzip", "gzip"), ("br;q=1.0, gzip;q=0.8", "br")] {
            let asked = format!("accept-encoding: {wanted}\r\n");
            let sent = ask(&stage, "GET", path, &asked).await;
            assert_eq!(sent.header("content-encoding"), encoding, "{path}");
            assert_eq!(sent.header("cache-control"), cache, "{path}");
            assert!(
                sent.head.contains("vary: Accept-Encoding"),
                "{path}: {}",
                sent.head
            );
            assert!(sent.body.len() < plain.body.len(), "{path}");
            assert_eq!(unpacked(encoding, &sent.body), plain.body, "{path}");
            let tag = sent.header("etag").to_owned();
            let known = format!("{asked}if-none-match: {tag}\r\n");
            let again = ask(&stage, "GET", path, &known).await;
            assert!(
                again.head.starts_with("HTTP/1.1 304"),
                "{path}: {}",
                again.head
            );
            assert_eq!(again.header("etag"), tag, "{path}");
            assert!(again.body.is_empty() && again.head.contains("vary: Accept-Encoding"));
            let head = ask(&stage, "HEAD", path, &asked).await;
            assert!(head.body.is_empty(), "{path}");
            let length: usize = head.header("content-length").parse().unwrap();
            assert_eq!(
                (length, head.header("etag")),
                (sent.body.len(), tag.as_str()),
                "{path}"
            );
            assert!(tag.starts_with('"') && tags.insert(tag), "{path}: {tags:?}");
        }
    }
}

fn unpacked(encoding: &str, body: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let read = match encoding {
        "br" => brotli::BrotliDecompress(&mut &*body, &mut plain),
        _ => std::io::copy(&mut flate2::read::GzDecoder::new(body), &mut plain).map(|_| ()),
    };
    read.unwrap();
    plain
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_may_hold_a_token_are_never_compressed() {
    let stage = Stage::open(&[]).await;
    // The body, and the end of the line behind it.
    let asked = format!("{BROWSER}content-type: application/json\r\ncontent-length: 4\r\n\r\n{{}}");
    let login = ask(&stage, "POST", "/api/auth/anonymous", &asked).await;
    assert!(login.head.starts_with("HTTP/1.1 200"), "{}", login.head);
    assert_eq!(login.header("content-encoding"), "");
    assert!(login.text().contains("token"));
}
