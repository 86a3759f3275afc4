//! The smaller towns at the edges, laid by hand.

use crate::ground::Ground;
use crate::town::{Built, Day, Side, Town};
use crate::towns::{House, Row, houses, people};

const FERNHOLLOW_PEOPLE: &[Row] = &[
    (
        "bark_the_banker",
        "Bark",
        "Saves for winter, and for the winter after.",
        "Squirrels trust us. Well, one does.",
        "banker",
        (14, 9),
        Day::Stand,
    ),
    (
        "yara_bowyer",
        "Yara Bowyer",
        "Bends wood until it gives in.",
        "The arrow knows the way. You only have to let go.",
        "shop:bent_bough",
        (-13, 9),
        Day::Wander(2),
    ),
    (
        "elder_moss",
        "Elder Moss",
        "Older than the path. Softer, too.",
        "Rest a while. The trees are not going anywhere, and they are ahead of us all.",
        "quest",
        (-2, 3),
        Day::Wander(5),
    ),
    (
        "sawyer_finn",
        "Sawyer Finn",
        "Apologises to each tree. Takes a while.",
        "Swing, sorry, swing, sorry. You get a rhythm.",
        "trainer",
        (-14, 22),
        Day::Wander(3),
    ),
    (
        "owl_agnes",
        "Agnes",
        "Lives with an owl that does the listening.",
        "Who? Exactly.",
        "",
        (7, 20),
        Day::Wander(3),
    ),
    (
        "ranger_tansy",
        "Ranger Tansy",
        "Ranges.",
        "Bears? No. Boars? Yes. Bores? The inn.",
        "",
        (-28, 1),
        Day::Patrol(&[(-28, 1), (0, 1)]),
    ),
    (
        "lost_postman",
        "The Postman",
        "Has a letter for Fernhollow. Cannot find it.",
        "Excuse me, is this Fernhollow? No? Thank you.",
        "",
        (4, -14),
        Day::Wander(9),
    ),
];

const FERNHOLLOW_HOUSES: &[House] = &[
    ("The Hollow Trunk", (8, 4), (11, 8), Side::W),
    ("Bowyer's House", (-19, 6), (11, 8), Side::E),
    ("Moss Cottage", (-20, -14), (9, 8), Side::E),
    ("Fern Cottage", (-9, -20), (8, 7), Side::N),
    ("House of the Listening Owl", (3, 17), (9, 8), Side::W),
    ("Sawyer's House", (-18, 19), (9, 8), Side::E),
];

/// The village among the trees, in the east.
pub(crate) fn fernhollow(ground: &mut Ground) -> Built {
    let about = "A village so well hidden that the post is still looking for it.";
    let mut t = Town::new(
        ground,
        "fernhollow",
        "Fernhollow",
        about,
        (205, 20),
        (34, 34),
        "forest",
    );
    t.disc("grass", (0, 0), 24);
    t.line("dirt", 3, &[(-32, 0), (0, 0), (-3, 20), (-5, 33)]);
    t.line("dirt", 3, &[(0, 0), (5, -18), (0, -33)]);
    t.disc("meadow", (0, 0), 8);
    t.disc("shallows", (13, -12), 5);
    t.disc("water", (13, -12), 3);
    houses(&mut t, FERNHOLLOW_HOUSES);
    t.station("bank", "The Hollow Trunk's Hollow", (15, 7));
    t.station("well", "", (-4, 4));
    t.station("range", "", (-15, -9));
    t.station(
        "signpost",
        "W Tilestead, N Last Kettle, S Bogwater",
        (-6, -4),
    );
    t.station("altar", "Altar of the Unhurried Oak", (4, -4));
    t.lamps(&[(-12, 3), (3, 4), (-3, 12), (1, -12), (-24, -3)]);
    t.trees(
        "tree_oak",
        &[
            (-7, 9),
            (7, -8),
            (20, 0),
            (-9, -9),
            (22, -6),
            (-25, 6),
            (-6, 26),
        ],
    );
    t.trees(
        "tree_oak",
        &[
            (14, 16),
            (18, 22),
            (-25, -20),
            (12, -24),
            (24, 16),
            (-14, -26),
        ],
    );
    t.trees("tree_willow", &[(8, -16), (19, -16), (13, -19)]);
    t.animals("curious_squirrel", (0, 8), 12, 5);
    t.animals("deer", (20, -2), 9, 3);
    t.animals("duck", (9, -9), 3, 3);
    people(&mut t, FERNHOLLOW_PEOPLE);
    t.built()
}

