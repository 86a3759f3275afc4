//! Chance that a try brings something: by the thing and by the tool.

use crate::features::skilling::chance::Rate;

/// Metals of tools, the worst first, each with its hundredths of the rate for the first.
const TIERS: [(&str, u32); 9] = [
    ("bronze", 100),
    ("iron", 150),
    ("steel", 200),
    ("black", 200),
    ("mithril", 250),
    ("adamant", 300),
    ("rune", 350),
    ("dragon", 375),
    ("crystal", 375),
];

/// Metals of the content that ships, each with the metal that it equals.
const AS_GOOD_AS: [(&str, &str); 3] = [
    ("cobalt", "mithril"),
    ("wolfram", "adamant"),
    ("starglass", "rune"),
];

/// Trees by the level that they take: the rates with bronze, iron, steel, mithril, adamant, rune
/// and dragon. The last number is the ticks for which a tree stands while players cut it; 0: each
/// log may be the last.
const TREES: [(u32, [Rate; 7], u32); 7] = [
    (
        1,
        [
            (64, 200),
            (96, 300),
            (128, 400),
            (160, 500),
            (192, 600),
            (224, 700),
            (240, 750),
        ],
        0,
    ),
    (
        15,
        [
            (32, 100),
            (48, 150),
            (64, 200),
            (80, 250),
            (96, 300),
            (112, 350),
            (120, 375),
        ],
        45,
    ),
    (
        30,
        [
            (16, 50),
            (24, 75),
            (32, 100),
            (40, 125),
            (48, 150),
            (56, 175),
            (60, 187),
        ],
        50,
    ),
    (
        35,
        [
            (15, 46),
            (23, 70),
            (31, 93),
            (39, 117),
            (47, 140),
            (55, 164),
            (60, 190),
        ],
        50,
    ),
    (
        45,
        [
            (8, 25),
            (12, 37),
            (16, 50),
            (20, 62),
            (24, 75),
            (28, 87),
            (30, 93),
        ],
        100,
    ),
    (
        60,
        [
            (4, 12),
            (6, 19),
            (8, 25),
            (10, 31),
            (12, 37),
            (14, 44),
            (15, 47),
        ],
        190,
    ),
    (
        75,
        [(2, 6), (3, 9), (4, 12), (5, 15), (6, 18), (7, 21), (7, 22)],
        390,
    ),
];
/// The same of the very greatest trees.
const GREATEST_TREE: (u32, u32) = (90, 440);

/// Ores by a part of their item's id.
const ORES: [(&str, Rate); 10] = [
    ("copper", (100, 350)),
    ("tin_", (100, 350)),
    ("iron", (96, 350)),
    ("silver", (25, 200)),
    ("coal", (16, 100)),
    ("gold", (7, 75)),
    ("mithril", (4, 50)),
    ("adamant", (2, 25)),
    ("runite", (1, 18)),
    ("essence", (256, 256)),
];
/// A rock that never empties.
pub(crate) const ENDLESS: Rate = (256, 256);
/// Other rocks, by the level that they take.
const ROCKS: [(u32, Rate); 8] = [
    (1, (100, 350)),
    (15, (96, 350)),
    (20, (25, 200)),
    (30, (16, 100)),
    (40, (7, 75)),
    (55, (4, 50)),
    (70, (2, 25)),
    (85, (1, 18)),
];
/// Fish without a rate in content, by the level that they take.
const FISH: [(u32, Rate); 9] = [
    (1, (48, 127)),
    (10, (32, 115)),
    (15, (40, 127)),
    (20, (32, 120)),
    (25, (24, 105)),
    (40, (16, 95)),
    (50, (16, 90)),
    (62, (16, 100)),
    (76, (8, 75)),
];

/// Returns the place of a metal among those of tools; an unknown one is no better than the worst.
pub(crate) fn tier(name: &str) -> usize {
    let as_good = AS_GOOD_AS.iter().find(|(metal, _)| *metal == name);
    let name = as_good.map_or(name, |(_, tier)| *tier);
    let known = TIERS.iter().position(|(tier, _)| *tier == name);
    known.unwrap_or(0)
}

