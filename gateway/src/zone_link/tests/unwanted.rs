//! Encounters whose asker the player ignores.

use std::collections::BTreeSet;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_one_whom_the_player_ignores_is_not_shown_and_neither_is_its_end() {
    let (zone, _stand, player) = playing().await;
    player.mailbox.ignore(BTreeSet::from(["a-eve".to_owned()]));
    let asks = |id: &str, account: &str| wire::Encounter {
        id: id.to_owned(),
        asking_account: account.to_owned(),
        ..Default::default()
    };
    let ends = |id: &str| wire::Encounter {
        id: id.to_owned(),
        over: true,
        ..Default::default()
    };
    zone.tells_of("asks", asks("trade:1", "a-eve"));
    zone.tells_of("asks", asks("trade:2", "a-bob"));
    zone.tells_of("ends", ends("trade:1"));
    zone.tells_of("ends", ends("trade:2"));
    assert_eq!(player.hears("asks").await["id"], "trade:2", "bob's alone");
    assert_eq!(player.hears("ends").await["id"], "trade:2", "bob's alone");
    // The player no longer ignores eve, and hears her again.
    player.mailbox.ignore(BTreeSet::new());
    zone.tells_of("asks", asks("trade:3", "a-eve"));
    assert_eq!(player.hears("asks").await["id"], "trade:3");
}
