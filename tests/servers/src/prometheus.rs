//! A private Prometheus, which asks some processes every second and plays rules.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::Duration,
};

use crate::folder::Folder;
use crate::process::{Server, dies_with_us, find, wait_until};

const START_LIMIT: Duration = Duration::from_secs(20);
const START_ATTEMPTS: u32 = 5;

/// A running server. It forgets everything at its end.
pub struct Prometheus {
    // Before its folder, so that it ends first.
    _server: Server,
    port: u16,
    _folder: Folder,
}

impl Prometheus {
    /// Starts one that plays the rules of a file. `targets` are the processes that it asks: of each its job and its
    /// host:port.
    ///
    /// # Errors
    /// No binary, or the server did not come up.
    pub fn start(rules: &Path, targets: &[(&str, String)]) -> Result<Self, String> {
        let binary = find("prometheus", "PROMETHEUS", &[])?;
        let folder = Folder::new("prometheus")?;
        let settings = folder.path().join("prometheus.yaml");
        fs::write(&settings, configuration(rules, targets))
            .map_err(|error| format!("cannot write {}: {error}", settings.display()))?;
        let mut why = String::new();
        for _ in 0..START_ATTEMPTS {
            let port = crate::free_port()?;
            match launch(&binary, &folder, &settings, port) {
                Ok(server) => {
                    return Ok(Self {
                        _server: server,
                        port,
                        _folder: folder,
                    });
                }
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    /// Returns host:port of its HTTP interface.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

fn configuration(rules: &Path, targets: &[(&str, String)]) -> String {
    let mut text = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}\n\
         rule_files: ['{}']\n\
         scrape_configs:\n",
        rules.display()
    );
    let mut jobs: Vec<&str> = targets.iter().map(|(job, _)| *job).collect();
    jobs.dedup();
    for job in jobs {
        let of = targets.iter().filter(|(of, _)| *of == job);
        let of: Vec<String> = of.map(|(_, address)| format!("'{address}'")).collect();
        text += &format!(
            "  - job_name: {job}\n    static_configs: [{{targets: [{}]}}]\n",
            of.join(", ")
        );
    }
    text
}

fn launch(binary: &Path, folder: &Folder, settings: &Path, port: u16) -> Result<Server, String> {
    let mut command = dies_with_us(&[], binary);
    let of = |option: &str, value: &str| format!("--{option}={value}");
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    command.args([
        of("config.file", &settings.display().to_string()),
        of("storage.tsdb.path", &data.display().to_string()),
        of("web.listen-address", &format!("127.0.0.1:{port}")),
        of("log.level", "warn"),
        of("enable-feature", "exemplar-storage"),
    ]);
    let mut server = Server::start("prometheus", command, &log)?;
    let mut ended = false;
    let up = wait_until(START_LIMIT, || {
        ended = server.ended();
        ended || is_ready(port)
    });
    if up && !ended {
        return Ok(server);
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    Err(format!("prometheus did not come up on port {port}: {said}"))
}

fn is_ready(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
    let mut answer = [0; 12];
    stream.write_all(b"GET /-/ready HTTP/1.0\r\n\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && answer.ends_with(b" 200")
}