const COBBLE_DEEP_PEOPLE: &[Row] = &[
    (
        "deposit_gert",
        "Gert Deposit",
        "Digs holes, puts money in, forgets where. Nearly.",
        "Safe as rocks. The deep ones.",
        "banker",
        (15, 10),
        Day::Stand,
    ),
    (
        "smelter_olm",
        "Smelter Olm",
        "Eyebrows optional.",
        "Ore in, bar out, do not lick it.",
        "shop:melting_point",
        (-13, 8),
        Day::Wander(2),
    ),
    (
        "foreman_flint",
        "Foreman Flint",
        "Has never been on the surface this long.",
        "Left is copper, right is tin, straight on is trouble.",
        "trainer",
        (3, -8),
        Day::Wander(4),
    ),
    (
        "pebble",
        "Pebble",
        "Collects small stones in a mine. Rich, in a way.",
        "This one is my favourite. No, this one.",
        "",
        (-1, 5),
        Day::Wander(6),
    ),
    (
        "lamp_ida",
        "Lamp Ida",
        "Brightens every room, for a fee.",
        "Dark outside? Darker down there. Oil?",
        "",
        (-4, -6),
        Day::Stand,
    ),
    (
        "echo_bren",
        "Bren",
        "Used to work alone. Now has an echo.",
        "Hello... hello... hello.",
        "",
        (1, 14),
        Day::Wander(3),
    ),
    (
        "shelf_dora",
        "Dora Shelf",
        "Cooks stew by the shaft-load.",
        "It was rabbit. It is stew now. We do not look back.",
        "",
        (-14, -9),
        Day::Wander(3),
    ),
];

const COBBLE_DEEP_HOUSES: &[House] = &[
    ("The Deep Deposit", (9, 5), (11, 8), Side::W),
    ("The Melting Point", (-21, 4), (12, 9), Side::E),
    ("The Lower Shelf", (-20, -14), (12, 9), Side::E),
    ("Foreman's House", (8, -19), (9, 8), Side::W),
    ("Bunkhouse", (-5, 11), (11, 8), Side::S),
];

/// The miners' town in the hills.
pub(crate) fn cobble_deep(ground: &mut Ground) -> Built {
    let about = "They dug for copper, found tin, and called it a day. It was night.";
    let mut t = Town::new(
        ground,
        "cobble_deep",
        "Cobble Deep",
        about,
        (-200, 136),
        (36, 26),
        "hills",
    );
    t.disc("dirt", (0, 0), 22);
    t.line("road", 3, &[(-2, -26), (0, 0), (35, -7)]);
    t.disc("plaza", (0, 0), 8);
    houses(&mut t, COBBLE_DEEP_HOUSES);
    t.station("bank", "Counter of the Deep Deposit", (15, 9));
    t.station("furnace", "", (-17, 8));
    t.station("furnace", "", (-17, 11));
    t.station("anvil", "", (-13, 11));
    t.station("well", "", (5, 3));
    t.station("stall", "Stall of lamps and lamp oil", (-5, -4));
    t.station(
        "signpost",
        "E Tilestead, S Plumfurrow, down copper",
        (4, -5),
    );
    t.lamps(&[(-8, 4), (7, 5), (-4, -9), (4, -12), (14, -6), (-2, 9)]);
    t.animals("mountain_goat", (20, -10), 8, 3);
    t.animals("town_cat", (-6, 2), 6, 1);
    people(&mut t, COBBLE_DEEP_PEOPLE);
    t.built()
}

const CANDLEFROST_PEOPLE: &[Row] = &[
    (
        "asset_ingrid",
        "Ingrid Asset",
        "Froze your account. They all are.",
        "It keeps longer in the cold.",
        "banker",
        (13, 15),
        Day::Stand,
    ),
    (
        "chandler_wyn",
        "Chandler Wyn",
        "Two hundred candles, one birthday.",
        "Burn it at one end first. Then we talk.",
        "shop:wyns_wicks",
        (17, -10),
        Day::Wander(2),
    ),
    (
        "log_torsten",
        "Torsten Log",
        "Named the inn after what was left in the fire.",
        "Come in, come in, and shut... thank you.",
        "",
        (-14, 13),
        Day::Wander(3),
    ),
    (
        "aunt_mitten",
        "Aunt Mitten",
        "Knits for the whole town. One at a time, left hands first.",
        "Hold still. You are a medium.",
        "quest",
        (4, 3),
        Day::Wander(5),
    ),
    (
        "skater_nils",
        "Nils",
        "Skates backwards so nobody can follow him.",
        "It holds! It usually holds!",
        "",
        (-18, -20),
        Day::Wander(5),
    ),
    (
        "watch_frida",
        "Watchwoman Frida",
        "Watches the snow. It has not tried anything.",
        "Halt! ...Sorry. It gets quiet.",
        "",
        (1, -26),
        Day::Patrol(&[(1, -26), (1, -2), (26, 1)]),
    ),
    (
        "astronomer_zeb",
        "Zeb",
        "Astronomer. Best sky in the world, worst heating.",
        "That one is new. No, that was a snowflake.",
        "trainer",
        (-2, 19),
        Day::Wander(2),
    ),
];

