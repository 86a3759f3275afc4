//! A replica's knowledge of itself: version, times, connections and a profile.

use proto::rpc::persistence::v1::commit_reply::Outcome;
use proto::rpc::queries::v1::replica_client::ReplicaClient;
use proto::rpc::queries::v1::{SampleRequest, StatusReply, StatusRequest};
use tonic::Code;
use tonic::transport::Channel;

use crate::stage::{Kind, Stage, refused, region};

async fn status(replica: &mut ReplicaClient<Channel>) -> StatusReply {
    replica.status(StatusRequest {}).await.unwrap().into_inner()
}

async fn tells_of_itself(kind: Kind) {
    let stage = Stage::new(kind).await;
    let mut replica = stage.replica();
    let told = status(&mut replica).await;
    assert_eq!(told.version, env!("CARGO_PKG_VERSION"));
    assert!(told.uptime_s < 60, "{told:?}");
    assert_eq!(told.commit_us, 0, "nothing was committed: {told:?}");
    match kind {
        Kind::Sqlite => {
            assert_eq!(told.database, "sqlite");
            assert_eq!(told.pool, None);
        }
        Kind::Postgres | Kind::Pooled => {
            assert_eq!(told.database, "postgresql");
            let pool = told.pool.unwrap();
            assert!(pool.max > 0 && pool.in_use <= pool.max, "{pool:?}");
        }
    }
    let zone = stage.zone(region(0, 0)).await;
    let reply = stage.commit(zone.run, 1, Vec::new()).await;
    assert_eq!(reply.outcome(), Outcome::Done);
    let told = status(&mut replica).await;
    assert!((1..2_000_000).contains(&told.commit_us), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_sqlite_a_replica_tells_of_itself() {
    tells_of_itself(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_postgresql_a_replica_tells_of_itself_and_of_its_connections() {
    tells_of_itself(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_is_sampled_for_at_most_a_minute() {
    let stage = Stage::new(Kind::Sqlite).await;
    let mut replica = stage.replica();
    for seconds in [0, 61] {
        let asked = replica.profile(SampleRequest { seconds }).await;
        refused(asked, Code::InvalidArgument);
    }
    let mut parts = replica
        .profile(SampleRequest { seconds: 1 })
        .await
        .unwrap()
        .into_inner();
    let mut folded = Vec::new();
    while let Some(part) = parts.message().await.unwrap() {
        folded.extend_from_slice(&part.data);
    }
    let folded = String::from_utf8(folded).unwrap();
    let samples = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1);
    assert!(
        samples.into_iter().all(|n| n.parse::<u32>().is_ok()),
        "{folded}"
    );
}
