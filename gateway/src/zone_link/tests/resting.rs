//! Sessions in a region that an operator paused.

use super::*;

/// Lets a zone turn its session out and refuse it. Returns when the gateway seeks another.
async fn turned_out(zone: &Zone, stand: &Stand) {
    let number = attach(zone).await;
    zone.refuse();
    zone.turns_out(number);
    let sought = async {
        while stand.zones.table.is_at("s", zone.run) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(TIMEOUT, sought).await.expect("never sought");
}

#[tokio::test(flavor = "multi_thread")]
async fn acts_in_a_paused_region_are_refused_until_it_goes_on() {
    let (zone, stand, player) = playing().await;
    stand.directory.pause();
    turned_out(&zone, &stand).await;
    assert_eq!(player.hears("notice").await["code"], "zone_unavailable");
    assert_eq!(stand.asks(&player, "now"), Err(InputError::ZoneUnavailable));
    zone.accept();
    stand.directory.push(&[&zone], &zone);
    player.hears("player:sync").await;
    assert_eq!(player.hears("notice").await["code"], "zone_recovered");
    assert_eq!(stand.asks(&player, "goes on"), Ok(()));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waited_when_a_region_is_paused_is_refused_and_never_played() {
    let (zone, stand, player) = playing().await;
    turned_out(&zone, &stand).await;
    assert_eq!(stand.asks(&player, "held"), Ok(()));
    assert_eq!(player.hears("notice").await["code"], "zone_recovering");
    stand.directory.pause();
    let refused = player.reliable().await;
    assert_eq!(refused.event, "error");
    assert_eq!(refused.re, Some(RequestId::Text("held".to_owned())));
    zone.accept();
    stand.directory.push(&[&zone], &zone);
    player.hears("player:sync").await;
    assert_eq!(stand.asks(&player, "later"), Ok(()));
    loop {
        match zone.hears().await {
            Message::Input(input) => break assert_eq!(&input.id[..], b"\"later\""),
            Message::Attach(_) | Message::Detach(_) => {}
            other => panic!("{other:?}"),
        }
    }
}
