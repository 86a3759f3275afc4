//! The towns of the south and the middle, laid by hand.

use crate::ground::Ground;
use crate::town::{Built, Day, Person, Side, Town};

/// id, name, description, greeting, trade, place, day.
pub(crate) type Row<'a> = (
    &'a str,
    &'a str,
    &'a str,
    &'a str,
    &'a str,
    (i32, i32),
    Day<'a>,
);

/// name, south-west corner, size, where the door is.
pub(crate) type House<'a> = (&'a str, (i32, i32), (i32, i32), Side);

pub(crate) fn people(town: &mut Town, rows: &[Row]) {
    for &(id, name, about, says, trade, at, day) in rows {
        town.person(&Person {
            id,
            name,
            about,
            says,
            trade,
            at,
            day,
        });
    }
}

pub(crate) fn houses(town: &mut Town, rows: &[House]) {
    for &(name, at, size, door) in rows {
        town.house(name, at, size, door);
    }
}

/// The walled town in the middle of everything.
pub(crate) fn tilestead(ground: &mut Ground) -> Built {
    let about = "Where all roads meet, mostly to argue about who came first.";
    let mut t = Town::new(
        ground,
        "tilestead",
        "Tilestead",
        about,
        (0, 0),
        (46, 42),
        "commons",
    );
    t.ring("wall", (-43, -39), (43, 39));
    t.line("road", 5, &[(0, -41), (0, 41)]);
    t.line("road", 5, &[(-45, 0), (45, 0)]);
    t.line("dirt", 2, &[(4, 15), (39, 15)]);
    t.line("dirt", 2, &[(-39, 15), (-4, 15)]);
    t.line("dirt", 2, &[(4, -15), (39, -15)]);
    t.line("dirt", 2, &[(-39, -15), (-4, -15)]);
    t.line("dirt", 2, &[(20, 15), (20, 36)]);
    t.line("dirt", 2, &[(-22, 15), (-22, 36)]);
    t.disc("plaza", (0, 0), 13);
    t.rect("water", (-2, -2), (2, 2));
    t.rect("water", (-3, -1), (3, 1));
    t.rect("water", (-1, -3), (1, 3));
    t.ring("hedge", (-38, 27), (-25, 36));
    t.rect("dirt", (-31, 27), (-30, 27));
    t.disc("shallows", (-31, 32), 3);
    streets_of_tilestead(&mut t);
    people_of_tilestead(&mut t);
    t.built()
}

const TILESTEAD_HOUSES: &[House] = &[
    ("The Patient Vault", (15, 5), (12, 9), Side::S),
    ("Hall of Small Decisions", (5, 18), (13, 11), Side::W),
    ("Number Nine", (24, 18), (8, 7), Side::S),
    ("Number Nine and a Half", (34, 18), (8, 7), Side::S),
    ("The House with the Good Light", (31, 5), (9, 8), Side::S),
    ("Potter's House", (23, 28), (10, 8), Side::W),
    ("Sundry & Daughters", (15, -13), (12, 9), Side::N),
    ("The Warm Anvil", (5, -28), (12, 10), Side::W),
    ("The Level Floor Inn", (22, -30), (14, 12), Side::N),
    ("Cartwright's House", (31, -12), (9, 8), Side::N),
    ("Chapel of the Straight Line", (-18, 18), (13, 12), Side::E),
    ("The Quiet Library", (-27, 5), (12, 9), Side::S),
    ("Gardener's House", (-38, 5), (8, 8), Side::S),
    ("Weaver's House", (-35, 17), (9, 8), Side::S),
    ("The Risen Crust", (-27, -13), (12, 9), Side::N),
    ("Hem & Haw, Tailors", (-18, -28), (13, 10), Side::E),
    ("Fletcher's House", (-38, -12), (8, 8), Side::N),
    ("Cooper's House", (-36, -28), (10, 9), Side::N),
];

