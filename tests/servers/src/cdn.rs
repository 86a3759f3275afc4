//! A content server for tests: manifests with tags, and every trouble that one can have.
//!
//! Plain threads and one request a connection, so that it can lie, stop midway and hang as no
//! real server would.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// No request takes longer than this, so that no thread outlives a test run for ever.
const LIMIT: Duration = Duration::from_secs(60);

/// Fault of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The connection is closed without an answer.
    Gone,
    /// This status, and nothing else.
    Status(u16),
    /// Half of the body, then the connection is closed.
    Half,
    /// Half of the body in an answer that does not say how long it is.
    HalfUnsaid,
    /// The answer begins, and never goes on.
    Hangs,
    /// The answer says that it is this long.
    Claims(u64),
    /// The copy is right, whatever it is, even if the request names none.
    Unchanged,
    /// It is elsewhere.
    Redirect(String),
    /// These bytes instead of the text.
    Bytes(Vec<u8>),
}

/// One request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The path below `/manifests/`, or the whole path.
    pub path: String,
    /// The tag of the copy.
    pub tag: Option<String>,
    /// The status of the answer; 0 when it had none.
    pub status: u16,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, String>,
    /// By path; with the number of requests that still meet it.
    troubles: BTreeMap<String, (Trouble, usize)>,
    /// After so many requests all connections are closed at once.
    requests_left: Option<usize>,
    asked: Vec<Asked>,
    over: bool,
}

/// A running content server. It ends when it is dropped.
#[derive(Debug)]
pub struct Cdn {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cdn {
    /// Starts one with these manifests: text by path.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start<P: Into<String>, T: Into<String>>(
        files: impl IntoIterator<Item = (P, T)>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the bound address");
        let files = files.into_iter().map(|(p, t)| (p.into(), t.into()));
        let state = State {
            files: files.collect(),
            ..State::default()
        };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if lock(&shared).over {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    // The client may be gone.
                    let _ = answer(&stream, &shared);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, state }
    }

    /// Returns the address of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Puts a manifest there, or another text in its place.
    pub fn put(&self, path: &str, text: &str) {
        lock(&self.state)
            .files
            .insert(path.to_owned(), text.to_owned());
    }

    /// Takes a manifest away.
    pub fn remove(&self, path: &str) {
        lock(&self.state).files.remove(path);
    }

    /// Gives the next `times` requests for `path` this trouble.
    pub fn trouble(&self, path: &str, trouble: Trouble, times: usize) {
        let troubles = &mut lock(&self.state).troubles;
        troubles.insert(path.to_owned(), (trouble, times));
    }

    /// Closes every connection at once after `requests` more requests; none: it is well again.
    pub fn breaks_after(&self, requests: Option<usize>) {
        lock(&self.state).requests_left = requests;
    }

    /// Returns the requests since the last call.
    pub fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut lock(&self.state).asked)
    }
}

impl Drop for Cdn {
    fn drop(&mut self) {
        lock(&self.state).over = true;
        // Wakes the listener, so that it sees that.
        let _ = TcpStream::connect(self.address);
    }
}

/// Returns the tag of a text.
fn tag(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Reads one request and answers it.
fn answer(stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LIMIT))?;
    let mut lines = BufReader::new(stream).lines();
    let head = lines.next().transpose()?.unwrap_or_default();
    let path = head.split_whitespace().nth(1).unwrap_or_default();
    let path = path.strip_prefix("/manifests/").unwrap_or(path).to_owned();
    let mut named = None;
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("if-none-match")
        {
            named = Some(value.trim().to_owned());
        }
    }
    let (trouble, text) = decide(state, &path);
    let unchanged = text.as_ref().is_some_and(|text| named == Some(tag(text)));
    let status = match (&trouble, &text) {
        (Some(Trouble::Gone), _) => 0,
        (Some(Trouble::Status(status)), _) => *status,
        (Some(Trouble::Unchanged), _) => 304,
        (Some(Trouble::Redirect(_)), _) => 302,
        (None, Some(_)) if unchanged => 304,
        (_, Some(_)) => 200,
        (_, None) => 404,
    };
    lock(state).asked.push(Asked {
        path,
        tag: named,
        status,
    });
    write(stream, status, trouble.as_ref(), text.as_deref())
}

/// Returns the fault of this answer, and the text of the file.
fn decide(state: &Mutex<State>, path: &str) -> (Option<Trouble>, Option<String>) {
    let mut state = lock(state);
    let text = state.files.get(path).cloned();
    match state.requests_left {
        Some(0) => return (Some(Trouble::Gone), text),
        Some(left) => state.requests_left = Some(left - 1),
        None => {}
    }
    let Some((trouble, times)) = state.troubles.get_mut(path) else {
        return (None, text);
    };
    let trouble = trouble.clone();
    *times -= 1;
    if *times == 0 {
        state.troubles.remove(path);
    }
    (Some(trouble), text)
}

fn write(
    mut stream: &TcpStream,
    status: u16,
    trouble: Option<&Trouble>,
    text: Option<&str>,
) -> std::io::Result<()> {
    if status == 0 {
        return Ok(());
    }
    let mut head = format!("HTTP/1.1 {status} it\r\nconnection: close\r\n");
    if let Some(Trouble::Redirect(to)) = trouble {
        head.push_str(&format!("location: {to}\r\n"));
    }
    if status != 200 {
        let end = if status == 304 {
            "\r\n"
        } else {
            "content-length: 0\r\n\r\n"
        };
        return stream.write_all(format!("{head}{end}").as_bytes());
    }
    let text = text.unwrap_or_default();
    let body = match trouble {
        Some(Trouble::Bytes(bytes)) => bytes.as_slice(),
        _ => text.as_bytes(),
    };
    head.push_str(&format!("etag: {}\r\n", tag(text)));
    let length = match trouble {
        Some(Trouble::Claims(bytes)) => Some(*bytes),
        Some(Trouble::HalfUnsaid) => None,
        _ => Some(body.len() as u64),
    };
    if let Some(length) = length {
        head.push_str(&format!("content-length: {length}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    match trouble {
        Some(Trouble::Half | Trouble::HalfUnsaid) => stream.write_all(&body[..body.len() / 2]),
        Some(Trouble::Hangs) => {
            stream.write_all(&body[..1.min(body.len())])?;
            // Until the one who asked has had enough.
            stream.read(&mut [0]).map(|_| ())
        }
        _ => stream.write_all(body),
    }
}
