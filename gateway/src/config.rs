//! The gateway's configuration: read once from the environment, and checked before the gateway
//! binds a port.

use std::{net::IpAddr, path::PathBuf, time::Duration};

use proto::client::limits;
use service_runtime::{
    config::{Reader, Secret, Setting},
    rpc::{Names, Role, Trust},
    telemetry,
};

use crate::{
    auth::{admin_code::AdminCode, provider::ProviderConfig, signing_keys::SigningKeys},
    chaos,
    http::{cors::Allowlist, proxies::TrustedProxies},
    limits::{unauthenticated::Most, window::AGENTS},
    social::{global::GlobalChat, redis_server::RedisPlace},
    zone_link::TASKS_MAX,
};

/// Upper bound for settings of connections; no machine holds more sockets.
const CONNECTIONS_LIMIT: usize = 10_000_000;
/// Upper bound for settings of times.
const TIME_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// [`TIME_MAX`] in milliseconds.
const TIME_MAX_MS: u64 = TIME_MAX.as_secs() * 1000;

/// All settings of a gateway.
#[derive(Debug, Clone)]
pub struct Config {
    pub(crate) host: IpAddr,
    pub(crate) port: u16,
    /// 0: no port of its own; then `/metrics` is on the main one, or in production nowhere.
    pub(crate) metrics_port: u16,
    pub(crate) production: bool,
    pub(crate) gateway_id: String,
    /// Address at which clients reach this gateway and no other.
    pub(crate) address: Option<String>,
    /// Trust between this gateway and the other processes.
    pub(crate) trust: Trust,
    pub(crate) persistence: Names,
    /// The bus between gateways; `None`: the in-process bus.
    pub(crate) redis: Option<RedisPlace>,
    /// Longest time between two looks at whether a friend is played.
    pub(crate) presence_poll: Duration,
    pub(crate) global_chat: GlobalChat,
    /// Number of tasks that show the world.
    pub(crate) fan_out_tasks: usize,
    /// Name of the in-process bus; gateways of one process with the same name hear each other.
    pub(crate) local_bus: String,
    /// The keys that sign tokens.
    pub(crate) signing_keys: SigningKeys,
    pub(crate) world: PathBuf,
    /// Source of the content.
    pub(crate) content: content_loader::Config,
    pub(crate) anonymous: bool,
    /// The identity provider, where there is one; then nobody is anonymous.
    pub(crate) provider: Option<ProviderConfig>,
    pub(crate) admin_code: AdminCode,
    pub(crate) public: Public,
    pub(crate) origins: Allowlist,
    /// Address of the agents' runtime.
    pub(crate) agent_api_url: String,
    pub(crate) proxies: TrustedProxies,
    /// Whether every connection to the main port begins with a header of the PROXY protocol.
    pub(crate) proxy_protocol: bool,
    pub(crate) rate_limits: bool,
    /// New agents in an hour from one address, at most.
    pub(crate) agents_per_address: usize,
    /// Folder of the frontend's build; none: `public` in the world's folder, if that has one.
    pub(crate) public_dir: Option<PathBuf>,
    /// The voice server; none: no voice chat.
    pub(crate) voice: Option<Voice>,
    pub(crate) connections_max: usize,
    /// Connections of one address, at most.
    pub(crate) connections_per_address_max: usize,
    /// Unauthenticated sockets, at most.
    pub(crate) unauthenticated: Most,
    pub(crate) times: Times,
    pub(crate) commit_hash: Option<String>,
    /// Socket of the supervisor that breaks zone servers for trial.
    pub(crate) chaos_socket: Option<PathBuf>,
    /// All settings as `--print-config` shows them.
    pub(crate) shown: Vec<Setting>,
}

/// The voice server.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    pub(crate) key: String,
    pub(crate) secret: Secret,
    /// Its WebSocket.
    pub(crate) url: String,
}

/// Longest times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    /// Time for which a lost session waits for a resume.
    pub(crate) linger: Duration,
    /// Time at its end in which the gateway sends clients elsewhere.
    pub(crate) drain: Duration,
    /// Time between two pings of a connection.
    pub(crate) heartbeat: Duration,
    /// Time for the head of a request, and time to authenticate.
    pub(crate) handshake: Duration,
    /// Time for the body of a request.
    pub(crate) body: Duration,
    /// Time without reading after which the gateway drops a client.
    pub(crate) write: Duration,
}

