//! Anything that players may ask, and that may be done to them.

use std::sync::Arc;

use proptest::prelude::*;
use world::agents::TRAINED;
use world::content::EquipSlot;
use world::{
    AgentWord, Arrange, EntityId, Goal, Intent, Orders, RecipeKind, Region, Skill, Style, Tile,
    bank, combat, death, dialogue, equipment, examine, ground_items, home_teleport, movement, pack,
    prayer, quests, shop, skilling, use_item,
};

/// Events that may happen to one of a few players at a tick's edge.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Join {
        who: u8,
        tile: Tile,
        region: Region,
        path: Vec<Tile>,
        energy: u32,
    },
    Ask {
        who: u8,
        intent: Intent,
    },
    Hold {
        who: u8,
        held: bool,
    },
    Belong {
        who: u8,
        region: Region,
    },
    Leave {
        who: u8,
    },
    /// Asks for one of the things that lie about.
    Take {
        who: u8,
        which: u8,
    },
    /// Something about a trade of its own, or about none.
    Trade {
        who: u8,
        what: u8,
        slot: u8,
        many: u32,
    },
    /// Word from the store or the player's gateway about an agent.
    Agent {
        who: u8,
        word: AgentWord,
    },
    /// Whether items and coins may change owners in this tick.
    Value(world::Value),
}

pub(super) fn tile() -> impl Strategy<Value = Tile> {
    let near = (-130..130, -130..130).prop_map(|(x, z)| Tile::new(x, z));
    let middle = (-12..76, -12..40).prop_map(|(x, z)| Tile::new(x, z));
    let any = (any::<i32>(), any::<i32>()).prop_map(|(x, z)| Tile::new(x, z));
    let ends = [i32::MIN, i32::MIN + 1, -1, 0, i32::MAX - 1, i32::MAX];
    let ends = (
        prop::sample::select(ends.to_vec()),
        prop::sample::select(ends.to_vec()),
    );
    let ends = ends.prop_map(|(x, z)| Tile::new(x, z));
    prop_oneof![6 => middle, 3 => near, 1 => any, 1 => ends]
}

pub(super) fn region() -> impl Strategy<Value = Region> {
    let here = (-2..2, -2..2).prop_map(|(x, z)| Region { x, z });
    let any = (any::<i32>(), any::<i32>()).prop_map(|(x, z)| Region { x, z });
    prop_oneof![9 => here, 1 => any]
}

pub(super) fn intent() -> impl Strategy<Value = Intent> {
    let targets = ["res:oak:10,10", "npc:field:guard", "p1", "p9", "", "npc:"];
    prop_oneof![
        8 => (tile(), any::<Option<bool>>()).prop_map(|(to, run)| Intent::Movement(movement::Intent::Walk { to, run })),
        1 => any::<bool>().prop_map(|it| Intent::Movement(movement::Intent::Run(it))),
        1 => Just(Intent::Movement(movement::Intent::Stop)),
        1 => prop::sample::select(targets.to_vec())
            .prop_map(|t| Intent::Examine(examine::Intent::Examine { target: EntityId::from(t) })),
        1 => prop::sample::select(targets.to_vec())
            .prop_map(|t| Intent::Movement(movement::Intent::Follow { target: EntityId::from(t) })),
        4 => value_intent(),
        3 => work_intent(),
        3 => fight_intent(),
        2 => shop_intent(),
        3 => talk_intent(),
        1 => tile().prop_map(|to| Intent::Movement(movement::Intent::Teleport { to })),
    ]
}

/// Goals of an agent.
fn goal() -> impl Strategy<Value = Goal> {
    let skills = TRAINED.map(|(skill, _)| skill).to_vec();
    prop_oneof![
        1 => prop::sample::select(vec![Goal::Explore, Goal::Rest, Goal::Collect, Goal::Bank]),
        2 => Just(Goal::Fight),
        2 => prop::sample::select(skills).prop_map(Goal::Train),
        1 => tile().prop_map(Goal::Place),
        1 => (0..6_u8).prop_map(|who| Goal::Follow(format!("p{who}").into())),
        1 => prop::sample::select(vec!["field", "nowhere"])
            .prop_map(|area| Goal::Area(area.into())),
        1 => prop::sample::select(vec!["candle", "sword", "nothing"])
            .prop_map(|item| Goal::Fetch(item.into())),
    ]
}

