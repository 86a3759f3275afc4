//! The bytes with which players move along: other builds read them.

use std::collections::BTreeMap;

use super::record::tests::hex;
use super::*;
use crate::features::agents::{Agent, Goal, Orders};
use crate::features::home_teleport::Homeward;
use crate::features::skilling::{Craft, Job, RecipeKind};
use crate::rng;

#[allow(clippy::too_many_lines, reason = "one field after the other")]
fn hot() -> PlayerHot {
    let region = Region { x: 0, z: 1 };
    PlayerHot {
        path: vec![Tile::new(1, 2), Tile::new(2, 300)],
        trail: Some(Tile::new(0, 2)),
        pickup: Some(Pickup {
            number: 7,
            target: "item:1-2".into(),
            region,
        }),
        follow: Some(Follow {
            leader: "c2".into(),
            region,
            seen_at: Tile::new(3, 4),
            lost_ticks: 2,
        }),
        homeward: Homeward {
            done_at: Some(Tick(8)),
            ready_at: Tick(70_000),
            leaving: None,
        },
        visit: Some(Visit {
            number: 9,
            target: "npc:1".into(),
            region,
            what: Interface::Dialogue { node: "hi".into() },
        }),
        open: Some(Open {
            what: Interface::Bank,
            with: "npc:2".into(),
            region,
            since: Tick(5),
        }),
        skilling: Skilling {
            next_action_at: Tick(6),
            tiles_gone: 77,
            work: Some(Work {
                number: 10,
                job: Job::Make(Craft {
                    trade: RecipeKind::Fletch,
                    key: "bow".into(),
                }),
                target: None,
                region: Some(region),
                begun: true,
                due_at: Tick(11),
                left: 12,
            }),
            spools: BTreeMap::from([("thread".into(), 3)]),
        },
        fight: Fight::default(),
        dealings: Dealings {
            trade: Some("trade:1".into()),
            asked_trade: Some(("c3".into(), Tick(13))),
            duel: Some("duel:1".into()),
            asked_duel: Some(("c4".into(), Tick(14))),
        },
        agent: Some(Agent {
            orders: Orders {
                version: 3,
                agent: true,
                active: false,
                paused: false,
                goal: Some(Goal::Explore),
                progress: 1,
            },
            played: false,
            over: false,
            pursuit: None,
            command: None,
            rests_until: Tick(15),
            thinks_at: Tick(16),
            last: None,
            detour: None,
            grave: None,
            flees_until: Tick(17),
            recent_actions: std::collections::VecDeque::new(),
            tally: Default::default(),
        }),
    }
}

/// Returns a player with something in every field that is always written. The record leaves younger
/// fields out while they have their defaults.
fn player() -> Player {
    let hot = hot();
    Player {
        record: record::tests::ann_of_v2(),
        region: Region { x: -1, z: 1 },
        region_since: Tick(500),
        pid: 1_000,
        gait: Gait {
            path: hot.path.into(),
            trail: hot.trail,
            held: true,
            reported_energy: 9_999,
            ..Gait::default()
        },
        pickup: hot.pickup,
        follow: hot.follow,
        homeward: hot.homeward,
        visit: hot.visit,
        open: hot.open,
        skilling: hot.skilling,
        fight: hot.fight,
        dealings: hot.dealings,
        agent: hot.agent,
        unreachable: Some((Tile::new(1, 1), Tile::new(9, 9))),
        look: "".into(),
    }
}

#[test]
fn a_chosen_look_is_shown_and_moves_along() {
    let mut player = player();
    assert_eq!(player.look().field("look"), None);
    player.look = "21340".into();
    assert_eq!(player.look().field("look"), Some(&Field::from("21340")));
    let bytes = rmp_serde::to_vec_named(&player).unwrap();
    assert_eq!(rmp_serde::from_slice::<Player>(&bytes).unwrap(), player);
}

/// A changed number means that builds in one cluster no longer understand each other: raise the
/// version of the image.
#[test]
fn a_player_moves_along_in_the_same_bytes_as_before() {
    let (player, hot) = (player(), hot());
    let bytes = rmp_serde::to_vec_named(&player).unwrap();
    assert_eq!(rng::key(&hex(&bytes)), 0xca40_4249_e5e9_9a8c);
    assert_eq!(rmp_serde::from_slice::<Player>(&bytes).unwrap(), player);
    assert_eq!(rng::key(&hex(&hot.to_bytes())), 0xa5fe_857d_d3f7_bd88);
    assert_eq!(PlayerHot::from_bytes(&hot.to_bytes()), Ok(hot));
}
