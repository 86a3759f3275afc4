//! A client that writes its own bytes, so that it can break every rule.

use std::{net::SocketAddr, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// Longest time that a test waits for anything.
const TIMEOUT: Duration = Duration::from_secs(40);

pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    pub(crate) welcome: Value,
    pub(crate) character_id: String,
    /// The last one that resumes the session.
    pub(crate) token: String,
    /// The last `seq`.
    pub(crate) seq: u64,
    asked: u64,
    /// Chat that it has read.
    chats: Vec<String>,
}

/// A frame that came: its opcode and payload.
pub(crate) type Came = (u8, Vec<u8>);

/// Returns the whole answer to a request, as text.
pub(crate) async fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    // A reset behind the answer is as good as an end.
    let _ = timeout(TIMEOUT, read).await.expect("no end of the answer");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Returns the head of an upgrade.
pub(crate) fn upgrade(headers: &str) -> String {
    format!(
        "GET /ws HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    )
}

impl Client {
    /// Connects; `headers` end with a line break each.
    pub(crate) async fn connect(address: SocketAddr, headers: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = upgrade(headers);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut client = Self {
            stream,
            buffer: Vec::new(),
            welcome: Value::Null,
            character_id: String::new(),
            token: String::new(),
            seq: 0,
            asked: 0,
            chats: Vec::new(),
        };
        let head = client.head().await;
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        client
    }

    async fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.buffer.windows(4).position(|w| w == b"\r\n\r\n") {
                let rest = self.buffer.split_off(end + 4);
                let head = std::mem::replace(&mut self.buffer, rest);
                return String::from_utf8(head).unwrap();
            }
            assert!(self.more().await, "no head");
        }
    }

    /// Reads some bytes; false at the end.
    async fn more(&mut self) -> bool {
        let read = timeout(TIMEOUT, self.stream.read_buf(&mut self.buffer)).await;
        matches!(read.expect("nothing came"), Ok(1..))
    }

    pub(crate) async fn send_frame(&mut self, fin: bool, opcode: u8, payload: &[u8]) {
        let bytes = frame(fin, opcode, true, payload);
        self.send_bytes(&bytes).await;
    }

    /// Sends the bytes. The other side may have closed already: its answer shows that.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.send_frame(true, TEXT, text.as_bytes()).await;
    }

    /// Sends a request; gives its id.
    pub(crate) async fn request(&mut self, event: &str, data: Value) -> u64 {
        self.asked += 1;
        let message = json!({"event": event, "id": self.asked, "data": data});
        self.send_text(&message.to_string()).await;
        self.asked
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, event: &str, data: Value) -> Value {
        let id = self.request(event, data).await;
        self.until(|message| message["re"] == id).await
    }

    /// Returns the next frame; `None` at the end of the connection.
    pub(crate) async fn frame(&mut self) -> Option<Came> {
        loop {
            if let Some(came) = take_frame(&mut self.buffer) {
                return Some(came);
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// Returns the next message of any kind.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            match self.frame().await.expect("the connection ended") {
                (TEXT, payload) => {
                    let message: Value = serde_json::from_slice(&payload).unwrap();
                    let seq = message["seq"].as_u64().unwrap();
                    if message["event"] != "session:resumed" {
                        assert_eq!(seq, self.seq + 1, "a gap in seq at {message}");
                    }
                    self.seq = seq;
                    if message["event"] == "chat:message" {
                        let text = message["data"]["message"].as_str().unwrap();
                        self.chats.push(text.to_owned());
                    }
                    if let Some(token) = message["data"]["resumeToken"].as_str() {
                        self.token = token.to_owned();
                    }
                    return message;
                }
                (PING, payload) => self.send_frame(true, PONG, &payload).await,
                (opcode, payload) => panic!("opcode {opcode}: {}", lossy(&payload)),
            }
        }
    }

    /// Reads on until a message is as it should be.
    pub(crate) async fn until(&mut self, right: impl Fn(&Value) -> bool) -> Value {
        let mut seen = Vec::new();
        let found = async {
            loop {
                let message = self.message().await;
                if right(&message) {
                    return message;
                }
                seen.push(message["event"].to_string());
            }
        };
        match timeout(TIMEOUT, found).await {
            Ok(message) => message,
            Err(_) => panic!("it never came; only {seen:?}"),
        }
    }

    /// Returns whether this has been said in what it has read so far.
    pub(crate) fn has_heard(&self, text: &str) -> bool {
        self.chats.iter().any(|said| said == text)
    }

    pub(crate) async fn event(&mut self, event: &str) -> Value {
        self.until(|message| message["event"] == event).await
    }

    /// Reads on until the connection is closed: with what code and reason. 0: without a word.
    pub(crate) async fn closed(&mut self) -> (u16, String) {
        loop {
            match self.frame().await {
                Some((CLOSE, payload)) => {
                    let code = u16::from_be_bytes([payload[0], payload[1]]);
                    return (code, lossy(&payload[2..]));
                }
                Some(_) => {}
                None => return (0, String::new()),
            }
        }
    }

    /// Logs in with a new account.
    pub(crate) async fn log_in(&mut self) {
        let welcome = self.ask("authenticate", json!({})).await;
        assert_eq!(welcome["event"], "session:welcome", "{welcome}");
        self.welcome = welcome["data"].clone();
    }

    /// Enters the world with a new character.
    pub(crate) async fn enter(&mut self, name: &str) {
        let made = self.ask("character:create", json!({"name": name})).await;
        let id = made["data"]["character"]["id"]
            .as_str()
            .expect("not made")
            .to_owned();
        self.enter_as(&id).await;
    }

    /// Enters the world with a character. Returns the answer.
    pub(crate) async fn enter_as(&mut self, id: &str) -> Value {
        let entered = self.ask("world:enter", json!({"characterId": id})).await;
        assert_eq!(entered["event"], "world:entered", "{entered}");
        self.character_id = id.to_owned();
        self.event("player:sync").await;
        entered
    }

    /// Loses the connection without a word.
    pub(crate) fn lose(self) -> Lost {
        Lost {
            token: self.token,
            seq: self.seq,
            asked: self.asked,
            welcome: self.welcome,
            character_id: self.character_id,
        }
    }

    /// Ends the connection by a reset, as a client does that is killed or an attacker.
    pub(crate) fn reset(self) -> Lost {
        self.stream.set_zero_linger().unwrap();
        self.lose()
    }

    /// Says goodbye for good; waits for the answer.
    pub(crate) async fn goodbye(mut self) {
        let normal = 1000_u16.to_be_bytes();
        self.send_frame(true, CLOSE, &normal).await;
        assert_eq!(self.closed().await.0, 1000);
    }

    /// Checks that the connection is still there and heard: a ping gets its answer.
    pub(crate) async fn alive(&mut self) {
        let pong = self.ask("ping", json!({"t": 7})).await;
        assert_eq!(pong["data"]["t"], 7.0);
    }
}

