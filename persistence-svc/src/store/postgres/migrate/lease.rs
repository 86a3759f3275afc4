//! The right to carry out steps: a row that names its holder until a moment, and that the holder
//! renews.
//!
//! Always: no state outlives a transaction, so that the lease works over a pooler; and no
//! transaction stays open for it, because an index that is built concurrently waits for every
//! older transaction.

use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::store::error::{Result, StoreError};
use crate::store::postgres::Postgres;
use crate::store::postgres::session::{Client, GenericClient, Transaction};

/// Time after which a lease that nobody renews ends.
const LENGTH: Duration = Duration::from_secs(15);
/// Time between two renewals.
const PERIOD: Duration = Duration::from_secs(3);
/// Longest time for one answer about the lease.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(3);

/// The lease, for one process.
#[derive(Clone, Copy)]
pub(super) struct Lease<'a> {
    pub(super) holder: &'a str,
}

impl Lease<'_> {
    /// Takes the lease if nobody has it.
    pub(super) async fn take(self, client: &Client) -> Result<bool> {
        let query = "INSERT INTO tilestead_migration_lease (holder, until)
            VALUES ($1, clock_timestamp() + $2::int4 * interval '1 second')
            ON CONFLICT (one) DO UPDATE SET holder = excluded.holder, until = excluded.until
            WHERE tilestead_migration_lease.until < clock_timestamp()
               OR tilestead_migration_lease.holder = excluded.holder";
        let taken = client.execute(query, &[&self.holder, &seconds()]).await?;
        Ok(taken == 1)
    }

    /// Renews the lease until it cannot be renewed, and returns why.
    pub(super) async fn keep(self, store: &Postgres) -> StoreError {
        let mut client: Option<Client> = None;
        let mut renewed = Instant::now();
        loop {
            sleep(PERIOD).await;
            let asked = Instant::now();
            match timeout(ANSWER_LIMIT, self.renew(store, &mut client)).await {
                Ok(Ok(true)) => renewed = asked,
                Ok(Ok(false)) => {
                    let why = "another process has taken the migration over";
                    return StoreError::Away(why.to_owned());
                }
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the lease of the migration is not renewed");
                    client = None;
                }
                Err(_) => client = None,
            }
            if renewed.elapsed() > LENGTH {
                let why = "the lease of the migration ended without an answer";
                return StoreError::Away(why.to_owned());
            }
        }
    }

    async fn renew(self, store: &Postgres, client: &mut Option<Client>) -> Result<bool> {
        let client = match client {
            Some(client) => client,
            None => client.insert(store.own_client().await?),
        };
        let query = "UPDATE tilestead_migration_lease
            SET until = clock_timestamp() + $2::int4 * interval '1 second' WHERE holder = $1";
        Ok(client.execute(query, &[&self.holder, &seconds()]).await? == 1)
    }

    /// Ends the lease, so that the next process need not wait.
    pub(super) async fn give_up(self, client: &Client) -> Result<()> {
        let query = "UPDATE tilestead_migration_lease SET until = '-infinity' WHERE holder = $1";
        client.execute(query, &[&self.holder]).await?;
        Ok(())
    }

    /// Returns whether nobody else has taken the lease, and keeps it so until the transaction ends.
    pub(super) async fn is_held(
        self,
        transaction: &Transaction<'_>,
    ) -> std::result::Result<bool, tokio_postgres::Error> {
        let query = "SELECT FROM tilestead_migration_lease WHERE holder = $1 FOR UPDATE";
        let held = transaction.query_opt(query, &[&self.holder]).await?;
        Ok(held.is_some())
    }
}

fn seconds() -> i32 {
    i32::try_from(LENGTH.as_secs()).unwrap_or(i32::MAX)
}
