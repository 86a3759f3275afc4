//! The frontend's build, where there is a public folder: its files, and its index for each path
//! of its own router.
//!
//! Always: the gateway reads all files at the start and serves them from memory. No path of a
//! client is ever a path on the disk. Each page carries a policy of its sources.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context;
use axum::{
    http::{
        HeaderMap, HeaderName, HeaderValue, Method,
        header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY},
    },
    response::Response,
};
use service_runtime::config::ConfigError;

use super::stored::{ASK, FOR_EVER, Stored};
use crate::config::Config;

/// All files together have at most this many bytes.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// There are at most this many files.
const COUNT_MAX: usize = 20_000;
/// Depth of folders in folders, at most; the gateway leaves out deeper ones.
const DEPTH_MAX: usize = 16;
const INDEX: &str = "index.html";
/// First parts of paths that are the server's own: nothing of the frontend hides behind them.
const RESERVED: [&str; 17] = [
    "api",
    "manifests",
    "world",
    "page",
    "ws",
    "admin",
    "console",
    "hiscores",
    "health",
    "status",
    "livez",
    "readyz",
    "metrics",
    "docs",
    "env.js",
    "openapi.json",
    "asyncapi.json",
];

/// The frontend, and the headers of its pages.
pub(crate) struct Frontend {
    files: BTreeMap<String, Stored>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Policy of the page that ships, which may load less.
    own: HeaderValue,
}

impl Frontend {
    /// Reads the public folder: the configured one, or `public` in the world's folder where that
    /// has an index.
    pub(crate) fn load(config: &Config) -> anyhow::Result<Self> {
        let (headers, own) = (page_headers(config), own_policy(config));
        let named = config.public_dir.is_some();
        let folder = config.public_dir.clone();
        let folder = folder.unwrap_or_else(|| config.world.join("public"));
        let mut files = BTreeMap::new();
        if !folder.join(INDEX).is_file() {
            if named {
                let folder = folder.display();
                let why = format!("PUBLIC_DIR: there is no {INDEX} in {folder}.");
                return Err(ConfigError::new(why).into());
            }
            return Ok(Self {
                files,
                headers,
                own,
            });
        }
        let mut room = BYTES_MAX;
        read(&folder, "", 0, &mut room, &mut files)
            .with_context(|| format!("read the public folder {}", folder.display()))?;
        tracing::info!(files = files.len(), folder = %folder.display(), "frontend");
        Ok(Self {
            files,
            headers,
            own,
        })
    }

    /// Returns the frontend's index, where there is a frontend.
    pub(crate) fn index(&self, headers: &HeaderMap) -> Option<Response> {
        let index = self.files.get(INDEX)?;
        Some(self.page(index.answer(headers)))
    }

    /// Returns the file at a path; the index for a path without a file, as the frontend's own
    /// router expects it. `None`: there is nothing at the path, or nothing for this method.
    pub(crate) fn get(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Response> {
        if method != Method::GET && method != Method::HEAD {
            return None;
        }
        let path = path.strip_prefix('/')?;
        let first = path.split('/').next().unwrap_or_default();
        if RESERVED.contains(&first) {
            return None;
        }
        if let Some(file) = self.files.get(&decoded(path)?) {
            let answer = file.answer(headers);
            return Some(if file.kind() == HTML {
                self.page(answer)
            } else {
                answer
            });
        }
        // A missing file with an ending, as a picture, is not a page.
        let last = path.rsplit('/').next().unwrap_or_default();
        if last.contains('.') {
            return None;
        }
        self.index(headers)
    }

    /// Adds the headers of a page: among them its content policy and its referrer policy.
    pub(crate) fn page(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        response
    }

    /// Adds the headers of a page, with the policy of the page that ships.
    pub(crate) fn own_page(&self, response: Response) -> Response {
        let mut response = self.page(response);
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, self.own.clone());
        response
    }

