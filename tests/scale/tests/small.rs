//! A small cluster, measured from end to end in seconds.

use scale::{
    crowd::Habits,
    measure::{Measured, Options, Size, measure},
    report,
    steering::Steering,
};

const SIZE: Size = Size {
    players: 1_200,
    zones: 4,
    gateways: 4,
};

fn measured(steering: Steering) -> Measured {
    let options = Options {
        side: 16,
        towns: 4,
        habits: Habits {
            in_towns: 0.4,
            walking: 0.5,
            npcs: 4,
        },
        ticks: 2,
        gateways: 4,
        seed: 7,
    };
    measure(SIZE, steering, &options, &mut |_| {}).expect("a measurement")
}

#[test]
fn gateways_with_an_area_each_replicate_less_than_those_with_players_everywhere() {
    let (random, area) = (measured(Steering::Random), measured(Steering::Area));
    assert!(random.gateway.entities > area.gateway.entities);
    assert!(random.gateway.tick.frame_bytes > area.gateway.tick.frame_bytes);
    assert!(random.watched_by > 2.0 * area.watched_by);
    assert!(area.watched_by >= 1.0 && random.watched_by <= 4.0);
    assert!(random.zone.bytes > area.zone.bytes);
}

#[test]
fn every_client_is_shown_the_world_and_nobody_is_owed_anything_in_a_thin_crowd() {
    let measured = measured(Steering::Area);
    let tick = measured.gateway.tick;
    assert!(tick.capped.updates > 0.0 && tick.capped.bytes > 0.0);
    assert!(tick.whole.updates > 0.0 && tick.whole.bytes > 0.0);
    assert!(tick.capped.owed + tick.whole.owed < 0.5, "{tick:?}");
    assert!(measured.gateway.entities > measured.gateway.players);
    assert!(measured.placement.directory.bytes > 256 * 10);
    assert!(measured.placement.kill_moves > 0);
    let tables = report::tables(&[measured]);
    assert!(tables.contains("| things in the replica |"), "{tables}");
}