const CANDLEFROST_HOUSES: &[House] = &[
    ("The Frozen Asset", (8, 10), (11, 8), Side::S),
    ("The Last Log", (-21, 8), (12, 9), Side::E),
    ("Chandler's House", (13, -14), (10, 8), Side::N),
    ("House of Nine Blankets", (-5, 21), (10, 7), Side::S),
    ("Mitten House", (19, 20), (9, 7), Side::S),
    ("Stove House", (-26, 20), (9, 7), Side::S),
    ("Skater's House", (-14, -12), (8, 7), Side::E),
];

/// The town in the snow.
pub(crate) fn candlefrost(ground: &mut Ground) -> Built {
    let about = "Every window has a candle. Every candle has a complaint about the draught.";
    let mut t = Town::new(
        ground,
        "candlefrost",
        "Candlefrost",
        about,
        (40, 250),
        (34, 32),
        "snowfield",
    );
    t.line("road", 3, &[(0, -30), (0, 22)]);
    t.line("road", 3, &[(-28, 0), (28, 0)]);
    t.disc("plaza", (0, 0), 10);
    t.disc("ice", (-18, -18), 8);
    t.ring("wall", (-31, -29), (31, 29));
    t.rect("road", (-1, -30), (1, -28));
    houses(&mut t, CANDLEFROST_HOUSES);
    t.station("bank", "Counter of the Frozen Asset", (13, 14));
    t.station("range", "The stove everybody stands at", (-17, 12));
    t.station("furnace", "", (20, -10));
    t.station("altar", "Altar of the Small Flame", (0, 5));
    t.station("well", "", (6, -5));
    t.station("signpost", "S Tilestead, everything is S", (-4, -8));
    t.lamps(&[
        (-9, 3),
        (9, 3),
        (-9, -3),
        (9, -3),
        (3, 13),
        (-3, 16),
        (3, -14),
        (-3, -22),
    ]);
    t.lamps(&[(20, 3), (-24, 3), (20, -3), (-22, -3), (3, -24)]);
    t.trees(
        "tree_pine",
        &[
            (26, 14),
            (28, -8),
            (-28, 12),
            (14, -22),
            (22, -22),
            (-28, -10),
        ],
    );
    t.trees(
        "tree_pine",
        &[(9, 25), (-12, 26), (28, 5), (-6, -26), (27, -26)],
    );
    t.animals("snow_hare", (22, -20), 6, 3);
    t.animals("penguin_accountant", (-18, -18), 6, 4);
    people(&mut t, CANDLEFROST_PEOPLE);
    t.built()
}

const BOGWATER_PEOPLE: &[Row] = &[
    (
        "sump_edda",
        "Edda Fund",
        "The deposits go down by themselves.",
        "We keep everything on the second floor. This is the third.",
        "banker",
        (11, 11),
        Day::Stand,
    ),
    (
        "granny_sump",
        "Granny Sump",
        "Her soup has a current.",
        "Stir against the eel, dear, never with it.",
        "shop:granny_sumps",
        (-13, 6),
        Day::Wander(2),
    ),
    (
        "eel_morris",
        "Morris",
        "Wrestles eels. The eels do not know.",
        "Slippery business. No, I mean it.",
        "",
        (8, -14),
        Day::Wander(3),
    ),
    (
        "frogwife",
        "The Frogwife",
        "Kissed one once. Kept looking.",
        "They are all princes if you lower your standards.",
        "quest",
        (-7, 19),
        Day::Wander(2),
    ),
    (
        "stilt_mender",
        "Stilt-Mender Joss",
        "Four legs: two his, two under repair.",
        "Up a bit. Up a bit more. It is always up.",
        "",
        (1, 14),
        Day::Patrol(&[(0, 24), (0, 0), (-20, -1)]),
    ),
    (
        "damp_ulla",
        "Ulla Damp",
        "Keeps beds. Also newts, in the beds.",
        "The sheets are fresh. It rained in.",
        "",
        (-9, -12),
        Day::Wander(2),
    ),
];

