//! Asks the directory, as gateways and zones do, how far the world has come.

use std::{net::SocketAddr, time::Duration};

use proto::rpc::persistence::v1::{
    DirectoryUpdate, WatchRequest, directory_client::DirectoryClient,
};
use service_runtime::rpc::{self, Backoff, Role, Trust};
use tokio::time::timeout;

/// Longest wait for a message. The directory sends a sign of life every second; after this silence
/// the launcher asks again.
const SILENCE: Duration = Duration::from_secs(5);

/// Waits until the persistence service answers. Fails only if the address is malformed.
pub(crate) async fn wait_until_answering(
    trust: &Trust,
    persistence: SocketAddr,
) -> anyhow::Result<()> {
    wait_for(trust, persistence, |_| true).await
}

/// Waits until every region of the world has an owner. Fails only if the address is malformed.
pub(crate) async fn wait_until_owned(trust: &Trust, persistence: SocketAddr) -> anyhow::Result<()> {
    wait_for(trust, persistence, owned).await
}

/// Tells `learn` of every update, for ever. Fails only if the address is malformed.
pub(crate) async fn follow(
    trust: &Trust,
    persistence: SocketAddr,
    mut learn: impl FnMut(&DirectoryUpdate),
) -> anyhow::Result<()> {
    let told = |update: &DirectoryUpdate| {
        learn(update);
        false
    };
    wait_for(trust, persistence, told).await
}

fn owned(update: &DirectoryUpdate) -> bool {
    !update.regions.is_empty() && update.regions.iter().all(|region| region.run_id != 0)
}

/// Waits for an update for which `enough` is true. Safe to drop midway.
async fn wait_for(
    trust: &Trust,
    persistence: SocketAddr,
    mut enough: impl FnMut(&DirectoryUpdate) -> bool,
) -> anyhow::Result<()> {
    let mut client =
        DirectoryClient::new(trust.channel(Role::Persistence, &persistence.to_string())?);
    let mut backoff = Backoff::new();
    loop {
        let request = WatchRequest {
            client: "launcher".to_owned(),
        };
        // If the stream ends for any reason, the launcher asks for it again.
        if let Ok(mut updates) = rpc::bounded(client.watch(request)).await {
            while let Ok(Ok(Some(update))) = timeout(SILENCE, updates.message()).await {
                if enough(&update) {
                    return Ok(());
                }
            }
        }
        backoff.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use proto::rpc::persistence::v1::RegionOwner;

    use super::*;

    #[test]
    fn a_world_is_owned_when_no_region_is_nobodys() {
        let of = |runs: &[u64]| DirectoryUpdate {
            regions: runs
                .iter()
                .map(|run_id| RegionOwner {
                    run_id: *run_id,
                    ..RegionOwner::default()
                })
                .collect(),
            ..DirectoryUpdate::default()
        };
        assert!(owned(&of(&[1, 2, 2])));
        assert!(!owned(&of(&[1, 0])));
        // A sign of life holds no regions.
        assert!(!owned(&of(&[])));
    }
}