fn agent_word() -> impl Strategy<Value = AgentWord> {
    let often = || prop::bool::weighted(0.9);
    let orders = (
        1..9_u64,
        often(),
        often(),
        any::<bool>(),
        prop::option::of(goal()),
        0..12_u32,
    );
    let orders = orders.prop_map(|(version, agent, active, paused, goal, progress)| Orders {
        version,
        agent,
        active,
        paused: paused && goal.is_none(),
        goal,
        progress,
    });
    prop_oneof![
        6 => orders.prop_map(AgentWord::Orders),
        1 => any::<bool>().prop_map(AgentWord::Played),
        2 => prop::option::of(goal()).prop_map(AgentWord::Command),
    ]
}

pub(super) fn talk_intent() -> impl Strategy<Value = Intent> {
    let targets = [
        "npc:field:tom",
        "npc:field:guard",
        "sta:field:bank",
        "p1",
        "",
    ];
    let quest = || {
        let quests = vec!["errand", "nothing", ""];
        prop::sample::select(quests).prop_map(Arc::<str>::from)
    };
    let request = prop_oneof![
        1 => Just(quests::Intent::List),
        1 => quest().prop_map(|quest| quests::Intent::Show { quest }),
        4 => quest().prop_map(|quest| quests::Intent::Accept { quest }),
        1 => quest().prop_map(|quest| quests::Intent::Abandon { quest }),
        2 => quest().prop_map(|quest| quests::Intent::Complete { quest }),
    ];
    prop_oneof![
        6 => prop::sample::select(targets.to_vec())
            .prop_map(|target| Intent::Dialogue(dialogue::Intent::Talk { target: target.into() })),
        4 => prop_oneof![9 => 0..4_u8, 1 => any::<u8>()]
            .prop_map(|index| Intent::Dialogue(dialogue::Intent::Respond { index })),
        2 => Just(Intent::Dialogue(dialogue::Intent::Continue)),
        1 => Just(Intent::Dialogue(dialogue::Intent::End)),
        4 => request.prop_map(Intent::Quests),
    ]
}

pub(super) fn shop_intent() -> impl Strategy<Value = Intent> {
    let slot = || prop_oneof![9 => 0..3_u8, 1 => any::<u8>()];
    let many = || prop_oneof![9 => 0..5_u32, 1 => any::<u32>()];
    let items = vec!["logs", "candle", "sword", "coins", "arrow", "", "nothing"];
    let item = prop::sample::select(items).prop_map(Arc::<str>::from);
    let targets = vec!["npc:field:stall_keeper", "npc:field:guard", "p1", ""];
    let target = prop::sample::select(targets).prop_map(EntityId::from);
    let request = prop_oneof![
        3 => target.prop_map(|target| shop::Intent::Open { target }),
        3 => (item, many()).prop_map(|(item, quantity)| shop::Intent::Buy { item, quantity }),
        2 => (slot(), many()).prop_map(|(slot, quantity)| shop::Intent::Sell { slot, quantity }),
        1 => Just(shop::Intent::Close),
    ];
    request.prop_map(Intent::Shop)
}

