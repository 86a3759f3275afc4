//! Another PostgreSQL server in the place of one that is gone.

use anyhow::Result;
use test_servers::Postgres;

use super::Cluster;

impl Cluster {
    /// Kills the database and lets a standby of it take over. All ways to the database lead to the
    /// standby from then on.
    ///
    /// # Errors
    /// The cluster is not breakable.
    pub fn fail_over(&mut self, standby: Postgres) -> Result<()> {
        self.postgres()?.kill9();
        tokio::task::block_in_place(|| standby.promote());
        self.put_database(standby)?;
        self.open_database()
    }

    /// Puts a server in the place of the database, which is gone. No service reaches it before
    /// [`Cluster::open_database`]; commands of operators do.
    ///
    /// # Errors
    /// The cluster is not breakable.
    pub fn put_database(&mut self, server: Postgres) -> Result<()> {
        let name = self.database.clone();
        let database = self.postgres()?;
        *database = server;
        self.database_url = database.url_of(&name);
        Ok(())
    }

    /// Lets all ways to the database lead to the server that is in its place.
    ///
    /// # Errors
    /// The cluster is not breakable.
    pub fn open_database(&mut self) -> Result<()> {
        let port = self.postgres()?.port();
        if let Some(production) = &self.production {
            production.aim(port);
            return Ok(());
        }
        let address = format!("127.0.0.1:{port}");
        let proxies = self.wires()?.to_database();
        proxies.for_each(|proxy| proxy.aim(&address));
        Ok(())
    }
}