/// Settings that every client may know.
#[derive(Debug, Clone)]
pub(crate) struct Public {
    pub(crate) idp_app_id: Option<String>,
    pub(crate) cdn_url: Option<String>,
    pub(crate) api_url: Option<String>,
    pub(crate) ws_url: Option<String>,
    pub(crate) app_url: Option<String>,
}

impl Config {
    /// Reads all settings; problems gather in the reader.
    #[allow(clippy::too_many_lines, reason = "one line a setting")]
    pub fn read(reader: &mut Reader) -> Self {
        let production = reader.production();
        let trust = Trust::read(reader, Role::Gateway);
        let content = content_loader::Config::read(reader);
        let (host, port, metrics_port) = read_ports(reader, production);
        let mut public = Public::read(reader, production, port);
        public.cdn_url = content.cdn().map(str::to_owned);
        let anonymous = public.idp_app_id.is_none();
        let provider = match public.idp_app_id.as_deref() {
            Some(app_id) => ProviderConfig::read(reader, app_id, production),
            None => no_provider(reader),
        };
        let rate_limits = !reader.flag(
            "DISABLE_RATE_LIMIT",
            false,
            "no limits of requests, messages, logins and addresses; not in production",
        );
        let agent_api_url: String = reader.value(
            "AGENT_API_URL",
            "http://localhost:4001".to_owned(),
            "where the agents' runtime is told of goals and messages; a further origin",
        );
        let proxies = TrustedProxies::read(reader);
        let agent_api_url = agent_api_url.trim_end_matches('/').to_owned();
        if production && !rate_limits {
            reader.problem("DISABLE_RATE_LIMIT is not allowed in production".to_owned());
        }
        Self {
            host,
            port,
            metrics_port,
            production,
            gateway_id: read_gateway_id(reader, &trust),
            address: read_address(reader),
            trust,
            persistence: Names::read(reader),
            redis: RedisPlace::read(reader),
            presence_poll: Duration::from_secs(reader.within(
                "PRESENCE_POLL_SECONDS",
                60,
                1..=3600,
                "longest time between two looks at whether a friend plays; events tell it at once",
            )),
            global_chat: GlobalChat::read(reader),
            fan_out_tasks: read_fan_out_tasks(reader),
            local_bus: reader.value(
                "LOCAL_BUS",
                "world".to_owned(),
                "name of the in-process bus; gateways of one process share it by name",
            ),
            signing_keys: SigningKeys::read(reader, production),
            world: content.world.clone(),
            content,
            anonymous,
            provider,
            admin_code: AdminCode::read(reader, production),
            origins: Allowlist::read(reader, &public.origins(&agent_api_url), production),
            agent_api_url,
            public,
            proxy_protocol: read_proxy_protocol(reader, &proxies),
            proxies,
            rate_limits,
            agents_per_address: reader.within(
                "AGENTS_PER_ADDRESS_MAX",
                AGENTS.most,
                0..=100_000,
                "agents made in an hour from one address",
            ),
            public_dir: reader
                .optional::<String>(
                    "PUBLIC_DIR",
                    "the frontend's build, served instead of the page that ships; \
                     else WORLD/public, if it has an index.html",
                )
                .map(PathBuf::from),
            voice: Voice::read(reader),
            connections_max: read_connections_max(reader),
            connections_per_address_max: per_address(
                reader,
                rate_limits,
                "CONNECTIONS_PER_ADDRESS_MAX",
                1024,
                "sockets of one address, or IPv6 /64, at the same time; those of TRUSTED_PROXIES \
                 have no bound, and a WebSocket through one counts for its client",
            ),
            unauthenticated: read_unauthenticated(reader, rate_limits),
            times: Times::read(reader, production),
            commit_hash: telemetry::revision(reader),
            chaos_socket: chaos::read(reader, production),
            // The last line, so that all settings are there.
            shown: reader.settings(),
        }
    }
}

impl Config {
    /// Returns the gateway's name on the bus and to zones.
    pub fn gateway_id(&self) -> &str {
        &self.gateway_id
    }

    /// Sets the trust between this gateway and the other processes.
    #[must_use]
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }
}

impl Times {
    fn read(reader: &mut Reader, production: bool) -> Self {
        Self {
            linger: read_seconds(
                reader,
                "LINGER_SECONDS",
                60,
                "how long a lost session waits",
            ),
            drain: read_seconds(
                reader,
                "DRAIN_SECONDS",
                if production { 5 } else { 1 },
                "time in which clients are sent elsewhere, in waves, at the end",
            ),
            heartbeat: read_ms(
                reader,
                "HEARTBEAT_MS",
                limits::HEARTBEAT_MS,
                "between two pings of a connection",
            ),
            handshake: read_ms(
                reader,
                "HANDSHAKE_TIMEOUT_MS",
                limits::AUTH_TIMEOUT_MS,
                "for the head of a request, and to authenticate",
            ),
            body: read_ms(
                reader,
                "BODY_TIMEOUT_MS",
                10_000,
                "for the body of a request",
            ),
            write: read_ms(
                reader,
                "WRITE_TIMEOUT_MS",
                10_000,
                "the gateway closes a client that reads nothing for so long",
            ),
        }
    }
}

