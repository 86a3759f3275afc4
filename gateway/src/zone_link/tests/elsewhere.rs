//! Sessions that end, are replaced, or go from gateway to gateway.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn who_is_replaced_hears_it_under_the_epoch_of_the_newer_login() {
    let (zone, _stand, mut player) = playing().await;
    zone.leaves(2, "");
    zone.leaves(4, "\"newer\"");
    let event = player.event().await;
    let SessionEvent::Left { re, .. } = event else {
        panic!("{event:?}");
    };
    assert_eq!(
        re,
        Some(RequestId::Text("newer".to_owned())),
        "the older one does not count"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_login_refuses_the_older_one() {
    let zone = Zone::start(1, 5).await;
    zone.replace();
    let stand = Stand::new(&[&zone]).await;
    let (attached, _player) = stand.enter().await;
    assert_eq!(attached.expect_err("refused"), AttachError::Replaced);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_zone_that_shows_a_session_that_is_over_is_told_that_nobody_is_there() {
    let (zone, stand, player) = playing().await;
    attach(&zone).await;
    // The move's word comes late: the gateway told the zone of the socket's end before.
    let detached = async || match zone.hears().await {
        Message::Detach(detach) => {
            let of = (&*detach.session_id, &*detach.character_id);
            assert_eq!(of, ("s", "ann"));
            detach.session_epoch
        }
        other => panic!("{other:?}"),
    };
    stand.zones.pause("s");
    assert_eq!(detached().await, 3);
    zone.says("to nobody", 6);
    assert_eq!(detached().await, 3);
    stand.zones.detach("s");
    zone.says("to nobody", 6);
    // The gateway answered each frame until then that names the session with the old detach.
    while detached().await != 0 {}
    drop(player);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_logged_out_while_it_was_away_is_told_so_when_it_resumes() {
    let (zone, stand, mut player) = playing().await;
    stand.zones.pause("s");
    zone.log_out();
    let mailbox = player.mailbox.clone();
    assert!(
        stand
            .zones
            .resume("s", mailbox, Screen::all(Format::Json), false)
    );
    let event = player.event().await;
    let left = SessionEvent::Left {
        re: None,
        reason: "disconnected".to_owned(),
    };
    assert_eq!(event, left);
    assert_eq!(stand.asks(&player, "a"), Err(InputError::NotInWorld));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_from_elsewhere_is_found_wherever_it_is_and_numbers_go_on() {
    let (owner, has) = (Zone::start(1, 5).await, Zone::start(2, 6).await);
    owner.refuse();
    has.was_played(7, 40);
    let stand = Stand::new(&[&owner, &has]).await;
    let (attached, player) = stand.take_over().await;
    assert_eq!(attached.expect("attached").run_id, 2);
    match has.hears().await {
        Message::Attach(attach) => {
            assert_eq!(
                (attach.resume, attach.attach, attach.last_input),
                (true, 0, 0)
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    match has.hears().await {
        Message::Input(input) => assert_eq!((input.number, input.attach), (41, 8)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_from_elsewhere_is_over_only_when_all_have_said_so_for_a_while() {
    let (calm, loads) = (Zone::start(1, 5).await, Zone::start(2, 6).await);
    calm.refuse();
    loads.load();
    let stand = Stand::new(&[&calm, &loads]).await;
    let seeking = tokio::spawn(async move {
        let (attached, _player) = stand.take_over().await;
        attached.map(|_| ())
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!seeking.is_finished(), "one of them still loads");
    loads.refuse();
    let over = timeout(Duration::from_secs(3), seeking).await;
    let over = over.expect("certain by now").expect("no panic");
    assert_eq!(over, Err(AttachError::NotInWorld));
}

/// The session was at another gateway in between, which attached it under a higher number.
#[tokio::test(flavor = "multi_thread")]
async fn who_comes_back_to_its_first_gateway_is_not_taken_for_an_older_login() {
    let (zone, stand, mut player) = playing().await;
    stand.zones.pause("s");
    zone.play_elsewhere();
    zone.was_played(9, 12);
    let mailbox = player.mailbox.clone();
    assert!(
        stand
            .zones
            .resume("s", mailbox, Screen::all(Format::Json), true)
    );
    player.hears("player:sync").await;
    assert!(player.events.try_recv().is_err(), "it plays on");
    assert_eq!(stand.asks(&player, "a"), Ok(()));
    loop {
        if let Message::Input(input) = zone.hears().await {
            assert_eq!((input.number, input.attach), (13, 10));
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_on_elsewhere_is_no_older_login() {
    let (zone, _stand, mut player) = playing().await;
    zone.replaced(3);
    assert_eq!(player.event().await, SessionEvent::Elsewhere);
}

/// The zone's word of that may come later than its answer to a request of the gateway.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_sought_here_and_plays_elsewhere_already_is_no_older_login() {
    let (zone, _stand, mut player) = playing().await;
    zone.play_elsewhere();
    zone.turns_out(1);
    assert_eq!(player.event().await, SessionEvent::Elsewhere);
}

/// Lets the zone say that the player left, and waits until the session hears it.
async fn leaves(zone: &Zone, player: &mut Player) {
    zone.leaves(3, "\"bye\"");
    let event = player.event().await;
    let left = SessionEvent::Left {
        re: Some(RequestId::Text("bye".to_owned())),
        reason: "left".to_owned(),
    };
    assert_eq!(event, left);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_is_told_once_and_takes_no_more_inputs() {
    let (zone, stand, mut player) = playing().await;
    leaves(&zone, &mut player).await;
    assert_eq!(stand.asks(&player, "a"), Err(InputError::NotInWorld));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_only_a_newer_zone_says_is_passed_over() {
    let (zone, _stand, mut player) = playing().await;
    zone.says_what_is_newer();
    // The link goes on.
    leaves(&zone, &mut player).await;
}

/// The session was at another gateway for a moment, and the word of that comes late.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_coming_back_is_not_sent_away_by_the_word_that_it_went() {
    let (zone, stand, mut player) = playing().await;
    stand.zones.pause("s");
    zone.load();
    let mailbox = player.mailbox.clone();
    assert!(
        stand
            .zones
            .resume("s", mailbox, Screen::all(Format::Json), false)
    );
    zone.replaced(3);
    zone.says("heard", 5);
    // The player hears that the search takes a while, if it does.
    while player.reliable().await.event != "heard" {}
    zone.accept();
    while player.reliable().await.event != "player:sync" {}
    assert!(player.events.try_recv().is_err(), "it plays on");
}
