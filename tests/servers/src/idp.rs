//! An identity provider for tests: it signs with its own ES256 key and serves its key set, or does
//! not.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::ecdsa::{Signature, SigningKey, signature::Signer};
use serde_json::{Value, json};

/// No request takes longer than this.
const LIMIT: Duration = Duration::from_secs(10);

/// State in which the provider serves its key set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    /// As it should be.
    Well,
    /// Only to who shows app id and secret.
    WithSecret,
    /// 503.
    Ill,
    /// Bytes that are no key set.
    Rubbish,
    /// Nothing comes.
    Silent,
}

struct State {
    keys: Vec<(String, SigningKey)>,
    serving: Serving,
    asked: usize,
    over: bool,
}

/// A running identity provider. It ends when it is dropped.
pub struct Idp {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Idp {
    /// The app for which its tokens are.
    pub const APP_ID: &'static str = "test-app";
    /// Its secret.
    pub const APP_SECRET: &'static str = "test-app-secret";
    /// The issuer of its tokens.
    pub const ISSUER: &'static str = "https://idp.example";

    /// Starts one with one key.
    ///
    /// # Panics
    /// There is no free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the bound address");
        let state = Arc::new(Mutex::new(State {
            keys: vec![("key-1".to_owned(), fresh_key())],
            serving: Serving::Well,
            asked: 0,
            over: false,
        }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if lock(&shared).over {
                    return;
                }
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    // The client may be gone.
                    let _ = answer(stream, &shared);
                });
            }
        });
        Self { address, state }
    }

    /// Returns the settings of a gateway that uses this provider.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PUBLIC_IDP_APP_ID", Self::APP_ID.to_owned()),
            ("IDP_APP_SECRET", Self::APP_SECRET.to_owned()),
            ("IDP_ISSUER", Self::ISSUER.to_owned()),
            ("IDP_JWKS_URL", format!("http://{}/jwks.json", self.address)),
        ]
    }

    /// Serves its keys in this state from now on.
    pub fn serve(&self, serving: Serving) {
        lock(&self.state).serving = serving;
    }

    /// Returns the number of requests for its key set.
    pub fn asked(&self) -> usize {
        lock(&self.state).asked
    }

    /// Signs with a new key from now on, and forgets the one before.
    pub fn rotate(&self) {
        let mut state = lock(&self.state);
        let name = format!("key-{}-{}", state.asked, state.keys[0].0.len());
        state.keys = vec![(name, fresh_key())];
    }

    /// Returns the claims of a good token for this subject.
    pub fn claims(&self, subject: &str) -> Value {
        let now = now_s();
        json!({
            "sub": subject, "iss": Self::ISSUER, "aud": Self::APP_ID,
            "iat": now, "exp": now + 3600, "sid": format!("login-of-{subject}"),
        })
    }

    /// Returns a good token of this subject.
    pub fn token(&self, subject: &str) -> String {
        self.sign(&self.claims(subject))
    }

    /// Returns a token that says this, signed with its key.
    pub fn sign(&self, claims: &Value) -> String {
        let header = json!({"alg": "ES256", "typ": "JWT", "kid": self.kid()});
        self.sign_as(&header, claims)
    }

    /// Returns the same with any header.
    pub fn sign_as(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let said = format!("{}.{}", part(header), part(claims));
        let signature: Signature = lock(&self.state).keys[0].1.sign(said.as_bytes());
        format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }

    /// Returns the name of its signing key.
    pub fn kid(&self) -> String {
        lock(&self.state).keys[0].0.clone()
    }

    /// Returns its public key in every spelling that somebody may take for a secret.
    pub fn public_keys(&self) -> Vec<Vec<u8>> {
        let state = lock(&self.state);
        let point = state.keys[0].1.verifying_key().to_encoded_point(false);
        let set = key_set(&state).to_string();
        let one = key_set(&state)["keys"][0].to_string();
        vec![
            point.as_bytes().to_vec(),
            set.into_bytes(),
            one.into_bytes(),
        ]
    }
}

impl Drop for Idp {
    fn drop(&mut self) {
        lock(&self.state).over = true;
        // The listener wakes up once more, and ends.
        let _ = TcpStream::connect(self.address);
    }
}

/// Returns seconds since 1970.
pub fn now_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn fresh_key() -> SigningKey {
    loop {
        // Nearly every 32 bytes are a key.
        if let Ok(key) = SigningKey::from_slice(&rand::random::<[u8; 32]>()) {
            return key;
        }
    }
}

fn key_set(state: &State) -> Value {
    let keys = state.keys.iter().map(|(kid, key)| {
        let point = key.verifying_key().to_encoded_point(false);
        let coordinate =
            |bytes: Option<&p256::FieldBytes>| bytes.map(|bytes| URL_SAFE_NO_PAD.encode(bytes));
        json!({
            "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid,
            "x": coordinate(point.x()), "y": coordinate(point.y()),
        })
    });
    json!({ "keys": keys.collect::<Vec<_>>() })
}

fn answer(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(LIMIT))?;
    let mut credentials = String::new();
    let mut lines = BufReader::new(stream.try_clone()?);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("authorization")
        {
            credentials = value.trim().to_owned();
        }
    }
    let (serving, set) = {
        let mut state = lock(state);
        state.asked += 1;
        (state.serving, key_set(&state).to_string())
    };
    let known = {
        use base64::engine::general_purpose::STANDARD;
        let pair = format!("{}:{}", Idp::APP_ID, Idp::APP_SECRET);
        credentials == format!("Basic {}", STANDARD.encode(pair))
    };
    let (status, body) = match serving {
        Serving::Silent => {
            // Until whoever asked gives up.
            let _ = stream.read(&mut [0]);
            return Ok(());
        }
        Serving::Ill => ("503 Service Unavailable", "ill".to_owned()),
        Serving::Rubbish => ("200 OK", "<html>Welcome</html>".to_owned()),
        Serving::WithSecret if !known => ("401 Unauthorized", "who are you?".to_owned()),
        Serving::Well | Serving::WithSecret => ("200 OK", set),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}
