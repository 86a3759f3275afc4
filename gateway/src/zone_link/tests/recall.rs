//! The gateway asks again for requests that nobody has answered for long.

use super::*;

/// Returns the requests in the next recall that a zone gets.
async fn recalled(zone: &Zone) -> Vec<String> {
    match zone.hears().await {
        Message::Recall(recall) => {
            let texts = recall.ids.iter().map(|id| String::from_utf8(id.to_vec()));
            texts.map(|text| text.expect("a text")).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// The first run moved the character to a second one, which ended before anybody could speak with
/// it.
#[tokio::test(flavor = "multi_thread")]
async fn what_went_down_with_a_run_that_nobody_knew_is_answered_once() {
    let (from, heir, stand, player) = playing_beside().await;
    let unknown = Zone::start(3, 6).await;
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    input(&from).await;
    heir.waits();
    from.moves_to(&unknown, 6);
    stand.directory.push(&[&from, &heir], &heir);
    let number = attach(&heir).await;
    assert_eq!(stand.asks(&player, "b"), Ok(()));
    heir.answers_attach(number);
    player.hears("player:sync").await;
    // The gateway asks the heir the new request, and later what became of the first one.
    assert_eq!(input(&heir).await.1, "\"b\"");
    heir.answers("b", 6);
    player.hears("ack").await;
    assert_eq!(recalled(&heir).await, ["\"a\""]);
    heir.loses("a");
    assert_eq!(player.hears("error").await["code"], "outcome_unknown");
    assert!(!player.mailbox.awaits());
}