const BOGWATER_HOUSES: &[House] = &[
    ("The Sinking Fund", (5, 6), (10, 8), Side::W),
    ("Granny Sump's", (-17, 3), (10, 8), Side::S),
    ("Eel House", (5, -18), (10, 8), Side::W),
    ("The Damp Bed", (-16, -16), (11, 9), Side::E),
    ("Frogwife's House", (-12, 16), (9, 8), Side::E),
];

/// The houses on stilts in the swamp.
pub(crate) fn bogwater(ground: &mut Ground) -> Built {
    let about = "Twelve houses on stilts, of which four are still arguing with the mud.";
    let mut t = Town::new(
        ground,
        "bogwater",
        "Bogwater-on-Stilts",
        about,
        (215, -172),
        (30, 28),
        "swamp",
    );
    t.disc("shallows", (0, 0), 25);
    t.line("bridge", 3, &[(-26, -2), (0, 0), (0, 27)]);
    t.line("bridge", 3, &[(0, 0), (20, -4)]);
    t.line("bridge", 2, &[(0, 0), (2, -20)]);
    t.disc("bridge", (0, 0), 6);
    houses(&mut t, BOGWATER_HOUSES);
    t.station("bank", "Counter of the Sinking Fund", (11, 10));
    t.station("range", "Granny Sump's cauldron", (-12, 7));
    t.station("altar", "Altar of What the Mud Took", (17, -2));
    t.station("signpost", "N Fernhollow, W Tidewick, down mud", (-4, 3));
    t.lamps(&[(4, 4), (-4, -4), (4, -5), (2, 17), (-15, 0), (12, -5)]);
    t.trees(
        "tree_willow",
        &[
            (18, 12),
            (-22, 12),
            (20, -16),
            (-22, -12),
            (-4, -23),
            (16, 18),
        ],
    );
    t.animals("bog_toad", (-14, -4), 8, 6);
    t.animals("heron", (14, -8), 7, 3);
    people(&mut t, BOGWATER_PEOPLE);
    t.built()
}

const LAST_KETTLE_PEOPLE: &[Row] = &[
    (
        "enough_sid",
        "Sid Enough",
        "Insures everything but himself.",
        "Leave it here. You can collect it if you come back.",
        "banker",
        (11, 10),
        Day::Stand,
    ),
    (
        "kettle_rosa",
        "Rosa Kettle",
        "Pours. Asks nothing. Remembers what you had.",
        "Milk? It will be cheese by the time you return.",
        "",
        (-7, 7),
        Day::Wander(2),
    ),
    (
        "outfitter_quill",
        "Quill",
        "Sells rope, lamps and doubts.",
        "The doubts are free.",
        "shop:second_thoughts",
        (9, -7),
        Day::Wander(2),
    ),
    (
        "sentry_ember",
        "Sentry Ember",
        "Faces the ash. Has a tan on one side.",
        "Out is easy. I only ever count them in.",
        "",
        (16, 3),
        Day::Patrol(&[(16, 3), (1, 1)]),
    ),
];

const LAST_KETTLE_HOUSES: &[House] = &[
    ("The Kettle", (-14, 3), (11, 8), Side::E),
    ("Outfitter of Second Thoughts", (5, -11), (10, 8), Side::W),
    ("Safe Enough", (5, 5), (9, 7), Side::S),
];

/// The last tea before the ash.
pub(crate) fn last_kettle(ground: &mut Ground) -> Built {
    let about = "The last hot drink before everything else is hot as well.";
    let mut t = Town::new(
        ground,
        "last_kettle",
        "Last Kettle",
        about,
        (188, 212),
        (22, 18),
        "hills",
    );
    t.disc("dirt", (0, 0), 15);
    t.ring("wall", (-18, -14), (18, 14));
    t.line("road", 3, &[(-3, -17), (0, 0), (21, 3)]);
    t.disc("plaza", (0, 0), 5);
    houses(&mut t, LAST_KETTLE_HOUSES);
    t.station("bank", "Counter of Safe Enough", (11, 9));
    t.station("range", "The Kettle itself", (-10, 7));
    t.station("anvil", "", (-8, -6));
    t.station("furnace", "", (-11, -6));
    t.station("signpost", "W and S home, E Cinderlea: why?", (4, -3));
    t.lamps(&[(-4, -10), (4, 2), (-4, 2), (15, 5), (15, 0)]);
    people(&mut t, LAST_KETTLE_PEOPLE);
    t.built()
}