impl Voice {
    /// Reads the settings of the voice server; `None` without any. Some without the others are a
    /// problem for the reader.
    fn read(reader: &mut Reader) -> Option<Self> {
        let key = reader.secret("VOICE_API_KEY", "the voice server's API key");
        let secret = reader.secret("VOICE_API_SECRET", "the voice server's API secret");
        let url: Option<String> = reader.optional("VOICE_URL", "the voice server's WebSocket");
        let known = url
            .as_ref()
            .is_none_or(|url| url.starts_with("wss://") || url.starts_with("ws://"));
        if !known {
            reader.problem("VOICE_URL must begin with wss:// or ws://".to_owned());
        }
        match (key, secret, url) {
            (Some(key), Some(secret), Some(url)) => Some(Self {
                key: key.expose().to_owned(),
                secret,
                url,
            }),
            (None, None, None) => None,
            _ => {
                let all = "VOICE_API_KEY, VOICE_API_SECRET and VOICE_URL go together: \
                           set all of them or none";
                reader.problem(all.to_owned());
                None
            }
        }
    }
}

impl Public {
    /// Returns the origins that these settings and the agents' runtime name, each with its setting.
    fn origins<'a>(&'a self, agent_api_url: &'a str) -> Vec<(&'static str, &'a str)> {
        let urls = [
            ("PUBLIC_APP_URL", &self.app_url),
            ("PUBLIC_API_URL", &self.api_url),
        ];
        let urls = urls.into_iter();
        let named = urls.filter_map(|(name, url)| Some((name, url.as_deref()?)));
        let agents = [("AGENT_API_URL", agent_api_url)];
        agents.into_iter().chain(named).collect()
    }

    fn read(reader: &mut Reader, production: bool, port: u16) -> Self {
        let mut local = |name, help, scheme: &str, path: &str| {
            // With port 0, the number is known only after the bind; see `complete`.
            if production || port == 0 {
                return reader.optional(name, help);
            }
            let here = format!("{scheme}://localhost:{port}{path}");
            Some(reader.value(name, here, help))
        };
        let help = "this server as clients see it";
        let api_url = local("PUBLIC_API_URL", help, "http", "");
        let help = "the WebSocket as clients see it";
        let ws_url = local("PUBLIC_WS_URL", help, "ws", "/ws");
        Self {
            idp_app_id: reader.optional("PUBLIC_IDP_APP_ID", "identity provider's app id"),
            // The content's settings fill it in: clients load their assets from the same source.
            cdn_url: None,
            api_url,
            ws_url,
            app_url: reader.optional("PUBLIC_APP_URL", "the frontend's origin"),
        }
    }
}

impl Public {
    /// Fills in missing addresses, outside production, with those for a browser on this machine.
    pub(crate) fn complete(&mut self, production: bool, port: u16) {
        if production {
            return;
        }
        self.api_url
            .get_or_insert_with(|| format!("http://localhost:{port}"));
        self.ws_url
            .get_or_insert_with(|| format!("ws://localhost:{port}/ws"));
    }
}

/// Reads the number of tasks that show the world; 0 stands for one for each core.
fn read_fan_out_tasks(reader: &mut Reader) -> usize {
    let tasks = reader.within(
        "FAN_OUT_TASKS",
        0,
        0..=TASKS_MAX,
        "tasks that show players the world, each for some areas of it; 0: one for each core",
    );
    if tasks > 0 {
        return tasks;
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(TASKS_MAX)
}

/// Reads the gateway's name. Zones accept no other one than that of its certificate.
fn read_gateway_id(reader: &mut Reader, trust: &Trust) -> String {
    let help = "this gateway's name on the bus; else that of its certificate, or random";
    let given: Option<String> = reader.optional("GATEWAY_ID", help);
    let certified = trust.identity().and_then(|identity| identity.exact_name());
    if let (Some(given), Some(certified)) = (&given, certified)
        && given != certified
    {
        reader.problem(format!(
            "GATEWAY_ID must be the name in the certificate, {certified}"
        ));
    }
    let name = given.or_else(|| certified.map(str::to_owned));
    name.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string())
}

