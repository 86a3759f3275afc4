//! PostgreSQL in a container of this machine, for development. The service starts it if it does not
//! run.
//!
//! Always: an error names everything that is missing in one sentence (exit code 64); nothing waits
//! without end; the container stays when this process ends, with its data in a volume of its own.

use std::io::{ErrorKind, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

use service_runtime::config::ConfigError;
use service_runtime::pem::ClientTls;
use tokio::time::{Instant, sleep};

use crate::config::PostgresConfig;
use crate::database::Database;

/// Programs to try, in this order, if the settings name none.
const ENGINES: [&str; 2] = ["docker", "podman"];
const IMAGE: &str = "docker.io/library/postgres:17-alpine";
/// The user, its password and the database. Only this machine reaches them.
const NAME: &str = "tilestead";
/// Time that an existing container may take to start.
const START_LIMIT: Duration = Duration::from_secs(30);
/// Time that a new one may take: the engine fetches its image.
const CREATE_LIMIT: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(50);

/// Returns the database in the container; `None` only if its own address is no address.
pub(crate) fn config(port: u16, connections: usize) -> Option<PostgresConfig> {
    let database = Database::parse(&url(port), &ClientTls::default()).ok()?;
    Some(PostgresConfig {
        database,
        pooler: false,
        direct: None,
        connections,
    })
}

fn url(port: u16) -> String {
    format!("postgres://{NAME}:{NAME}@127.0.0.1:{port}/{NAME}")
}

/// Starts the container if it does not run. The database may need a moment more until it answers.
///
/// # Errors
/// A [`ConfigError`] if there is no container engine, or the engine fails.
pub(crate) async fn start(engine: Option<&str>, port: u16) -> Result<(), ConfigError> {
    let engines = engine.map_or_else(|| ENGINES.to_vec(), |engine| vec![engine]);
    let mut why = None;
    for engine in &engines {
        match start_with(engine, port).await {
            Ok(()) => return Ok(()),
            Err(Failed::Missing) => {}
            Err(Failed::Refused(said)) => why = Some(format!("{engine} says: {said}")),
        }
    }
    let names = engines.join(" or ");
    let why = why.unwrap_or_else(|| format!("there is no {names} on this machine"));
    Err(ConfigError::new(format!(
        "USE_LOCAL_POSTGRES needs a container engine that works, and {why}; install or start one, \
         or set DATABASE_URL, or leave both out to use SQLite."
    )))
}

enum Failed {
    /// There is no such program.
    Missing,
    /// The engine failed, for this reason.
    Refused(String),
}

async fn start_with(engine: &str, port: u16) -> Result<(), Failed> {
    let name = format!("tilestead-postgres-{port}");
    match run(engine, &["start", &name], START_LIMIT).await {
        Ok(()) => return Ok(()),
        Err(Failed::Missing) => return Err(Failed::Missing),
        // Either the container does not exist yet, or the engine fails. The attempt to create one
        // shows which.
        Err(Failed::Refused(_)) => {}
    }
    tracing::info!(engine, name, "making a container for PostgreSQL");
    let arguments = arguments(&name, port);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    run(engine, &arguments, CREATE_LIMIT).await
}

/// Returns the engine's arguments that create the container.
fn arguments(name: &str, port: u16) -> Vec<String> {
    let mut arguments = vec!["run".to_owned(), "--detach".to_owned()];
    let mut option = |option: &str, value: String| {
        arguments.extend([option.to_owned(), value]);
    };
    option("--name", name.to_owned());
    option("--publish", format!("127.0.0.1:{port}:5432"));
    option("--volume", format!("{name}:/var/lib/postgresql/data"));
    for variable in ["POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DB"] {
        option("--env", format!("{variable}={NAME}"));
    }
    arguments.push(IMAGE.to_owned());
    arguments
}

/// Runs the engine to its end, at most for `limit`.
async fn run(engine: &str, arguments: &[&str], limit: Duration) -> Result<(), Failed> {
    let refused = |error: std::io::Error| Failed::Refused(error.to_string());
    let mut command = Command::new(engine);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failed::Missing,
        _ => refused(error),
    })?;
    let errors = child.stderr.take();
    let said = std::thread::spawn(move || {
        let mut text = Vec::new();
        // If the message cannot be read, the error goes without it.
        let _ = errors.map(|mut errors| errors.read_to_end(&mut text));
        String::from_utf8_lossy(&text).into_owned()
    });
    let deadline = Instant::now() + limit;
    let ended = loop {
        if let Some(ended) = child.try_wait().map_err(refused)? {
            break ended;
        }
        if Instant::now() >= deadline {
            // The program may end by itself just now.
            let _ = child.kill().and_then(|()| child.wait());
            return Err(Failed::Refused(format!("nothing within {limit:?}")));
        }
        sleep(POLL).await;
    };
    if ended.success() {
        return Ok(());
    }
    let said = said.join().unwrap_or_default();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.unwrap_or("nothing").trim().trim_end_matches('.');
    Err(Failed::Refused(last.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_is_for_this_machine_and_keeps_its_data() {
        let arguments = arguments("tilestead-postgres-5432", 5432).join(" ");
        assert_eq!(
            arguments,
            "run --detach --name tilestead-postgres-5432 --publish 127.0.0.1:5432:5432 \
             --volume tilestead-postgres-5432:/var/lib/postgresql/data \
             --env POSTGRES_USER=tilestead --env POSTGRES_PASSWORD=tilestead \
             --env POSTGRES_DB=tilestead docker.io/library/postgres:17-alpine"
        );
        let url = url(5432).parse::<tokio_postgres::Config>().unwrap();
        assert_eq!(
            (url.get_ports(), url.get_dbname()),
            (&[5432][..], Some(NAME))
        );
    }

    #[tokio::test]
    async fn without_an_engine_that_works_it_is_said_what_can_be_done() {
        for (engine, why) in [
            ("/nowhere/docker", "there is no /nowhere/docker"),
            ("false", "false says: nothing"),
        ] {
            let said = start(Some(engine), 5432).await.unwrap_err().to_string();
            assert!(
                said.contains(why) && said.contains("DATABASE_URL"),
                "{said}"
            );
            assert_eq!(said.lines().count(), 1);
        }
        assert!(start(Some("true"), 5432).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_hangs_is_waited_for_so_long_and_no_longer() {
        // A file of the sources: one that this process writes may be busy when it is run.
        let engine = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/engine-that-hangs"
        );
        let began = Instant::now();
        let said = start(Some(engine), 5432).await.unwrap_err().to_string();
        let took = began.elapsed();
        assert!(said.contains("nothing within 300s"), "{said}");
        let least = START_LIMIT + CREATE_LIMIT;
        assert!(
            (least..least + Duration::from_secs(5)).contains(&took),
            "{took:?}"
        );
    }
}