fn streets_of_tilestead(t: &mut Town) {
    houses(t, TILESTEAD_HOUSES);
    t.station("bank", "Counter of the Patient Vault", (18, 10));
    t.station("bank", "Counter of the Patient Vault", (23, 10));
    t.station("furnace", "", (8, -22));
    t.station("anvil", "", (13, -22));
    t.station("anvil", "", (13, -25));
    t.station("range", "", (-24, -8));
    t.station("range", "", (32, -27));
    t.station("altar", "", (-14, 27));
    t.station("well", "", (9, 9));
    t.station("statue", "The Founder, pointing the wrong way", (-9, 9));
    for (at, name) in [
        ((9, -7), "Stall of uncertain vegetables"),
        ((9, -10), "Stall of second-best cheese"),
        ((-9, -7), "Stall of ribbons by the mile"),
        ((-9, -10), "Stall of hot chestnuts"),
    ] {
        t.station("stall", name, at);
    }
    t.station(
        "signpost",
        "N Candlefrost, E Fernhollow, S Tidewick, W Plumfurrow",
        (5, 5),
    );
    life_of_tilestead(t);
}

fn life_of_tilestead(t: &mut Town) {
    t.lamps(&[(-4, 14), (4, 14), (-4, -14), (4, -14), (14, 4), (14, -4)]);
    t.lamps(&[(-14, 4), (-14, -4), (-4, 30), (4, 33), (4, -34), (-4, -34)]);
    t.lamps(&[(29, 3), (29, -3), (-29, 3), (-29, -3), (40, 3), (-40, -3)]);
    t.trees(
        "tree_oak",
        &[
            (36, 30),
            (39, 33),
            (36, 35),
            (-28, 34),
            (-36, 29),
            (-35, 35),
        ],
    );
    t.trees(
        "tree_normal",
        &[
            (38, -20),
            (40, -26),
            (38, -34),
            (8, -33),
            (14, -35),
            (-8, -33),
        ],
    );
    t.trees(
        "tree_normal",
        &[
            (-13, -35),
            (-25, -34),
            (8, 33),
            (13, 36),
            (-8, 34),
            (-14, 35),
        ],
    );
    t.animals("town_cat", (6, -6), 12, 3);
    t.animals("pigeon", (-5, 6), 9, 8);
    t.animals("duck", (-31, 30), 3, 3);
    t.animals("opinionated_hen", (37, 31), 4, 4);
}

const WALL: &[(i32, i32)] = &[(1, -37), (41, -37), (41, -5), (41, -37), (-22, -37)];
const STREET: &[(i32, i32)] = &[(1, 35), (1, 8), (8, 1), (38, 1)];

