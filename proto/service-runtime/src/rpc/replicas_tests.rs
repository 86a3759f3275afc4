use std::{collections::BTreeMap, path::PathBuf};

use super::*;

fn persistence(names: &[&str], hosts: Option<PathBuf>) -> anyhow::Result<Replicas> {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Replicas::new(&Trust::none(), Role::Persistence, &Names { names, hosts })
}

fn three() -> Replicas {
    let replicas = persistence(&["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"], None);
    let replicas = replicas.expect("addresses");
    replicas.0.turn.store(0, Ordering::Relaxed);
    replicas
}

fn turns(replicas: &Replicas, count: usize) -> BTreeMap<String, usize> {
    let mut turns = BTreeMap::new();
    for _ in 0..count {
        let next = replicas.0.next(&replicas.0.known.load(), &[]);
        *turns.entry(next.address.clone()).or_default() += 1;
    }
    turns
}

/// Answers call by call.
fn script(answers: Vec<Result<u32, Code>>) -> Mutex<std::vec::IntoIter<Result<u32, Code>>> {
    Mutex::new(answers.into_iter())
}

async fn ask(
    replicas: &Replicas,
    script: &Mutex<std::vec::IntoIter<Result<u32, Code>>>,
) -> Answered<u32> {
    let call = async |_: Route, (): ()| {
        let next = script.lock().expect("lock").next().expect("one call more");
        next.map(Response::new)
            .map_err(|code| Status::new(code, ""))
    };
    replicas.call_once((), call).await
}