    /// Adds the headers of a page, with the policy of the operators' console.
    pub(crate) fn console_page(&self, response: Response) -> Response {
        let mut response = self.page(response);
        let policy = HeaderValue::from_static(CONSOLE_POLICY);
        response
            .headers_mut()
            .insert(CONTENT_SECURITY_POLICY, policy);
        response
    }
}

/// The console loads and asks its own gateway alone, and no site may frame it, so that nobody is led to press its buttons.
const CONSOLE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";

/// Returns the type of a file, by its name.
fn kind(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "html" | "htm" => HTML,
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "glb" => "model/gltf-binary",
        "gltf" => "model/gltf+json",
        "txt" | "md" => "text/plain; charset=utf-8",
        "xml" => "application/xml",
        _ => "application/octet-stream",
    }
}

/// Returns whether a name contains a hash of the content, as bundlers write it:
/// `index-B3kQx_9a.js`.
fn hashed(name: &str) -> bool {
    let mut parts = name.rsplitn(2, '.');
    let stem = parts.nth(1).unwrap_or_default();
    let Some((_, hash)) = stem.rsplit_once(['-', '.']) else {
        return false;
    };
    let of_hash = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let digits = hash.chars().any(|c| c.is_ascii_digit());
    let mixed = hash.chars().any(|c| c.is_ascii_lowercase())
        && hash.chars().skip(1).any(|c| c.is_ascii_uppercase());
    hash.len() >= 8 && hash.chars().all(of_hash) && (digits || mixed)
}

fn read(
    folder: &Path,
    prefix: &str,
    depth: usize,
    room: &mut u64,
    files: &mut BTreeMap<String, Stored>,
) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A link may lead out of the folder, so the gateway does not serve its target.
        let (kind_of, name) = (entry.file_type()?, entry.file_name());
        let Some(name) = name.to_str() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if name.starts_with('.') && name != ".well-known" {
            continue;
        }
        if kind_of.is_dir() && depth < DEPTH_MAX {
            read(&entry.path(), &format!("{path}/"), depth + 1, room, files)?;
        } else if kind_of.is_file() {
            let bytes = fs::read(entry.path()).with_context(|| path.clone())?;
            let left = room.checked_sub(bytes.len() as u64);
            *room = left.with_context(|| format!("more than {BYTES_MAX} bytes"))?;
            anyhow::ensure!(files.len() < COUNT_MAX, "more than {COUNT_MAX} files");
            let cache = if hashed(name) { FOR_EVER } else { ASK };
            files.insert(path, Stored::new(bytes, kind(name), cache).packed());
        }
    }
    Ok(())
}

/// Decodes the `%` signs of a path; `None` where the result is no text.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// Returns the headers of every page.
fn page_headers(config: &Config) -> Vec<(HeaderName, HeaderValue)> {
    let fixed = |name, value| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    };
    let mut headers = vec![
        (CONTENT_SECURITY_POLICY, policy(config)),
        (
            REFERRER_POLICY,
            HeaderValue::from_static("strict-origin-when-cross-origin"),
        ),
        fixed("cross-origin-opener-policy", "same-origin-allow-popups"),
        fixed(
            "permissions-policy",
            "camera=(), geolocation=(), microphone=(self), payment=(), usb=()",
        ),
    ];
    let secure = |url: &Option<String>| url.as_ref().is_some_and(|u| u.starts_with("https://"));
    if config.production && secure(&config.public.api_url) {
        let a_year = HeaderValue::from_static("max-age=31536000");
        headers.push((STRICT_TRANSPORT_SECURITY, a_year));
    }
    headers
}