const TILESTEAD_PEOPLE: &[Row] = &[
    (
        "ada_vault",
        "Ada Vault",
        "Counts under her breath, and sometimes over it.",
        "Everything you leave here stays here. That is the whole trick.",
        "banker",
        (18, 12),
        Day::Stand,
    ),
    (
        "bert_vault",
        "Bert Vault",
        "Her brother. Guards the ink.",
        "Ada does the sums. I do the stamping.",
        "banker",
        (23, 12),
        Day::Stand,
    ),
    (
        "mina_sundry",
        "Mina Sundry",
        "Owns one of everything and two of most.",
        "If I do not have it, you do not need it.",
        "shop:sundry_and_daughters",
        (20, -10),
        Day::Stand,
    ),
    (
        "hobb_anvil",
        "Hobb Anvil",
        "A smith with a light touch, and a heavy one for the anvil.",
        "Hot side away from you. That is lesson one to nine.",
        "shop:warm_anvil",
        (11, -23),
        Day::Wander(2),
    ),
    (
        "olla_floor",
        "Olla Floor",
        "Landlady of the Level Floor, which is not.",
        "Sit where you like. The stools slide to the middle anyway.",
        "",
        (28, -24),
        Day::Wander(4),
    ),
    (
        "piet_crust",
        "Piet Crust",
        "Up since yesterday.",
        "Bread is patience with a crust on it.",
        "shop:risen_crust",
        (-21, -9),
        Day::Stand,
    ),
    (
        "sister_plumb",
        "Sister Plumb",
        "Preaches the straight line and walks in circles.",
        "Be upright. If you cannot, lean on something that is.",
        "",
        (-12, 24),
        Day::Wander(3),
    ),
    (
        "dorrit_page",
        "Dorrit Page",
        "Librarian. Shushes the weather.",
        "You may read anything here but me.",
        "trainer",
        (-21, 9),
        Day::Wander(3),
    ),
    (
        "mayor_grout",
        "Mayor Grout",
        "Holds the town together by filling the gaps.",
        "I promised drains. I did not promise when.",
        "quest",
        (10, 23),
        Day::Wander(3),
    ),
    (
        "hem",
        "Hem",
        "Half of a tailor's.",
        "Ask Haw.",
        "",
        (-13, -22),
        Day::Wander(2),
    ),
    (
        "haw",
        "Haw",
        "The other half.",
        "Ask Hem.",
        "",
        (-10, -24),
        Day::Wander(2),
    ),
    (
        "wick_lamplighter",
        "Wick the Lamplighter",
        "Starts at dusk, finishes at dawn, wonders why.",
        "Forty-one lamps. I have names for all of them.",
        "",
        (1, 30),
        Day::Patrol(STREET),
    ),
    (
        "sergeant_lintel",
        "Sergeant Lintel",
        "Guards the gate by standing under it.",
        "Mind your head. It is my name and my advice.",
        "",
        (1, 36),
        Day::Stand,
    ),
    (
        "corporal_jamb",
        "Corporal Jamb",
        "Walks the wall, on the inside, where it is warmer.",
        "Nothing to report. I report it hourly.",
        "",
        (1, -37),
        Day::Patrol(WALL),
    ),
    (
        "nettle_stall",
        "Nettle",
        "Sells vegetables she cannot identify either.",
        "It is green. What more do you want from it?",
        "",
        (10, -5),
        Day::Stand,
    ),
    (
        "gaffer_curd",
        "Gaffer Curd",
        "The cheese is second-best because he eats the best.",
        "Smell it first. No, closer.",
        "",
        (11, -9),
        Day::Stand,
    ),
    (
        "ribbon_sal",
        "Ribbon Sal",
        "Measures by eye; has one long arm.",
        "A mile of red is the same length as a mile of blue. Costs more.",
        "",
        (-10, -5),
        Day::Stand,
    ),
    (
        "chestnut_tom",
        "Chestnut Tom",
        "Ten burnt fingers and no regrets.",
        "Careful, they are hot. They are also cold. It depends which.",
        "",
        (-11, -9),
        Day::Stand,
    ),
    (
        "fern_bucket",
        "Fern Bucket",
        "Comes to the well for water and stays for the news.",
        "You did not hear it from me. You heard it from the well.",
        "",
        (8, 7),
        Day::Wander(5),
    ),
    (
        "two_penny_jack",
        "Two-Penny Jack",
        "Plays one song on the lute, in several directions.",
        "Any requests? I know the one.",
        "",
        (-6, 5),
        Day::Wander(6),
    ),
    (
        "little_trivet",
        "Little Trivet",
        "Nine years old and in charge of the pigeons, she says.",
        "That one is Gerald. So is that one.",
        "",
        (4, 8),
        Day::Wander(8),
    ),
    (
        "mossy_spade",
        "Mossy Spade",
        "Gardener. Talks to the hedge; the hedge thickens.",
        "Please keep on the grass. The paths are resting.",
        "",
        (-30, 29),
        Day::Wander(3),
    ),
];

fn people_of_tilestead(t: &mut Town) {
    people(t, TILESTEAD_PEOPLE);
}

const QUAY: &[(i32, i32)] = &[(-34, -21), (36, -21)];

