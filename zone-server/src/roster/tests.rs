//! Slots of players: attaches, fences and inputs.

use proto::rpc::zone::v1::Input;

use super::*;

fn attach(session_epoch: u64, number: u64, last_input: u64) -> Attach {
    Attach {
        session_id: format!("s{session_epoch}"),
        character_id: "ann".to_owned(),
        session_epoch,
        attach: number,
        last_input,
        resume: false,
        shown: None,
    }
}

fn input(number: u64) -> Input {
    Input {
        number,
        ..Input::default()
    }
}

#[test]
fn a_newer_session_replaces_an_older_and_never_the_other_way() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    assert_eq!(slot.attach("g1", &attach(3, 1, 0)), Ok(None));
    assert_eq!(slot.attach("g1", &attach(3, 1, 0)), Err(ELSEWHERE));
    let replaced = slot.attach("g2", &attach(4, 1, 0)).unwrap();
    assert_eq!(replaced.map(|s| s.session_id), Some("s3".to_owned()));
    assert_eq!(slot.attach("g1", &attach(3, 9, 0)), Err(STALE));
    assert!(slot.current(4, "s4") && !slot.current(3, "s3"));
}

#[test]
fn who_comes_from_another_gateway_is_ahead_of_whatever_the_first_one_asks() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    let from = |number| Attach {
        resume: true,
        ..attach(3, number, 0)
    };
    assert!(slot.attach("g1", &attach(3, 7, 0)).is_ok());
    let number = slot.next_gateway();
    assert!(slot.attach("g2", &from(number)).unwrap().is_some());
    assert_eq!(slot.attach("g1", &attach(3, 9_000, 0)), Err(ELSEWHERE));
    assert_eq!(slot.attach("g2", &from(number)), Ok(None), "asked twice");
    assert_eq!(slot.attach("g1", &from(number)), Err(ELSEWHERE));
    assert_eq!(slot.attach("g2", &attach(3, number, 0)), Err(ELSEWHERE));
    assert!(slot.attach("g2", &attach(3, number + 9, 0)).is_ok());
    assert_eq!(slot.attach("g1", &attach(2, u64::MAX, 0)), Err(STALE));
    assert!(slot.next_gateway() > number + 9_000);
}

#[test]
fn a_new_login_numbers_its_inputs_anew() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    assert!(slot.attach("g1", &attach(3, 1, 40)).is_ok());
    slot.inputs.take(input(41));
    assert!(slot.attach("g1", &attach(4, 1, 0)).is_ok());
    assert_eq!(slot.inputs.len(), 0);
    slot.inputs.take(input(1));
    assert_eq!(slot.inputs.ready().len(), 1);
}

#[test]
fn the_same_login_attached_again_keeps_its_inputs() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    assert!(slot.attach("g1", &attach(3, 1, 0)).is_ok());
    slot.inputs.take(input(1));
    assert!(slot.attach("g2", &attach(3, 2, 5)).is_ok());
    slot.inputs.take(input(6));
    assert_eq!(slot.inputs.ready().len(), 2);
}

#[test]
fn what_comes_late_of_pack_and_coins_is_not_shown_any_more() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    assert!(slot.attach("g1", &attach(3, 1, 0)).is_ok());
    let message = |event: &str, re: &'static str| Private {
        event: event.to_owned(),
        re: re.into(),
        ..Private::default()
    };
    let complete = CompleteRequest {
        session: Some(slot.session_ref()),
        held: vec![message("inventory:update", ""), message("ack", "7")],
        ..CompleteRequest::default()
    };
    slot.catch_up_late(complete.clone());
    slot.catch_up_late(complete);
    let told = slot.take_outbox();
    let told: Vec<&str> = told.iter().map(|message| &*message.event).collect();
    assert_eq!(told, ["ack"]);
    assert!(slot.release(1).is_some_and(|released| released.sync));
    assert!(slot.release(2).is_none());
}

/// A forwarded input may come twice, the second time after its player went on to another run.
#[test]
fn what_the_last_owner_played_is_not_played_again() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    assert!(slot.attach("g1", &attach(3, 1, 0)).is_ok());
    slot.inputs.take(input(4));
    let of_session = |number| Input {
        session_epoch: 3,
        ..input(number)
    };
    slot.catch_up_late(CompleteRequest {
        session: Some(slot.session_ref()),
        last_input: 6,
        inputs: vec![of_session(6), of_session(7)],
        ..CompleteRequest::default()
    });
    slot.inputs.take(input(5));
    let played = slot.inputs.ready();
    let numbers: Vec<u64> = played.iter().map(|input| input.number).collect();
    assert_eq!(numbers, [6, 7], "6 was put back, 4 and 5 were played");
}

#[test]
fn who_came_from_the_store_takes_the_session_that_its_last_owner_names() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    slot.session_epoch = 3;
    slot.linger_until = Some(9);
    let named = |epoch, attach| SessionRef {
        session_id: format!("s{epoch}"),
        gateway_id: "g1".to_owned(),
        session_epoch: epoch,
        attach,
    };
    slot.take_session_late(&named(2, 7), 100);
    assert_eq!(slot.session, None, "of an older login");
    slot.take_session_late(&named(3, 7), 100);
    assert!(slot.current(3, "s3"));
    assert_eq!(slot.linger_until, None);
    assert!(slot.release(0).is_some_and(|released| released.sync));
    // Its socket has gone meanwhile: a repetition does not bring it back.
    slot.detach(200);
    slot.take_session_late(&named(3, 7), 100);
    assert_eq!((slot.session.clone(), slot.linger_until), (None, Some(200)));
}

#[test]
fn a_handovers_session_does_not_undo_a_newer_attach() {
    let mut slot = PlayerSlot::new(Region { x: 0, z: 0 }, 1, 0, Holdings::default());
    assert!(slot.attach("g2", &attach(4, 1, 0)).is_ok());
    let older = SessionRef {
        session_id: "s3".to_owned(),
        gateway_id: "g1".to_owned(),
        session_epoch: 3,
        attach: 7,
    };
    slot.take_session(&older, 100);
    assert!(slot.current(4, "s4"));
    let nobody = SessionRef {
        gateway_id: String::new(),
        session_epoch: 4,
        attach: 2,
        ..older
    };
    slot.take_session(&nobody, 100);
    assert_eq!((slot.session.clone(), slot.linger_until), (None, Some(100)));
}