/// Reads the gateway's own address.
fn read_address(reader: &mut Reader) -> Option<String> {
    let help = "ws:// or wss:// address of this gateway alone, past load balancers, to which others \
                send players of its areas; none: they do not";
    let address: Option<String> = reader.optional("GATEWAY_ADDRESS", help);
    let address = address.filter(|address| !address.is_empty());
    if let Some(given) = &address
        && !(given.starts_with("ws://") || given.starts_with("wss://"))
    {
        reader.problem("GATEWAY_ADDRESS must begin with ws:// or wss://".to_owned());
    }
    address
}

fn read_ports(reader: &mut Reader, production: bool) -> (IpAddr, u16, u16) {
    let host = if production {
        [0, 0, 0, 0]
    } else {
        [127, 0, 0, 1]
    };
    (
        reader.value("HOST", IpAddr::from(host), "address to listen on"),
        reader.value("PORT", 5555, "HTTP and WebSocket port; 0 takes a free one"),
        reader.value(
            "METRICS_PORT",
            if production { 9464 } else { 0 },
            "port of /livez, /readyz and /metrics; 0: /metrics on the main port, not in production",
        ),
    )
}

/// Reports settings of an identity provider that lack its app id. An operator who sets one wants
/// a provider, and must not get a world in which everybody is anonymous.
fn no_provider(reader: &mut Reader) -> Option<ProviderConfig> {
    let secret = reader.secret("IDP_APP_SECRET", "the app secret, with PUBLIC_IDP_APP_ID");
    let issuer: Option<String> =
        reader.optional("IDP_ISSUER", "the issuer, with PUBLIC_IDP_APP_ID");
    let keys: Option<String> =
        reader.optional("IDP_JWKS_URL", "the key set, with PUBLIC_IDP_APP_ID");
    let set = [
        ("IDP_APP_SECRET", secret.is_some()),
        ("IDP_ISSUER", issuer.is_some()),
        ("IDP_JWKS_URL", keys.is_some()),
    ];
    for (name, _) in set.into_iter().filter(|(_, set)| *set) {
        reader.problem(format!(
            "{name} is set without PUBLIC_IDP_APP_ID: set that as well, or neither"
        ));
    }
    None
}

fn read_connections_max(reader: &mut Reader) -> usize {
    const NAME: &str = "CONNECTIONS_MAX";
    let most = reader.value(NAME, 20_000, "sockets at the same time");
    if !(1..=CONNECTIONS_LIMIT).contains(&most) {
        reader.problem(format!("{NAME} must be 1 to {CONNECTIONS_LIMIT}"));
    }
    most
}

fn read_unauthenticated(reader: &mut Reader, rate_limits: bool) -> Most {
    Most {
        per_address: per_address(
            reader,
            rate_limits,
            "UNAUTHENTICATED_PER_ADDRESS_MAX",
            64,
            "sockets of one address, or IPv6 /64, that are not authenticated, at the same time",
        ),
        total: reader.within(
            "UNAUTHENTICATED_MAX",
            4096,
            1..=CONNECTIONS_LIMIT,
            "sockets that are not authenticated, at the same time; the oldest silent one makes \
             room for a newcomer",
        ),
    }
}

/// Reads a bound for one address. Without rate limits, as for a load test, there is none.
fn per_address(
    reader: &mut Reader,
    rate_limits: bool,
    name: &'static str,
    default: usize,
    help: &'static str,
) -> usize {
    let most = reader.within(name, default, 1..=CONNECTIONS_LIMIT, help);
    if rate_limits { most } else { CONNECTIONS_LIMIT }
}

fn read_proxy_protocol(reader: &mut Reader, proxies: &TrustedProxies) -> bool {
    let on = reader.flag(
        "PROXY_PROTOCOL",
        false,
        "every connection to PORT begins with a header of the PROXY protocol, version 2, of one \
         of TRUSTED_PROXIES, which names its client",
    );
    if on && proxies.is_empty() {
        reader.problem(
            "PROXY_PROTOCOL needs TRUSTED_PROXIES: the proxies whose headers count".to_owned(),
        );
    }
    on
}

fn read_seconds(
    reader: &mut Reader,
    name: &'static str,
    default: u64,
    help: &'static str,
) -> Duration {
    Duration::from_secs(reader.within(name, default, 0..=TIME_MAX.as_secs(), help))
}

fn read_ms(reader: &mut Reader, name: &'static str, default: u64, help: &'static str) -> Duration {
    Duration::from_millis(reader.within(name, default, 1..=TIME_MAX_MS, help))
}