const TIDEWICK_PEOPLE: &[Row] = &[
    (
        "purser_bilge",
        "Purser Bilge",
        "Counts in fathoms.",
        "Your goods are safe. They can swim.",
        "banker",
        (-13, 14),
        Day::Stand,
    ),
    (
        "marla_net",
        "Marla Net",
        "Sells holes tied together with string.",
        "It is all in the knot. The rest is not.",
        "shop:net_and_knot",
        (10, -4),
        Day::Stand,
    ),
    (
        "old_brine",
        "Old Brine",
        "Caught a fish this big. The arms get wider every year.",
        "Patience, a rod, and something to sit on.",
        "trainer",
        (-1, -36),
        Day::Stand,
    ),
    (
        "captain_ebb",
        "Captain Ebb",
        "Has a ship, in a bottle, in the pawnshop.",
        "I sail with the tide. It keeps leaving without me.",
        "quest",
        (23, -36),
        Day::Wander(2),
    ),
    (
        "inspector_tare",
        "Inspector Tare",
        "Weighs everything, including his words.",
        "Anything to declare? Feelings are free.",
        "",
        (-12, -4),
        Day::Wander(3),
    ),
    (
        "drina_anchor",
        "Drina Anchor",
        "Keeps the only dry inn on the coast.",
        "Wipe your feet. And your stories.",
        "",
        (13, 13),
        Day::Wander(4),
    ),
    (
        "rope_hanno",
        "Hanno",
        "Ropemaker. At the end of it.",
        "One end is here. The other will be along.",
        "",
        (-28, -5),
        Day::Wander(3),
    ),
    (
        "widow_kelp",
        "Widow Kelp",
        "Twice widowed by the same man; he keeps coming back.",
        "If he asks, I am out.",
        "",
        (28, 5),
        Day::Wander(4),
    ),
    (
        "dock_warden",
        "Warden Mole",
        "Walks the quay so that it does not wander off.",
        "No running on the planks. You are running. I can tell.",
        "",
        (0, -21),
        Day::Patrol(QUAY),
    ),
    (
        "pearl_shells",
        "Pearl",
        "Her sales pitch is mostly a whelk.",
        "Hold it to your ear. That is the sea asking for it back.",
        "",
        (-9, -22),
        Day::Stand,
    ),
    (
        "keeper_beam",
        "Keeper Beam",
        "Keeps the light. From whom is unclear.",
        "Night shift. Every shift is the night shift.",
        "",
        (35, -16),
        Day::Wander(2),
    ),
];

const TIDEWICK_HOUSES: &[House] = &[
    ("Harbour Bank", (-18, 8), (11, 8), Side::S),
    ("The Dry Anchor", (6, 8), (15, 11), Side::S),
    ("Net & Knot", (5, -9), (11, 9), Side::N),
    ("Customs House", (-18, -9), (12, 9), Side::N),
    ("Ropewalk", (-35, -8), (14, 6), Side::N),
    ("Captain's House", (-34, 8), (9, 8), Side::S),
    ("Smokehouse", (20, -9), (9, 8), Side::N),
    ("Widow Kelp's House", (25, 8), (8, 8), Side::S),
    ("Crooked Cottage", (-12, 22), (8, 8), Side::E),
    ("Lighthouse", (33, -14), (6, 6), Side::S),
];

/// The harbour on the south coast.
pub(crate) fn tidewick(ground: &mut Ground) -> Built {
    let about = "A harbour that smells of fish, tar and ambition, in that order.";
    let mut t = Town::new(
        ground,
        "tidewick",
        "Low Tidewick",
        about,
        (-40, -238),
        (42, 44),
        "seaside",
    );
    t.rect("plaza", (-36, -24), (38, -18));
    t.line("road", 4, &[(0, 24), (0, -18)]);
    t.line("road", 3, &[(-40, 4), (40, 4)]);
    for x in [-26, -2, 22] {
        t.rect("bridge", (x, -40), (x + 2, -24));
    }
    t.rect("bridge", (-30, -41), (-20, -38));
    t.rect("bridge", (18, -41), (28, -38));
    houses(&mut t, TIDEWICK_HOUSES);
    t.station("bank", "Counter of the Harbour Bank", (-13, 13));
    t.station("range", "Smokehouse range", (24, -4));
    t.station("range", "", (16, 15));
    t.station("well", "", (6, 1));
    t.station(
        "stall",
        "Stall of fish that were here a moment ago",
        (12, -20),
    );
    t.station("stall", "Stall of shells, mostly empty", (-10, -20));
    t.station("signpost", "N Tilestead, E Bogwater, W Plumfurrow", (4, 22));
    t.lamps(&[
        (-34, -19),
        (-14, -19),
        (5, -19),
        (19, -19),
        (35, -19),
        (-4, 8),
        (3, 15),
    ]);
    t.lamps(&[(-30, 1), (-16, 1), (18, 1), (32, 1)]);
    t.trees(
        "tree_palm",
        &[
            (-38, -15),
            (38, 14),
            (-6, 17),
            (-37, 22),
            (30, 24),
            (14, 26),
            (-26, 24),
        ],
    );
    t.animals("harbour_gull", (8, -21), 8, 7);
    t.animals("town_cat", (-8, -14), 8, 3);
    t.animals("sidestep_crab", (34, -23), 4, 3);
    people(&mut t, TIDEWICK_PEOPLE);
    t.built()
}
