//! The farms of the west, laid by hand.

use crate::ground::Ground;
use crate::town::{Built, Day, Side, Town};
use crate::towns::{House, Row, houses, people};

const PLUMFURROW_PEOPLE: &[Row] = &[
    (
        "tilda_purse",
        "Tilda Purse",
        "Banks the harvest; eats the interest.",
        "We take coins, grain and IOUs from relatives.",
        "banker",
        (14, 9),
        Day::Stand,
    ),
    (
        "gran_damson",
        "Gran Damson",
        "Has never lost a jam contest. Judges fear her.",
        "Taste this. Now say it is the best. Good.",
        "shop:damson_stall",
        (3, 2),
        Day::Stand,
    ),
    (
        "otto_furrow",
        "Otto Furrow",
        "Ploughs in straight lines, talks in curves.",
        "Started over there. Ended up over there. That is farming.",
        "quest",
        (-8, -12),
        Day::Wander(4),
    ),
    (
        "barrel_bess",
        "Barrel Bess",
        "The barrel is tilted so she can rest it.",
        "Cider, or the other thing. The other thing is also cider.",
        "",
        (-14, 5),
        Day::Wander(3),
    ),
    (
        "strawman",
        "Councillor Straw",
        "A scarecrow. Elected twice.",
        "...",
        "",
        (-26, -16),
        Day::Stand,
    ),
    (
        "shep",
        "Shep",
        "Counts sheep for a living. Always tired.",
        "Fourteen, fifteen... zzz.",
        "",
        (20, 20),
        Day::Wander(4),
    ),
    (
        "miller_chaff",
        "Miller Chaff",
        "Waits for wind; makes some.",
        "The mill is coming. The stone is early.",
        "",
        (-30, 6),
        Day::Wander(3),
    ),
    (
        "pip_plum",
        "Pip",
        "Climbs every tree once.",
        "I can see the sea from up there. Or a puddle.",
        "",
        (6, 20),
        Day::Wander(6),
    ),
];

const PLUMFURROW_HOUSES: &[House] = &[
    ("The Ripe Purse", (9, 4), (10, 7), Side::S),
    ("The Tilted Barrel", (-20, 2), (12, 8), Side::E),
    ("Big Barn", (8, -12), (14, 9), Side::N),
    ("Furrow House", (-22, -11), (10, 8), Side::E),
    ("Henhouse, for people", (26, 4), (8, 7), Side::S),
    ("Miller's House", (-34, 2), (9, 8), Side::S),
];

/// Plumfurrow: furrows, orchards, beasts, and a village between them.
pub(crate) fn plumfurrow(ground: &mut Ground) -> Built {
    let about = "Straight furrows, round plums, and a scarecrow on the council.";
    let mut t = Town::new(
        ground,
        "plumfurrow",
        "Plumfurrow",
        about,
        (-200, -60),
        (44, 40),
        "farmland",
    );
    for (min, max) in [
        ((-40, 12), (-14, 34)),
        ((14, 14), (38, 34)),
        ((-40, -34), (-16, -14)),
        ((16, -36), (40, -14)),
    ] {
        t.rect("farmland", min, max);
        t.ring("hedge", (min.0 - 1, min.1 - 1), (max.0 + 1, max.1 + 1));
        let gate = if min.0 < 0 { max.0 + 1 } else { min.0 - 1 };
        let middle = (min.1 + max.1) / 2;
        t.rect("dirt", (gate, middle), (gate, middle + 1));
    }
    t.line("road", 3, &[(30, 0), (-6, 0)]);
    t.line("road", 3, &[(-5, 40), (-2, 0), (2, -30), (8, -40)]);
    t.disc("plaza", (0, 0), 7);
    houses(&mut t, PLUMFURROW_HOUSES);
    t.station("bank", "Counter of the Ripe Purse", (14, 8));
    t.station("range", "", (-16, 7));
    t.station("well", "", (-3, 4));
    t.station("stall", "Stall of plums, plum jam, and jam jars", (3, 4));
    t.station(
        "signpost",
        "E Tilestead, N Cobble Deep, S Tidewick",
        (4, -4),
    );
    t.lamps(&[(-6, -5), (7, 5), (20, 2), (-6, 12), (3, -14)]);
    life(&mut t);
    people(&mut t, PLUMFURROW_PEOPLE);
    t.built()
}

/// What grows and grazes there.
fn life(t: &mut Town) {
    t.trees(
        "tree_plum",
        &[
            (-10, 16),
            (-10, 20),
            (-10, 24),
            (-10, 28),
            (4, 16),
            (4, 20),
            (4, 24),
        ],
    );
    t.trees(
        "tree_plum",
        &[
            (9, 18),
            (9, 22),
            (9, 26),
            (9, 30),
            (4, 29),
            (-10, -20),
            (-10, -24),
        ],
    );
    t.trees(
        "tree_plum",
        &[
            (-10, -28),
            (-6, -22),
            (-6, -26),
            (12, -22),
            (12, -27),
            (12, -32),
        ],
    );
    t.animals("opinionated_hen", (-28, 22), 7, 7);
    t.animals("woolly_philosopher", (26, 24), 8, 6);
    t.animals("patient_cow", (-28, -24), 8, 6);
    t.animals("woolly_philosopher", (28, -25), 8, 5);
}
