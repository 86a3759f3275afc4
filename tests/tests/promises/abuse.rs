//! Messages that a client must not send: each gets its error, and nobody else notices.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use fastwebsockets::OpCode;
use proto::client::{ErrorCode, Format, RequestId, error::Error};
use serde_json::json;
use tests::{
    bot::{Payload, Player, player::TIMEOUT},
    cluster::{Cluster, Kind, Plan},
    journey::track,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_gets_its_error_and_disturbs_nobody() {
    let mut plan = Plan::new("abuse").of(1, 1, 1);
    plan.rate_limits = true;
    let cluster = Cluster::start(plan).await.unwrap();
    story(&cluster).await.unwrap();
}

async fn story(cluster: &Cluster) -> Result<()> {
    let gateway = cluster.gateway(0);
    let bystander = Player::arrive(&gateway, Format::Json, "Bystander").await?;
    let mark = bystander.mark();

    before_the_world(&gateway).await?;
    json_messages(&gateway).await?;
    message_pack(&gateway).await?;
    too_big(&gateway).await?;
    not_text(&gateway).await?;
    too_often(&gateway).await?;

    bystander.check()?;
    undisturbed(&bystander, mark)
}

/// Checks that nobody else got a message, and that their ticks go on one by one.
fn undisturbed(bystander: &Player, mark: usize) -> Result<()> {
    let log = bystander.log();
    for message in log.iter().skip(mark) {
        ensure!(
            !matches!(message.payload, Payload::Error(_) | Payload::Notice(_)),
            "{message:?}"
        );
    }
    let pauses = log
        .iter()
        .filter_map(|m| match &m.payload {
            Payload::Update(update) => Some(update.tick),
            _ => None,
        })
        .collect::<Vec<_>>();
    ensure!(
        pauses.len() > 10,
        "the bystander saw only {} updates",
        pauses.len()
    );
    ensure!(!track(&log, &bystander.id()?).is_empty());
    Ok(())
}

/// Returns the error that comes after `mark`.
async fn error(player: &Player, mark: usize) -> Result<(Option<RequestId>, Error)> {
    player
        .heard("an error", mark, TIMEOUT, |message| {
            match &message.payload {
                Payload::Error(error) => Some((message.re.clone(), error.clone())),
                _ => None,
            }
        })
        .await
}

async fn expect(player: &Player, op: OpCode, bytes: &[u8], codes: &[ErrorCode]) -> Result<Error> {
    let mark = player.mark();
    player.raw(true, op, bytes.to_vec()).await?;
    let text = String::from_utf8_lossy(bytes)
        .chars()
        .take(80)
        .collect::<String>();
    let (_, error) = error(player, mark).await.with_context(|| text.clone())?;
    ensure!(codes.contains(&error.code), "{text}: {error:?}");
    ensure!(!error.message.is_empty(), "{text}: an error without words");
    // The connection is as good as before.
    let pong = player.ask("ping", &json!({ "t": 4.5 })).await?;
    ensure!(matches!(&pong, Payload::Pong(p) if p.t == 4.5), "{pong:?}");
    Ok(error)
}

async fn before_the_world(gateway: &str) -> Result<()> {
    let unauthenticated = Player::connect(gateway, Format::Json).await?;
    for (event, data) in [
        ("character:list", json!({})),
        ("player:move", json!({"target": {"x": 1, "z": 1}})),
    ] {
        match unauthenticated.ask(event, &data).await? {
            Payload::Error(e) if e.code == ErrorCode::NotAuthenticated => {}
            other => bail!("{event} before authenticate: {other:?}"),
        }
    }
    let welcome = unauthenticated.sign_in(None).await?;
    ensure!(welcome.device_key.is_some());
    for (event, data, code) in [
        (
            "player:move",
            json!({"target": {"x": 1, "z": 1}}),
            ErrorCode::NotInWorld,
        ),
        ("authenticate", json!({}), ErrorCode::AlreadyAuthenticated),
        (
            "world:enter",
            json!({"characterId": "nobody"}),
            ErrorCode::NotYourCharacter,
        ),
        (
            "character:create",
            json!({"name": "<script>"}),
            ErrorCode::InvalidName,
        ),
        (
            "character:create",
            json!({"name": "bystander"}),
            ErrorCode::NameTaken,
        ),
    ] {
        match unauthenticated.ask(event, &data).await? {
            Payload::Error(e) if e.code == code => {}
            other => bail!("{event} {data}: {other:?}"),
        }
    }
    unauthenticated.check()
}

async fn json_messages(gateway: &str) -> Result<()> {
    let player = Player::arrive(gateway, Format::Json, "Jason").await?;
    let deep = format!(
        r#"{{"event":"ping","data":{}{}}}"#,
        "[".repeat(7000),
        "]".repeat(7000)
    );
    let deeper = "[".repeat(16_000);
    let malformed = [ErrorCode::Malformed];
    let invalid = [ErrorCode::InvalidData];
    let either = [ErrorCode::Malformed, ErrorCode::InvalidData];
    let text = OpCode::Text;
    expect(&player, text, b"{", &malformed).await?;
    expect(&player, text, b"", &malformed).await?;
    expect(&player, text, b"null", &malformed).await?;
    expect(&player, text, br#"{"event":7}"#, &malformed).await?;
    expect(&player, text, br#"{"event":"ping","extra":1}"#, &either).await?;
    expect(&player, text, deeper.as_bytes(), &malformed).await?;
    expect(&player, text, deep.as_bytes(), &either).await?;
    expect(
        &player,
        text,
        br#"{"event":"player:fly"}"#,
        &[ErrorCode::UnknownEvent],
    )
    .await?;
    for data in [
        r#"{"target":{"x":1}}"#,
        r#"{"target":{"x":1.5,"z":2}}"#,
        r#"{"target":{"x":1e300,"z":2}}"#,
        r#"{"target":{"x":99999,"z":2}}"#,
        r#"{"target":{"x":1,"z":2},"teleport":true}"#,
        r#"{"stop":true,"target":{"x":1,"z":2}}"#,
        "{}",
    ] {
        let message = format!(r#"{{"event":"player:move","id":"m","data":{data}}}"#);
        expect(&player, text, message.as_bytes(), &invalid).await?;
    }
    let long = json!({"event": "player:chat", "data": {"message": "x".repeat(201)}}).to_string();
    expect(&player, text, long.as_bytes(), &invalid).await?;
    expect(
        &player,
        OpCode::Binary,
        br#"{"event":"ping"}"#,
        &[ErrorCode::WrongEncoding],
    )
    .await?;
    let mark = player.mark();
    player
        .raw(
            true,
            text,
            br#"{"event":"player:fly","id":"mine"}"#.to_vec(),
        )
        .await?;
    let (re, _) = error(&player, mark).await?;
    ensure!(re == Some(RequestId::Text("mine".to_owned())), "{re:?}");
    player.check()
}

async fn message_pack(gateway: &str) -> Result<()> {
    let player = Player::arrive(gateway, Format::MessagePack, "Max").await?;
    let malformed = [ErrorCode::Malformed];
    let binary = OpCode::Binary;
    expect(&player, binary, &vec![0x91; 16_000], &malformed).await?;
    expect(&player, binary, &[0xc1], &malformed).await?;
    // A map that claims four milliards of entries, and a text that claims as many bytes.
    expect(&player, binary, &[0xdf, 0xff, 0xff, 0xff, 0xff], &malformed).await?;
    expect(
        &player,
        binary,
        &[0xdb, 0xff, 0xff, 0xff, 0xff, b'a'],
        &malformed,
    )
    .await?;
    expect(
        &player,
        OpCode::Text,
        br#"{"event":"ping"}"#,
        &[ErrorCode::WrongEncoding],
    )
    .await?;
    player.check()
}

async fn too_big(gateway: &str) -> Result<()> {
    let whole = Player::connect(gateway, Format::Json).await?;
    // The server may close before all of it is written.
    let _ = whole
        .raw(true, OpCode::Text, vec![b' '; 16 * 1024 + 1])
        .await;
    let closed = whole.closed(TIMEOUT).await?;
    ensure!(
        closed.code == Some(1009) && !closed.reason.is_empty(),
        "{closed:?}"
    );

    let parts = Player::connect(gateway, Format::Json).await?;
    for number in 0..20 {
        let opcode = if number == 0 {
            OpCode::Text
        } else {
            OpCode::Continuation
        };
        if parts.raw(false, opcode, vec![b' '; 1024]).await.is_err() {
            break;
        }
    }
    let closed = parts.closed(TIMEOUT).await?;
    ensure!(closed.code == Some(1009), "in parts: {closed:?}");

    let limit = Player::connect(gateway, Format::Json).await?;
    let mut message = br#"{"event":"ping","id":1,"data":{"t":1}}"#.to_vec();
    message.resize(16 * 1024, b' ');
    let mark = limit.mark();
    limit.raw(true, OpCode::Text, message).await?;
    limit
        .heard("a pong at the limit", mark, TIMEOUT, |m| {
            matches!(m.payload, Payload::Pong(_)).then_some(())
        })
        .await
}

async fn not_text(gateway: &str) -> Result<()> {
    let player = Player::connect(gateway, Format::Json).await?;
    player
        .raw(true, OpCode::Text, vec![b'"', 0xff, 0xfe, b'"'])
        .await?;
    let closed = player.closed(TIMEOUT).await?;
    ensure!(closed.code == Some(1007), "{closed:?}");
    Ok(())
}

/// Checks that the gateway refuses each message above 60 in a second; ten seconds of that end the
/// connection.
async fn too_often(gateway: &str) -> Result<()> {
    let player = Player::arrive(gateway, Format::Json, "Noisy").await?;
    let mark = player.mark();
    for _ in 0..100 {
        player.tell("ping", &json!({})).await?;
    }
    let (_, refused) = error(&player, mark).await?;
    ensure!(refused.code == ErrorCode::RateLimited, "{refused:?}");
    ensure!(
        refused
            .retry_after_ms
            .is_some_and(|ms| ms > 0 && ms <= 60_000),
        "{refused:?}"
    );
    let passed = player
        .log()
        .iter()
        .skip(mark)
        .filter(|message| matches!(message.payload, Payload::Pong(_)))
        .count();
    ensure!(passed <= 60, "{passed} of 100 at once passed");

    let noise = async {
        // Ends when the socket does.
        while player.tell("ping", &json!({})).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let closed = tokio::select! {
        closed = player.closed(Duration::from_secs(30)) => closed?,
        () = noise => player.closed(TIMEOUT).await?,
    };
    ensure!(closed.code == Some(4008), "{closed:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_authenticate_in_time_is_closed_and_told_so() {
    let cluster = Cluster::start(Plan::new("silent").of(1, 1, 1))
        .await
        .unwrap();
    let silent = Player::connect(&cluster.gateway(0), Format::Json)
        .await
        .unwrap();
    let closed = silent.closed(Duration::from_secs(15)).await.unwrap();
    assert_eq!(closed.code, Some(4001), "{closed:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_login_of_a_character_takes_over_and_the_first_is_told() {
    let cluster = Cluster::start(Plan::new("takeover").of(2, 1, 1))
        .await
        .unwrap();
    let first = Player::arrive(&cluster.gateway(0), Format::Json, "Ann")
        .await
        .unwrap();
    let key = first.device_key().unwrap();
    let second = Player::come_back(&cluster.gateway(1), Format::Json, &key)
        .await
        .unwrap();
    let closed = first.closed(Duration::from_secs(15)).await.unwrap();
    assert_eq!(closed.code, Some(4010), "{closed:?}");
    assert_eq!(second.id().unwrap(), first.id().unwrap());
    second.check().unwrap();
}

/// Sockets that say nothing; few enough for this process to hold them.
const SILENT: usize = 800;

/// Returns memory that a process holds, in bytes.
fn memory(process: u32) -> Result<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let held = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(held.context("VmRSS")?.parse::<usize>()? * 1024)
}

/// Connects a socket and waits until it is one.
async fn says_nothing(gateway: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(gateway).await?;
    let upgrade = format!(
        "GET /ws HTTP/1.1\r\nhost: {gateway}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(upgrade.as_bytes()).await?;
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).await?;
    ensure!(&begin == b"HTTP/1.1 101", "{}", begin.escape_ascii());
    Ok(stream)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_says_nothing_takes_little_memory() {
    let plan = Plan::new("quiet").of(1, 1, 1);
    let plan = plan.env("HANDSHAKE_TIMEOUT_MS", "120000");
    let mut cluster = Cluster::start(plan).await.unwrap();
    let gateway = cluster.gateway(0);
    let process = cluster.process((Kind::Gateway, 0)).unwrap().id();
    let mut held = Vec::new();
    // The memory that the first ones take is not theirs alone.
    for _ in 0..20 {
        held.push(says_nothing(&gateway).await.unwrap());
    }
    let before = memory(process).unwrap();
    for _ in 0..SILENT {
        held.push(says_nothing(&gateway).await.unwrap());
    }
    let each = memory(process).unwrap().saturating_sub(before) / SILENT;
    assert!(each < 20 * 1024, "{each} bytes each");
}
