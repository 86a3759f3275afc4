//! The stores as an installation on the internet has them: PostgreSQL and Redis that take nothing
//! but TLS, and a PgBouncer between the persistence services and PostgreSQL.
//!
//! Always: no process but the tests' own judge reaches a store without TLS.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use test_servers::{Authority, PgBouncer, Postgres, Redis};

use super::Kind;
use crate::chaos::proxy::Proxy;

/// Who may reach PostgreSQL: everybody by TLS, and a standby.
const RULES: &str = "hostssl all all all trust\nhostssl replication all all trust";
/// The first key that signs tokens.
const FIRST_KEY: &str = "first a-first-secret-0123456789abcdef-0123456789";
/// The key to which operators change.
const NEXT_KEY: &str = "next a-newer-secret-0123456789abcdef-0123456789";

/// All that a cluster of this kind has beside its servers.
pub(super) struct Production {
    authority: Authority,
    pooler: PgBouncer,
    /// Leads to the PostgreSQL server that takes writes.
    primary: Proxy,
    redis_port: u16,
    keys: PathBuf,
}

impl Production {
    /// Starts the stores with an empty database. `folder` takes the file of signing keys.
    pub(super) async fn start(
        database: &str,
        folder: &Path,
    ) -> Result<(Production, Postgres, Redis)> {
        let made = database.to_owned();
        let servers = tokio::task::spawn_blocking(move || {
            let authority = Authority::new();
            let own = authority.certify(&["localhost"]);
            let settings = [
                "ssl=on".to_owned(),
                format!("ssl_cert_file={}", own.cert.display()),
                format!("ssl_key_file={}", own.key.display()),
            ];
            let settings = settings.each_ref().map(String::as_str);
            let postgres = Postgres::try_start_with(&settings).map_err(anyhow::Error::msg)?;
            postgres.admit(RULES);
            postgres.sql("postgres", &format!("CREATE DATABASE \"{made}\""));
            let redis = Redis::start_secured(&own, &authority.ca(), false);
            anyhow::Ok((authority, own, postgres, redis))
        });
        let (authority, own, postgres, redis) = servers.await??;
        let primary = Proxy::start(&format!("127.0.0.1:{}", postgres.port())).await?;
        let (behind, ca) = (primary.port(), authority.ca());
        let pooler =
            tokio::task::spawn_blocking(move || PgBouncer::start_secured(behind, &own, &ca));
        let production = Production {
            pooler: pooler.await?,
            authority,
            primary,
            redis_port: redis.port(),
            keys: folder.join("signing-keys"),
        };
        production.sign_with(&[FIRST_KEY])?;
        Ok((production, postgres, redis))
    }

    /// Leads all ways to PostgreSQL to this port.
    pub(super) fn aim(&self, port: u16) {
        self.primary.aim(&format!("127.0.0.1:{port}"));
    }

    /// Lets gateways sign with the next key. Tokens of the first one stay good.
    pub(super) fn next_key(&self) -> Result<()> {
        self.sign_with(&[NEXT_KEY, FIRST_KEY])
    }

    fn sign_with(&self, keys: &[&str]) -> Result<()> {
        let next = self.keys.with_extension("next");
        fs::write(&next, keys.join("\n"))?;
        fs::rename(&next, &self.keys).context("the file of signing keys")
    }

    /// Returns the settings by which a service reaches the database past the pooler.
    pub(super) fn database_env(&self, database: &str) -> Vec<(&'static str, String)> {
        let port = self.primary.port();
        vec![
            ("DATABASE_URL", address(port, database)),
            ("DATABASE_CA_FILE", self.ca()),
        ]
    }

    /// Returns the settings of a service.
    pub(super) fn env_of(&self, kind: Kind, database: &str) -> Vec<(&'static str, String)> {
        let mut env = vec![("NODE_ENV", "production".to_owned())];
        match kind {
            Kind::Persistence => env.extend([
                ("DATABASE_URL", address(self.pooler.port(), database)),
                ("DATABASE_POOLER", "transaction".to_owned()),
                (
                    "DATABASE_DIRECT_URL",
                    address(self.primary.port(), database),
                ),
                ("DATABASE_CA_FILE", self.ca()),
            ]),
            Kind::Zone => {}
            Kind::Gateway => env.extend([
                (
                    "REDIS_URL",
                    format!("rediss://game@localhost:{}", self.redis_port),
                ),
                ("REDIS_PASSWORD", Redis::PASSWORD.to_owned()),
                ("REDIS_CA_FILE", self.ca()),
                ("JWT_KEYS_FILE", self.keys.display().to_string()),
                ("ADMIN_CODE", "a-code-of-the-exercise-0123456789".to_owned()),
                ("DISABLE_RATE_LIMIT", "false".to_owned()),
                // The bots stand in for a load balancer, and say where they come from.
                ("TRUSTED_PROXIES", "127.0.0.1".to_owned()),
            ]),
        }
        env
    }

    fn ca(&self) -> String {
        self.authority.ca().display().to_string()
    }
}

/// Returns the address of a database whose server must prove who it is.
fn address(port: u16, database: &str) -> String {
    format!("postgres://postgres@localhost:{port}/{database}?sslmode=verify-full")
}