pub(super) fn fight_intent() -> impl Strategy<Value = Intent> {
    let targets = [
        "npc:field:rat:0,8:0",
        "npc:field:rat:0,8:3",
        "npc:field:wolf:8,8:0",
        "npc:field:guard",
        "sta:field:altar",
        "p1",
        "p2",
        "",
    ];
    let target = || prop::sample::select(targets.to_vec()).prop_map(EntityId::from);
    let word = || prop::sample::select(vec!["gust", "skin", "fist", "hum1", "", "nothing"]);
    prop_oneof![
        6 => target().prop_map(|target| Intent::Combat(combat::Intent::Attack { target })),
        1 => prop::sample::select(Style::ALL.to_vec()).prop_map(|it| Intent::Combat(combat::Intent::Style(it))),
        1 => any::<bool>().prop_map(|it| Intent::Combat(combat::Intent::Retaliate { on: it })),
        1 => prop::option::of(word())
            .prop_map(|spell| Intent::Combat(combat::Intent::Autocast { spell: spell.map(Into::into) })),
        1 => word().prop_map(|prayer| Intent::Prayer(prayer::Intent::Toggle { prayer: prayer.into() })),
        1 => target().prop_map(|target| Intent::Prayer(prayer::Intent::PrayAt { target })),
        1 => Just(Intent::Death(death::Intent::Respawn)),
    ]
}

pub(super) fn work_intent() -> impl Strategy<Value = Intent> {
    let slot = || prop_oneof![9 => 0..9_u8, 1 => any::<u8>()];
    let target = || {
        let targets = vec![
            "res:thicket:-4,0",
            "res:copper:0,-6",
            "res:shoal:-12,12",
            "sta:field:range",
            "sta:field:furnace",
            "npc:field:guard",
            "res:none",
            "",
        ];
        prop::sample::select(targets).prop_map(EntityId::from)
    };
    let what = || {
        let keys = vec![
            "shaft",
            "shaft/logs",
            "logs",
            "raw_trout",
            "dagger",
            "",
            "/",
        ];
        prop::sample::select(keys).prop_map(Arc::<str>::from)
    };
    let trade = prop::sample::select(RecipeKind::ALL.to_vec());
    let making = (
        trade,
        prop::option::of(what()),
        prop::option::of(target()),
        any::<Option<u32>>(),
    );
    prop_oneof![
        3 => target().prop_map(|target| Intent::Skilling(skilling::Intent::Gather { target })),
        2 => (slot(), slot()).prop_map(|(slot, other)| Intent::Skilling(skilling::Intent::UseWith { slot, other })),
        1 => (slot(), target()).prop_map(|(slot, target)| Intent::Skilling(skilling::Intent::UseOn { slot, target })),
        3 => making.prop_map(|(trade, what, target, quantity)| Intent::Skilling(skilling::Intent::Make {
            trade, what, target, quantity
        })),
    ]
}

pub(super) fn value_intent() -> impl Strategy<Value = Intent> {
    let slot = || prop_oneof![9 => 0..3_u8, 1 => any::<u8>()];
    let many = || prop_oneof![9 => 0..5_u32, 1 => any::<u32>()];
    let targets = ["item:1-1", "item:", "npc:field:guard", "p1", ""];
    prop_oneof![
        4 => (slot(), prop::option::of(many()))
            .prop_map(|(slot, quantity)| Intent::GroundItems(ground_items::Intent::Drop { slot, quantity })),
        1 => prop::sample::select(targets.to_vec())
            .prop_map(|t| Intent::GroundItems(ground_items::Intent::Pickup { target: EntityId::from(t) })),
        1 => (slot(), slot()).prop_map(|(from, to)| Intent::Pack(pack::Intent::MoveSlot { from, to })),
        1 => many().prop_map(|amount| Intent::Pack(pack::Intent::WithdrawCoins { amount })),
        1 => prop::option::of(many()).prop_map(|amount| Intent::Pack(pack::Intent::DepositCoins { amount })),
        1 => Just(Intent::HomeTeleport(home_teleport::Intent::Begin)),
        1 => (slot(), any::<bool>()).prop_map(|(slot, learns)| Intent::UseItem(use_item::Intent::Use {
            slot,
            skill: learns.then_some(Skill::Mining),
        })),
        2 => slot().prop_map(|slot| Intent::Equipment(equipment::Intent::Equip { slot })),
        1 => prop::sample::select(EquipSlot::ALL.to_vec())
            .prop_map(|place| Intent::Equipment(equipment::Intent::Unequip { place })),
        2 => prop::sample::select(vec!["sta:field:bank", "sta:field:furnace", "p1", "sta:field:none"])
            .prop_map(|t| Intent::Bank(bank::Intent::Open { target: EntityId::from(t) })),
        3 => banking().prop_map(Intent::Bank),
    ]
}