/// Returns the content policy of a page. It names the sources that the page may load: itself, the
/// asset host, its sockets and the identity provider. It also names the hosts that may frame the
/// page.
fn policy(config: &Config) -> HeaderValue {
    let urls = [
        &config.public.cdn_url,
        &config.public.api_url,
        &config.public.ws_url,
        &config.voice.as_ref().map(|voice| voice.url.clone()),
    ];
    let mut own: Vec<String> = urls
        .into_iter()
        .flatten()
        .filter_map(|url| origin(url))
        .collect();
    own.dedup();
    let own: String = own.iter().map(|origin| format!(" {origin}")).collect();
    let idp = below(config.origins.identity_hosts());
    let frames = below(config.origins.frame_hosts());
    let text = format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{idp}; \
         style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:{own}; \
         media-src 'self' blob:{own}; font-src 'self' data:; worker-src 'self' blob:; \
         connect-src 'self' ws: wss:{own}{idp}; frame-src 'self'{idp}; object-src 'none'; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'self'{frames}"
    );
    // The text holds only plain hosts, so it is always a valid header.
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("default-src 'self'"))
}

/// Returns the content policy of the page that ships, which may load itself and its own socket.
fn own_policy(config: &Config) -> HeaderValue {
    let frames = below(config.origins.frame_hosts());
    let text = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self'{frames}"
    );
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("default-src 'self'"))
}

/// Returns the sources for all subdomains of these hosts, by https.
fn below(hosts: &[String]) -> String {
    let named = hosts.iter().filter(|host| plain(host));
    named.map(|host| format!(" https://*.{host}")).collect()
}

/// Returns `scheme://host[:port]` of an address.
fn origin(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    (plain(scheme) && plain(host)).then(|| format!("{scheme}://{host}"))
}

fn plain(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
    !text.is_empty() && text.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use service_runtime::config::{Env, Reader};

    use super::*;

    fn config(settings: &[(&str, &str)]) -> Config {
        let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
        let config = Config::read(&mut reader);
        reader.finish().unwrap();
        config
    }

    #[test]
    fn only_names_with_a_hash_are_kept_for_ever() {
        for name in ["index-B3kQx_9a.js", "a.4f3e2d1c.css", "logo-12345678.svg"] {
            assert!(hashed(name), "{name}");
        }
        for name in [
            "index.html",
            "my-component.js",
            "jquery-3.7.1.js",
            "README",
            "a-Component.js",
        ] {
            assert!(!hashed(name), "{name}");
        }
    }

    #[test]
    fn percent_signs_are_read_once() {
        assert_eq!(decoded("a%20b").as_deref(), Some("a b"));
        assert_eq!(decoded("%252e").as_deref(), Some("%2e"));
        for bad in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_page_may_load_from_the_hosts_of_the_configuration_and_be_framed_by_those_named() {
        let config = config(&[
            ("PUBLIC_CDN_URL", "https://cdn.example/assets"),
            ("SOCIAL_FRAME_HOSTS", "frames.example"),
            ("IDP_HOST", "idp.example"),
        ]);
        let policy = policy(&config).to_str().unwrap().to_owned();
        for part in [
            "img-src 'self' data: blob: https://cdn.example",
            "frame-ancestors 'self' https://*.frames.example",
            "https://*.idp.example",
            "object-src 'none'",
        ] {
            assert!(policy.contains(part), "{part}: {policy}");
        }
        assert_eq!(origin("https://a.example; script-src *"), None);
    }

    #[test]
    fn nothing_of_the_frontend_hides_behind_a_route() {
        for route in crate::http::router::routes(true) {
            let first = route.path.split('/').nth(1).unwrap_or_default();
            assert!(
                first.is_empty() || RESERVED.contains(&first),
                "{}",
                route.path
            );
        }
    }

    #[test]
    fn a_folder_that_is_named_and_has_no_index_is_a_wrong_setting() {
        let config = config(&[("PUBLIC_DIR", "/nowhere")]);
        let error = Frontend::load(&config).err().unwrap();
        assert_eq!(service_runtime::run::exit_code(&error), 64);
        assert!(error.to_string().contains("PUBLIC_DIR"));
    }
}