#[tokio::test]
async fn all_are_asked_in_turn() {
    let each = turns(&three(), 9);
    assert!(
        each.len() == 3 && each.values().all(|count| *count == 3),
        "{each:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_without_an_answer_rests_longer_each_time_and_an_answer_forgives_all() {
    let replicas = three();
    let first = Arc::clone(&replicas.0.known.load()[0]);
    let address = first.address.clone();
    for rest in [1, 2, 4, 8, 8] {
        first.failed();
        // Further failures at the same moment change nothing.
        first.failed();
        tokio::time::advance(Duration::from_millis(rest * 1000 - 1)).await;
        assert!(!turns(&replicas, 9).contains_key(&address), "{rest} s");
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(turns(&replicas, 9).contains_key(&address), "{rest} s");
    }
    first.answered();
    first.failed();
    assert_eq!(first.rests(), REST[0]);
}

#[tokio::test(start_paused = true)]
async fn when_all_rest_the_one_that_rests_shortest_is_asked() {
    let replicas = three();
    let known = replicas.0.known.load_full();
    for replica in [&known[2], &known[0], &known[1]] {
        replica.failed();
        tokio::time::advance(Duration::from_millis(10)).await;
    }
    let each = turns(&replicas, 3);
    assert_eq!(each.keys().collect::<Vec<_>>(), ["127.0.0.1:3"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ends_without_an_answer_counts_if_it_took_long() {
    let replicas = three();
    let replica = Arc::clone(&replicas.0.known.load()[0]);
    let asked = || Asked {
        since: Some(Instant::now()),
        replica: Arc::clone(&replica),
    };
    let quick = asked();
    tokio::time::advance(SLOW - Duration::from_millis(1)).await;
    drop(quick);
    assert_eq!(replica.rests(), Duration::ZERO);
    let slow = asked();
    tokio::time::advance(SLOW).await;
    drop(slow);
    assert_eq!(replica.rests(), REST[0]);
}

#[tokio::test]
async fn a_refusal_is_an_answer_and_nobody_else_is_asked() {
    let asked = ask(&three(), &script(vec![Err(Code::NotFound)])).await;
    assert_eq!(asked.answer.map_err(|s| s.code()), Err(Code::NotFound));
    assert!(!asked.again);
}

#[tokio::test]
async fn the_next_one_answers_for_one_that_does_not() {
    let silent = Err(Code::Unavailable);
    let asked = ask(&three(), &script(vec![silent, Ok(7)])).await;
    assert_eq!((asked.answer.ok(), asked.again), (Some(7), true));
}

#[tokio::test]
async fn each_is_asked_once_and_the_last_failure_is_told() {
    let silent = [Code::Unavailable, Code::Unknown, Code::DeadlineExceeded];
    let asked = ask(&three(), &script(silent.map(Err).to_vec())).await;
    let code = asked.answer.map_err(|status| status.code());
    assert_eq!(code, Err(Code::DeadlineExceeded));
}

#[tokio::test]
async fn a_call_that_was_not_sent_is_sent_once_more_even_to_the_only_replica() {
    let one = persistence(&["127.0.0.1:1"], None).expect("an address");
    let asked = ask(&one, &script(vec![Err(Code::Cancelled), Ok(7)])).await;
    assert_eq!((asked.answer.ok(), asked.again), (Some(7), false));
    let asked = ask(&one, &script([Code::Cancelled; 2].map(Err).to_vec())).await;
    assert_eq!(asked.answer.map_err(|s| s.code()), Err(Code::Cancelled));
}

#[tokio::test]
async fn nobody_to_ask_is_no_service() {
    assert!(persistence(&[], None).is_err());
    assert!(persistence(&["not an address"], None).is_err());
}

/// A name gets, loses and keeps replicas as the file says. Those that stay keep their channels.
#[tokio::test]
async fn a_look_finds_the_replicas_behind_a_name() {
    let file = std::env::temp_dir().join(format!("names-{}", std::process::id()));
    let write = |text: &str| std::fs::write(&file, text).expect("a file");
    write("127.0.1.1 store\n127.0.1.2 store\n");
    let replicas = persistence(&["store:5600"], Some(file.clone())).expect("a name");
    let known = || replicas.0.known.load_full();
    let addresses = || -> Vec<_> { known().iter().map(|one| one.address.clone()).collect() };
    assert_eq!(addresses(), ["store:5600"]);
    replicas.0.look().await;
    assert_eq!(addresses(), ["127.0.1.1:5600", "127.0.1.2:5600"]);
    let second = Arc::clone(&known()[1]);
    write("127.0.1.2 store\n127.0.1.3 store\n");
    replicas.0.look().await;
    assert_eq!(addresses(), ["127.0.1.2:5600", "127.0.1.3:5600"]);
    assert!(Arc::ptr_eq(&second, &known()[0]));
    std::fs::remove_file(&file).expect("a file");
    replicas.0.look().await;
    assert_eq!(addresses(), ["127.0.1.2:5600", "127.0.1.3:5600"]);
}

#[tokio::test(start_paused = true)]
async fn each_replica_is_called_once_and_a_silent_one_delays_nobody_beyond_the_deadline() {
    let replicas = three();
    let (begun, asked) = (Instant::now(), Mutex::new(Vec::new()));
    let call = |address: String, route: Route| {
        let only = route.only.expect("a way to one replica");
        asked.lock().expect("lock").push(only.address.clone());
        async move {
            match address.as_str() {
                "127.0.0.1:2" => std::future::pending().await,
                "127.0.0.1:3" => Err(Status::unimplemented("")),
                _ => Ok(Response::new(address)),
            }
        }
    };
    let answers = replicas.each(call).await;
    assert_eq!(begun.elapsed(), super::super::DEADLINE);
    let told = answers.iter().map(|(address, answer)| {
        let answer = answer.as_ref().map_err(Status::code);
        (address.as_str(), answer.map(String::as_str))
    });
    let expected = [
        ("127.0.0.1:1", Ok("127.0.0.1:1")),
        ("127.0.0.1:2", Err(Code::DeadlineExceeded)),
        ("127.0.0.1:3", Err(Code::Unimplemented)),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    let asked = asked.into_inner().expect("lock");
    assert_eq!(asked, ["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
}

#[tokio::test]
async fn a_way_leads_to_the_replica_at_an_address_and_to_no_other() {
    let replicas = three();
    let only = replicas.at("127.0.0.1:2").and_then(|route| route.only);
    assert_eq!(only.expect("a replica").address, "127.0.0.1:2");
    assert!(replicas.at("127.0.0.1:4").is_none());
}
