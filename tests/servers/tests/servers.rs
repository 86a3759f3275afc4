//! The servers start, answer, survive a crash and leave nothing behind.

use std::net::TcpStream;

use test_servers::{PgBouncer, Postgres, Redis, RedisCluster};

#[test]
fn postgres_keeps_its_data_over_a_crash() {
    let mut postgres = Postgres::start();
    let url = postgres.create_database("one");
    assert!(url.ends_with("/one"));
    postgres.sql("one", "CREATE TABLE t (n int); INSERT INTO t VALUES (1)");
    postgres.kill9();
    assert!(postgres.pid().is_none());
    postgres.restart();
    postgres.sql(
        "one",
        "DO $$ BEGIN ASSERT (SELECT count(*) FROM t) = 1; END $$",
    );
}

#[test]
fn a_shared_postgres_outlives_the_thread_that_started_it() {
    let shared = std::thread::spawn(Postgres::shared).join().unwrap();
    let pid = shared.pid();
    shared.sql("postgres", "SELECT 1");
    assert_eq!(pid, Postgres::shared().pid());
}

#[test]
fn a_shared_pooler_keeps_the_shared_postgres() {
    let pooler = PgBouncer::shared();
    let behind = pooler.postgres().and_then(|server| server.pid());
    assert_eq!(behind, Postgres::shared().pid());
}

#[test]
fn redis_comes_back_on_its_port() {
    let mut redis = Redis::start();
    let port = redis.port();
    redis.kill9();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
    redis.restart();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
}

#[test]
fn a_node_of_a_cluster_comes_back_and_a_slot_moves() {
    let mut cluster = RedisCluster::start();
    let owner = cluster.owner("some");
    let to = (owner + 1) % 3;
    cluster.move_slot("some", to);
    assert_eq!(cluster.owner("some"), to);
    cluster.kill9(owner);
    assert!(TcpStream::connect(("127.0.0.1", cluster.port(owner))).is_err());
    cluster.order(to, "SET some thing");
    cluster.restart(owner);
    assert_eq!(cluster.order(to, "GET some"), "$5\r\nthing\r\n");
    assert_eq!(cluster.owner("some"), to);
}