/// Returns the rate for a tree that takes `level`, cut with a tool of `tier`. `said`: the rate in
/// content for the worst tool.
pub(crate) fn tree(level: u32, tier: usize, said: Option<Rate>) -> Rate {
    let (_, hundredths) = TIERS.get(tier).copied().unwrap_or(TIERS[0]);
    if let Some((low, high)) = said {
        let with = |rate: u32| rate.saturating_mul(hundredths) / 100;
        return (with(low), with(high));
    }
    // Black has no rate of its own, and crystal is as good as dragon.
    let column = [0, 1, 2, 2, 3, 4, 5, 6, 6];
    let column = column.get(tier).copied().unwrap_or(0);
    let row = TREES.iter().rev().find(|(least, ..)| *least <= level);
    let (_, rates, _) = row.unwrap_or(&TREES[0]);
    rates.get(column).copied().unwrap_or(rates[0])
}

/// Returns the ticks for which a tree that takes `level` stands being cut; `None`: each log may be
/// the last.
pub(crate) fn stands_ticks(level: u32) -> Option<u32> {
    if level >= GREATEST_TREE.0 {
        return Some(GREATEST_TREE.1);
    }
    let row = TREES.iter().rev().find(|(least, ..)| *least <= level);
    row.map(|(.., ticks)| *ticks).filter(|ticks| *ticks > 0)
}

/// Returns the rate for a rock that takes `level` and gives `item`.
pub(crate) fn rock(level: u32, item: &str, said: Option<Rate>) -> Rate {
    let named = ORES.iter().find(|(part, _)| item.contains(part));
    said.or(named.map(|(_, rate)| *rate))
        .unwrap_or_else(|| by_level(&ROCKS, level))
}

/// Returns the rate for a fish that takes `level`.
pub(crate) fn fish(level: u32, said: Option<Rate>) -> Rate {
    said.unwrap_or_else(|| by_level(&FISH, level))
}

fn by_level(rows: &[(u32, Rate)], level: u32) -> Rate {
    let row = rows.iter().rev().find(|(least, _)| *least <= level);
    row.or(rows.first()).map_or((0, 0), |(_, rate)| *rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_reference() {
        assert_eq!(tree(1, tier("bronze"), None), (64, 200));
        assert_eq!(tree(14, tier("rune"), None), (224, 700));
        assert_eq!(tree(15, tier("black"), None), tree(15, tier("steel"), None));
        assert_eq!(tree(37, tier("mithril"), None), (39, 117));
        assert_eq!(tree(99, tier("crystal"), None), (7, 22));
        assert_eq!(tree(1, tier("cheese"), None), (64, 200));
        assert_eq!(tree(1, tier("cobalt"), None), (160, 500));
        assert_eq!(tree(75, tier("starglass"), None), (7, 21));
        assert_eq!(tree(60, tier("steel"), Some((10, 20))), (20, 40));
        let ores = [
            (1, "copper_ore", (100, 350)),
            (1, "tin_ore", (100, 350)),
            (15, "iron_ore", (96, 350)),
            (40, "gold_ore", (7, 75)),
            (50, "coal", (16, 100)),
            (65, "mithril_ore", (4, 50)),
            (80, "adamantite_ore", (2, 25)),
            (90, "runite_ore", (1, 18)),
            (1, "rune_essence", (256, 256)),
            (1, "clay", (100, 350)),
            (60, "starglass_shard", (4, 50)),
        ];
        for (level, item, rate) in ores {
            assert_eq!(rock(level, item, None), rate, "{item}");
        }
        assert_eq!(rock(1, "copper_ore", Some((3, 4))), (3, 4));
        assert_eq!((fish(1, None), fish(99, None)), ((48, 127), (8, 75)));
    }

    #[test]
    fn trees_stand_as_long_as_the_reference_says() {
        let levels = [1, 14, 15, 30, 35, 45, 50, 60, 75, 90];
        let ticks = [0, 0, 45, 50, 50, 100, 100, 190, 390, 440];
        for (level, ticks) in levels.into_iter().zip(ticks) {
            assert_eq!(stands_ticks(level).unwrap_or(0), ticks, "{level}");
        }
    }
}