/// Knowledge that a client keeps of a connection that it lost.
pub(crate) struct Lost {
    pub(crate) token: String,
    pub(crate) seq: u64,
    asked: u64,
    welcome: Value,
    pub(crate) character_id: String,
}

impl Lost {
    /// Asks to go on behind `last_seq`; gives the client and the answer.
    pub(crate) async fn resume(&self, address: SocketAddr, last_seq: u64) -> (Client, Value) {
        let mut client = Client::connect(address, "").await;
        client.event("session:hello").await;
        client.asked = self.asked;
        client.welcome.clone_from(&self.welcome);
        client.character_id.clone_from(&self.character_id);
        let data = json!({"resumeToken": self.token, "lastSeq": last_seq});
        let id = client.request("session:resume", data).await;
        let answer = client.message().await;
        assert_eq!(answer["re"], id, "{answer}");
        (client, answer)
    }
}

/// Returns a frame's bytes.
pub(crate) fn frame(fin: bool, opcode: u8, masked: bool, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![u8::from(fin) << 7 | opcode];
    let mask = if masked { 0x80 } else { 0 };
    match payload.len() {
        length @ 0..=125 => bytes.push(mask | u8::try_from(length).unwrap()),
        length @ 126..=0xffff => {
            bytes.push(mask | 126);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            bytes.push(mask | 127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    if masked {
        bytes.extend([1, 2, 3, 4]);
        bytes.extend(
            payload
                .iter()
                .zip([1, 2, 3, 4].iter().cycle())
                .map(|(b, m)| b ^ m),
        );
    } else {
        bytes.extend(payload);
    }
    bytes
}

fn take_frame(buffer: &mut Vec<u8>) -> Option<Came> {
    let (start, length) = match *buffer.get(1)? {
        126 => (
            4,
            usize::from(u16::from_be_bytes(buffer.get(2..4)?.try_into().ok()?)),
        ),
        127 => {
            let length = u64::from_be_bytes(buffer.get(2..10)?.try_into().ok()?);
            (10, usize::try_from(length).ok()?)
        }
        length => (2, usize::from(length)),
    };
    if buffer.len() < start + length {
        return None;
    }
    let rest = buffer.split_off(start + length);
    let whole = std::mem::replace(buffer, rest);
    Some((whole[0] & 0x0f, whole[start..].to_vec()))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