pub(super) fn banking() -> impl Strategy<Value = bank::Intent> {
    let slot = || prop_oneof![9 => 0..5_u8, 1 => any::<u8>()];
    let many = || prop_oneof![9 => 0..5_u32, 1 => any::<u32>()];
    let item = || {
        let items = vec![
            "logs",
            "candle",
            "sword",
            "arrow",
            "coins",
            "logs_noted",
            "",
        ];
        prop::sample::select(items).prop_map(Arc::<str>::from)
    };
    let arrange = prop_oneof![
        any::<bool>().prop_map(Arrange::Placeholders),
        prop::option::of(item()).prop_map(Arrange::Release),
        (item(), item()).prop_map(|(item, with)| Arrange::Swap { item, with }),
        (item(), item()).prop_map(|(item, other)| Arrange::Before { item, other }),
        (item(), slot()).prop_map(|(item, tab)| Arrange::Tab { item, tab }),
    ];
    prop_oneof![
        3 => (slot(), many(), slot())
            .prop_map(|(slot, quantity, tab)| bank::Intent::Deposit { slot, quantity, tab }),
        1 => slot().prop_map(|tab| bank::Intent::DepositAll { tab }),
        1 => slot().prop_map(|tab| bank::Intent::DepositWorn { tab }),
        3 => (item(), many(), any::<bool>())
            .prop_map(|(item, quantity, noted)| bank::Intent::Withdraw { item, quantity, noted }),
        1 => (many(), any::<bool>()).prop_map(|(amount, out)| bank::Intent::Coins { amount, out }),
        2 => arrange.prop_map(bank::Intent::Arrange),
    ]
}

pub(super) fn action() -> impl Strategy<Value = Action> {
    let who = || 0..6_u8;
    let join = (
        who(),
        tile(),
        region(),
        prop::collection::vec(tile(), 0..4),
        0..20_000_u32,
    );
    prop_oneof![
        3 => join.prop_map(|(who, tile, region, path, energy)| Action::Join {
            who, tile, region, path, energy
        }),
        9 => (who(), intent()).prop_map(|(who, intent)| Action::Ask { who, intent }),
        1 => (who(), any::<bool>()).prop_map(|(who, held)| Action::Hold { who, held }),
        1 => (who(), region()).prop_map(|(who, region)| Action::Belong { who, region }),
        1 => who().prop_map(|who| Action::Leave { who }),
        3 => (who(), any::<u8>()).prop_map(|(who, which)| Action::Take { who, which }),
        9 => (1..3_u8, 0..16_u8, 0..7_u8, 0..9_u32)
            .prop_map(|(who, what, slot, many)| Action::Trade { who, what, slot, many }),
        4 => (0..6_u8, agent_word()).prop_map(|(who, word)| Action::Agent { who, word }),
        1 => prop::sample::select(vec![world::Value::Frozen, world::Value::Unavailable])
            .prop_map(Action::Value),
    ]
}

pub(super) fn story() -> impl Strategy<Value = Vec<Vec<Action>>> {
    let first = [1, 2].map(|who| Action::Join {
        who,
        tile: Tile::new(i32::from(who) - 2, 1),
        region: Region {
            x: i32::from(who) - 2,
            z: 0,
        },
        path: Vec::new(),
        energy: 10_000,
    });
    prop::collection::vec(prop::collection::vec(action(), 0..4), 1..50).prop_map(
        move |mut story| {
            story[0].extend(first.clone());
            story
        },
    )
}
