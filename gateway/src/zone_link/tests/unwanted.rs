//! Requests by people whom a player ignores.

use std::collections::BTreeSet;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_one_whom_the_player_ignores_is_not_shown_and_neither_is_its_end() {
    let (zone, _stand, player) = playing().await;
    player.mailbox.ignore(BTreeSet::from(["a-eve".to_owned()]));
    for (asks, ends, of_eve, of_bob) in [
        (
            "tradeIncoming",
            "tradeCancelled",
            br#"{"tradeId":"trade:1"}"#.as_slice(),
            br#"{"tradeId":"trade:2"}"#.as_slice(),
        ),
        (
            "duelChallengeIncoming",
            "duelChallengeDeclined",
            br#"{"challengeId":"challenge:1"}"#,
            br#"{"challengeId":"challenge:2"}"#,
        ),
    ] {
        zone.tells_of("a-eve", asks, of_eve, 5);
        zone.tells_of("a-bob", asks, of_bob, 5);
        zone.tells(ends, of_eve, 5);
        zone.tells(ends, of_bob, 5);
        let bob: serde_json::Value = serde_json::from_slice(of_bob).expect("JSON");
        assert_eq!(player.hears(asks).await, bob, "bob's alone");
        assert_eq!(player.hears(ends).await, bob, "bob's alone");
    }
    // Not ignored any more, eve is heard again.
    player.mailbox.ignore(BTreeSet::new());
    zone.tells_of("a-eve", "tradeIncoming", br#"{"tradeId":"trade:3"}"#, 5);
    player.hears("tradeIncoming").await;
}
