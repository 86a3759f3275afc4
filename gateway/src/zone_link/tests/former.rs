//! A character goes to another zone. The words of the former zone come by other connections than
//! those of the next one.

use futures::FutureExt;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_move_switches_the_route_and_old_private_frames_are_dropped() {
    let (from, to, stand, player) = playing_beside().await;
    stand.moves(&from, &to, 6).await;
    to.says("chosen", 6);
    assert_eq!(player.hears("chosen").await, serde_json::json!({}));
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    assert_eq!(input(&to).await, (1, "\"a\"".to_owned()));
    from.answers("a", 5);
    assert_eq!(player.hears("error").await["code"], "outcome_unknown");
    to.says("last", 6);
    player.hears("last").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_played_by_another_zone_all_at_once_is_shown_everything() {
    let (from, to, _stand, player) = playing_beside().await;
    // The first run's word of it is still under way, and may never come.
    from.forgets();
    to.plays(6);
    to.says("first", 6);
    player.hears("first").await;
    assert_eq!(attach(&to).await, 2);
    player.hears("player:sync").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_too_late_of_a_former_zone_is_made_up_for() {
    let (from, to, stand, player) = playing_beside().await;
    stand.moves(&from, &to, 6).await;
    to.says("chosen", 6);
    player.hears("chosen").await;
    // The present zone says nothing more of that.
    from.says("inventory:update", 5);
    assert_eq!(attach(&to).await, 2);
    player.hears("player:sync").await;
}

/// Its inputs may have gone along with the character, or not.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_asked_of_a_run_that_dies_after_the_move_is_answered_once() {
    let (from, to, stand, player) = playing_beside().await;
    for id in ["a", "b"] {
        assert_eq!(stand.asks(&player, id), Ok(()));
        input(&from).await;
    }
    stand.moves(&from, &to, 6).await;
    to.says("chosen", 6);
    player.hears("chosen").await;
    assert_eq!(stand.asks(&player, "c"), Ok(()));
    input(&to).await;
    from.die();
    to.answers("b", 6);
    let b = player.reliable().await;
    assert_eq!(b.re, Some(RequestId::Text("b".to_owned())));
    let a = player.reliable().await;
    let text: serde_json::Value = serde_json::from_slice(&a.data).expect("JSON");
    assert_eq!(a.re, Some(RequestId::Text("a".to_owned())));
    assert_eq!(text["code"], "outcome_unknown");
    // After this answer the session gets no other one for the request.
    to.answers("a", 6);
    to.answers("c", 6);
    let c = player.reliable().await;
    assert_eq!(c.re, Some(RequestId::Text("c".to_owned())));
    assert_eq!(c.event, "ack");
    assert!(!player.mailbox.awaits());
}

/// The frame of the former zone's last tick is slower than its word that the character went.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_former_zone_said_before_the_move_counts_and_comes_first() {
    let (from, to, stand, player) = playing_beside().await;
    to.stands_still();
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    input(&from).await;
    from.is_silent(true);
    from.answers("a", 5);
    from.says("older", 5);
    from.moves_after(1, &to, 6);
    stand.is_told_of(&to).await;
    to.plays(6);
    to.says("newer", 6);
    stand.hears_more_of(&to).await;
    from.is_silent(false);
    let answer = player.reliable().await;
    assert_eq!(answer.re, Some(RequestId::Text("a".to_owned())));
    assert_eq!(answer.event, "ack");
    assert_eq!(player.reliable().await.event, "older");
    assert_eq!(player.reliable().await.event, "newer");
    assert_eq!(stand.asks(&player, "b"), Ok(()));
    assert_eq!(input(&to).await, (2, "\"b\"".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_that_is_faster_than_the_word_of_the_former_one_waits_for_it() {
    let (from, to, stand, player) = playing_beside().await;
    to.stands_still();
    from.forgets();
    to.plays(6);
    to.says("first", 6);
    stand.hears_more_of(&to).await;
    let told = player.reliable().now_or_never();
    assert!(told.is_none(), "nobody has said that it is there: {told:?}");
    from.moves_to(&to, 6);
    player.hears("first").await;
    // It was never sought: the zone has heard no attach before this.
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    assert_eq!(input(&to).await, (1, "\"a\"".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_former_zone_said_last_and_lost_is_made_up_for() {
    let (from, to, stand, player) = playing_beside().await;
    to.stands_still();
    from.is_silent(true);
    from.moves_after(1, &to, 6);
    stand.is_told_of(&to).await;
    to.plays(6);
    from.die();
    assert_eq!(attach(&to).await, 2);
    player.hears("player:sync").await;
}