#[cfg(test)]
mod tests {
    use service_runtime::config::Env;

    use super::*;

    /// Returns the problems with these settings; empty: none.
    fn problems(settings: &[(&str, &str)]) -> String {
        let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
        Config::read(&mut reader);
        reader
            .finish()
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn development_needs_no_setting_and_production_a_secret() {
        assert_eq!(problems(&[]), "");
        let production = ("NODE_ENV", "production");
        assert!(problems(&[production]).contains("JWT_SECRET is required"));
        let short = problems(&[production, ("JWT_SECRET", "short")]);
        assert!(
            short.contains("32 bytes") && !short.contains("short"),
            "{short}"
        );
        let secret = ("JWT_SECRET", "0123456789abcdef0123456789abcdef");
        assert!(problems(&[production, secret]).contains("ADMIN_CODE is required"));
        let code = ("ADMIN_CODE", "a-code-of-production");
        assert!(problems(&[production, secret, code]).contains("INTERNAL_TLS_CA"));
        let mesh = ("INTERNAL_TLS", "off");
        assert_eq!(problems(&[production, secret, code, mesh]), "");
        let open = problems(&[
            production,
            secret,
            code,
            mesh,
            ("DISABLE_RATE_LIMIT", "true"),
        ]);
        assert!(open.contains("DISABLE_RATE_LIMIT"));
    }

    #[test]
    fn a_voice_server_is_set_whole_or_not_at_all() {
        let all = [
            ("VOICE_API_KEY", "key"),
            ("VOICE_API_SECRET", "secret"),
            ("VOICE_URL", "wss://voice.example"),
        ];
        assert_eq!(problems(&all), "");
        for n in 0..3 {
            let mut half = all.to_vec();
            half.remove(n);
            assert!(
                problems(&half).contains("go together"),
                "without {:?}",
                all[n]
            );
        }
        let http = [all[0], all[1], ("VOICE_URL", "https://voice.example")];
        assert!(problems(&http).contains("wss://"));
    }

    #[test]
    fn in_development_clients_are_told_where_this_server_is() {
        let read = |settings: &[(&str, &str)]| {
            let mut reader = Reader::new(Env::from_pairs(settings.iter().copied()));
            let public = Config::read(&mut reader).public;
            (public.api_url, public.ws_url)
        };
        let some = |api: &str, ws: &str| (Some(api.to_owned()), Some(ws.to_owned()));
        let local = some("http://localhost:5555", "ws://localhost:5555/ws");
        assert_eq!(read(&[]), local);
        assert_eq!(read(&[("NODE_ENV", "production")]), (None, None));
        assert_eq!(read(&[("PORT", "0")]), (None, None), "known later");
    }

    #[test]
    fn wrong_addresses_and_half_an_identity_provider_are_named() {
        for (name, value) in [
            ("PERSISTENCE_ADDRESSES", "store"),
            ("PERSISTENCE_ADDRESSES", "store:0"),
            ("REDIS_URL", "http://redis"),
            ("REDIS_CLUSTER", "on"),
            ("CORS_ORIGINS", "play.example"),
            ("TRUSTED_PROXIES", "proxy"),
            ("TRUSTED_PROXIES", "0.0.0.0/0"),
            ("PROXY_PROTOCOL", "v1"),
            ("PROXY_PROTOCOL", "on"),
            ("REDIS_URL", "redis://redis/?protocol=resp2"),
            ("HEARTBEAT_MS", "0"),
            ("HEARTBEAT_MS", "18446744073709551615"),
            ("LINGER_SECONDS", "18446744073709551615"),
            ("CONNECTIONS_MAX", "0"),
            ("CONNECTIONS_MAX", "9999999999999999999"),
            ("CONNECTIONS_PER_ADDRESS_MAX", "0"),
            ("UNAUTHENTICATED_PER_ADDRESS_MAX", "0"),
            ("UNAUTHENTICATED_MAX", "0"),
            ("PORT", "99999"),
        ] {
            assert!(problems(&[(name, value)]).contains(name), "{name}={value}");
        }
        let half = problems(&[("PUBLIC_IDP_APP_ID", "app")]);
        for missing in ["IDP_APP_SECRET", "IDP_ISSUER", "IDP_JWKS_URL"] {
            assert!(half.contains(missing), "{half}");
            let alone = problems(&[(missing, "https://idp.example")]);
            assert!(
                alone.contains(missing) && alone.contains("PUBLIC_IDP_APP_ID"),
                "{alone}"
            );
        }
    }
}
