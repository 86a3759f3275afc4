//! Duel rules: challenges, agreements, the moments at which items move, and the acts that the fight
//! allows.
//!
//! Always: each change clears both agreements. Before anything moves, the server looks up each
//! stake in its owner's pack again. A player that begins to fight wears nothing that the rules
//! forbid.

use super::{Conduct, Duel, DuelEnd, DuelRule, DuelStage, Duels, Fighter};
use crate::content::{Content, EquipSlot, ItemKind, Rings};
use crate::entity::ids::{CharacterId, EntityId};
use crate::entity::player::record::PlayerRecord;
use crate::entity::player::{Player, Players};
use crate::features::combat::HitKind;
use crate::features::trade::Offered;
use crate::geometry::tile::{Region, Tile};
use crate::intent::Intent;
use crate::item::ledger::Cause;
use crate::item::leg::Leg;
use crate::item::{COINS, Stack};
use crate::refusal::Refusal;
use crate::time::Tick;

/// Most steps between two players that are about to fight.
const REACH_TILES: u32 = 15;
/// Lifetime of a challenge without an answer: 30 s.
pub(crate) const CHALLENGE_TICKS: u64 = 50;
/// Time between two challenges by one player to the same other player: 10 s.
const AGAIN_TICKS: u64 = 17;
/// Most challenges that may wait for one player. A new one replaces the oldest.
const CHALLENGES_MAX: usize = 16;
/// Most time that two players may talk about their fight, and most time that they may fight: 30
/// min.
const DUEL_TICKS: u64 = 3_000;
/// Most time that a player may be away before the fight.
const AWAY_BEFORE_TICKS: u64 = 12;
/// Most time that a player may be away in the fight: 30 s.
const AWAY_TICKS: u64 = 50;
/// Time from the end of the fight to the result.
pub(crate) const RESULT_TICKS: u64 = 8;
/// Ticks since both players came to the ring, and the count at that tick. About one a second.
const COUNTS: [(u64, u8); 4] = [(0, 3), (2, 2), (3, 1), (5, 0)];

/// Returns the two places in the ring. If the players may not walk, the places are side by side.
pub(crate) fn begins(duel: &Duel, rings: &Rings) -> Option<[Tile; 2]> {
    let ring = rings.ring(duel.ring?)?;
    let [one, other] = ring.begins;
    if !duel.has(DuelRule::NoMovement) {
        return Some([one, other]);
    }
    let beside = Tile::new(one.x, one.z + if other.z < one.z { -1 } else { 1 });
    Some([one, beside])
}

/// Checks whether `who` may challenge `target`, a player of this world.
///
/// # Errors
/// `SelfDuel`; `InterfaceOpen`: `who` has something open or trades; `StakesLeft`: of `who`;
/// `ChallengePending`; `Cooldown`; `NotInLobby`, `OtherNotInLobby`, `TooFar`; `PlayerBusy`: one of
/// the two is busy.
pub(crate) fn may_challenge(
    duels: &Duels,
    rings: &Rings,
    who: &Player,
    target: &Player,
    now: Tick,
) -> Result<(), Refusal> {
    let (me, them) = (&who.record.id, &target.record.id);
    if me == them {
        return Err(Refusal::SelfDuel);
    }
    if who.open.is_some() || who.dealings.trade.is_some() {
        return Err(Refusal::InterfaceOpen);
    }
    if !who.record.stakes.is_empty() {
        return Err(Refusal::StakesLeft);
    }
    if duels.challenges.values().any(|of| of.from == *me) {
        return Err(Refusal::ChallengePending);
    }
    let again = who.dealings.asked_duel.as_ref();
    if again.is_some_and(|(whom, at)| whom == them && now < at.after(AGAIN_TICKS)) {
        return Err(Refusal::Cooldown);
    }
    near(rings, who, target)?;
    if !free(who, now) || !free(target, now) {
        return Err(Refusal::PlayerBusy);
    }
    Ok(())
}

/// Returns the oldest challenge to `target`, if no further challenge may wait for it. Each
/// challenger has one challenge at most, so that nobody keeps others from challenging.
pub(crate) fn crowded_out(duels: &Duels, target: &CharacterId) -> Option<EntityId> {
    let waiting = duels.challenges.iter().filter(|(_, of)| of.to == *target);
    let mut waiting: Vec<(Tick, &EntityId)> = waiting.map(|(id, of)| (of.since, id)).collect();
    waiting.sort_unstable();
    let full = waiting.len() >= CHALLENGES_MAX;
    waiting
        .first()
        .filter(|_| full)
        .map(|(_, id)| (*id).clone())
}

/// Checks whether both players stand in the lobby, and near each other.
fn near(rings: &Rings, who: &Player, other: &Player) -> Result<(), Refusal> {
    if !rings.lobby.contains(who.tile()) {
        return Err(Refusal::NotInLobby);
    }
    if !rings.lobby.contains(other.tile()) {
        return Err(Refusal::OtherNotInLobby);
    }
    if !near_enough(who, other) {
        return Err(Refusal::TooFar);
    }
    Ok(())
}

/// Returns whether two players are near enough to each other to talk about a duel.
pub(crate) fn near_enough(one: &Player, other: &Player) -> bool {
    one.tile().steps_to(other.tile()) <= REACH_TILES
}

/// Returns whether nothing keeps `player` from beginning a duel now.
fn free(player: &Player, now: Tick) -> bool {
    let fights = player.fight.clash.in_combat(now);
    let about =
        player.open.is_some() || player.dealings.trade.is_some() || player.dealings.duel.is_some();
    player.free() && !fights && !about
}

/// Checks whether the duel can begin for which `by` challenged `who`.
///
/// # Errors
/// `InterfaceOpen`: `who` has something open or trades; `StakesLeft`: of `who`; `NotInLobby`,
/// `OtherNotInLobby`, `TooFar`; `PlayerBusy`: one of the two is busy, or `by` has stakes left.
pub(crate) fn may_begin(
    rings: &Rings,
    who: &Player,
    by: &Player,
    now: Tick,
) -> Result<(), Refusal> {
    if who.open.is_some() || who.dealings.trade.is_some() {
        return Err(Refusal::InterfaceOpen);
    }
    if !who.record.stakes.is_empty() {
        return Err(Refusal::StakesLeft);
    }
    near(rings, who, by)?;
    if !free(who, now) || !free(by, now) || !by.record.stakes.is_empty() {
        return Err(Refusal::PlayerBusy);
    }
    Ok(())
}

/// Returns the number of a free ring whose places this world plays.
///
/// # Errors
/// `NoRing`.
pub(crate) fn vacant(
    duels: &Duels,
    rings: &Rings,
    played: impl Fn(Region) -> bool,
) -> Result<u8, Refusal> {
    let taken = duels.taken();
    let numbers = (1..=u8::MAX).take(rings.rings.len());
    let mut free = numbers.filter(|number| !taken.contains(number));
    let here = |number: &u8| {
        let ring = rings.ring(*number);
        ring.is_some_and(|ring| ring.begins.iter().all(|tile| played(Region::from(*tile))))
    };
    free.find(here).ok_or(Refusal::NoRing)
}

/// Turns `rule` on or off.
///
/// # Errors
/// `WrongStage`; `RulesClash`: the rule clashes with the others.
pub(crate) fn toggle(duel: &mut Duel, rule: DuelRule, now: Tick) -> Result<(), Refusal> {
    at(duel, DuelStage::Rules)?;
    let mut rules = duel.rules.clone();
    if !rules.remove(&rule) {
        rules.insert(rule);
    }
    let all = |of: &[DuelRule]| of.iter().all(|rule| rules.contains(rule));
    let clash = [
        &[DuelRule::NoForfeit, DuelRule::FunWeapons][..],
        &[DuelRule::NoForfeit, DuelRule::NoMovement],
        &[DuelRule::NoRanged, DuelRule::NoMelee, DuelRule::NoMagic],
    ];
    if clash.iter().any(|of| all(of)) {
        return Err(Refusal::RulesClash);
    }
    duel.rules = rules;
    changed(duel, now);
    Ok(())
}

/// Forbids the player to wear anything in `place`, or allows it again.
///
/// # Errors
/// `WrongStage`.
pub(crate) fn bare(duel: &mut Duel, place: EquipSlot, now: Tick) -> Result<(), Refusal> {
    at(duel, DuelStage::Rules)?;
    if !duel.bare.remove(&place) {
        duel.bare.insert(place);
    }
    changed(duel, now);
    Ok(())
}

fn changed(duel: &mut Duel, now: Tick) {
    duel.changed();
    duel.since = now;
}

fn at(duel: &Duel, stage: DuelStage) -> Result<(), Refusal> {
    (duel.stage == stage)
        .then_some(())
        .ok_or(Refusal::WrongStage)
}

/// Stakes `quantity` of the items in `slot`, instead of any stake from that slot before.
///
/// # Errors
/// `WrongStage`, `EmptySlot`, `InvalidItem`, `Untradeable`, `InvalidQuantity`.
pub(crate) fn stake(
    duel: &mut Duel,
    player: &Player,
    content: &Content,
    slot: u8,
    quantity: u32,
    now: Tick,
) -> Result<(), Refusal> {
    at(duel, DuelStage::Stakes)?;
    let record = player.record();
    let there = record.inventory.get(&slot).ok_or(Refusal::EmptySlot)?;
    if *there.item != *COINS {
        let kind = content.item(&there.item).ok_or(Refusal::InvalidItem)?;
        if !kind.tradeable {
            return Err(Refusal::Untradeable);
        }
    }
    if quantity == 0 || quantity > there.quantity {
        return Err(Refusal::InvalidQuantity);
    }
    let stack = Stack::new(there.item.clone(), quantity);
    let side = duel.side_mut(&record.id).ok_or(Refusal::NotInDuel)?;
    let staked = Offered { slot, stack };
    // A pack has no more slots than a player may stake.
    match side.stakes.iter_mut().find(|staked| staked.slot == slot) {
        Some(same) => *same = staked,
        None => side.stakes.push(staked),
    }
    changed(duel, now);
    Ok(())
}

/// Takes back the stake that `who` has in `place`.
///
/// # Errors
/// `WrongStage`, `NotStaked`.
pub(crate) fn unstake(
    duel: &mut Duel,
    who: &CharacterId,
    place: u8,
    now: Tick,
) -> Result<(), Refusal> {
    at(duel, DuelStage::Stakes)?;
    let side = duel.side_mut(who).ok_or(Refusal::NotInDuel)?;
    if usize::from(place) >= side.stakes.len() {
        return Err(Refusal::NotStaked);
    }
    side.stakes.remove(usize::from(place));
    changed(duel, now);
    Ok(())
}

/// Returns whether each stake still lies in its slot.
pub(crate) fn still_there(duel: &Duel, players: &Players) -> bool {
    duel.sides.iter().all(|side| {
        let mut stakes = side.stakes.iter();
        let who = players.get(&side.who);
        who.is_some_and(|who| stakes.all(|staked| staked.lies_in(&who.record().inventory)))
    })
}

/// Returns the legs that move both players' stakes out of their packs.
pub(crate) fn escrow(duel: &Duel) -> Vec<Leg> {
    let sides = duel.sides.iter();
    let each = sides.flat_map(|side| side.stakes.iter().map(|staked| (&side.who, staked)));
    let legs = each.flat_map(|(who, staked)| {
        [
            Leg::FromSlot {
                who: who.clone(),
                slot: staked.slot,
                quantity: staked.stack.quantity,
            },
            Leg::ToStakes {
                who: who.clone(),
                stack: staked.stack.clone(),
            },
        ]
    });
    legs.collect()
}

/// Returns the legs that move equipment that the rules forbid into its wearer's pack.
pub(crate) fn strip(duel: &Duel, players: &Players, content: &Content) -> Vec<Leg> {
    let mut legs = Vec::new();
    for side in &duel.sides {
        let Some(player) = players.get(&side.who) else {
            continue;
        };
        for (slot, stack) in &player.record().equipment {
            let kind = content.item(&stack.item);
            let earnest = kind.is_some_and(|kind| *slot == EquipSlot::Weapon && earnest(kind));
            let fun = duel.has(DuelRule::FunWeapons) && earnest;
            if !duel.bare.contains(slot) && !fun {
                continue;
            }
            legs.push(Leg::FromWorn {
                who: side.who.clone(),
                slot: *slot,
                quantity: stack.quantity,
            });
            legs.push(Leg::ToPack {
                who: side.who.clone(),
                stack: stack.clone(),
            });
        }
    }
    legs
}

/// Returns whether a weapon helps its holder to attack. Other weapons are fun weapons.
fn earnest(kind: &ItemKind) -> bool {
    kind.weapon.is_some() && kind.bonuses.helps_to_attack()
}

/// Returns the legs that move all stakes of `loser` to the stakes of `winner`.
pub(crate) fn spoils(loser: &PlayerRecord, winner: &CharacterId) -> Vec<Leg> {
    let legs = loser.stakes.iter().flat_map(|(place, stack)| {
        [
            Leg::FromStakes {
                who: loser.id.clone(),
                place: *place,
                quantity: stack.quantity,
            },
            Leg::ToStakes {
                who: winner.clone(),
                stack: stack.clone(),
            },
        ]
    });
    legs.collect()
}

/// One way to move items: the cause and the legs.
type Plan = (Option<Cause>, Vec<Leg>);

/// Returns the two plans to give the stake in `place` back: into the pack, else into the bank.
pub(crate) fn returns(record: &PlayerRecord, content: &Content, place: u8) -> Option<[Plan; 2]> {
    let stack = record.stakes.get(&place)?;
    let who = || record.id.clone();
    let from = Leg::FromStakes {
        who: who(),
        place,
        quantity: stack.quantity,
    };
    let stack = stack.clone();
    let kept = content.items().unnoted(&stack.item);
    let cause = (kept != stack.item).then_some(Cause::Note);
    let banked = Leg::ToBank {
        who: who(),
        stack: Stack::new(kept, stack.quantity),
        tab: 0,
    };
    let packed = Leg::ToPack { who: who(), stack };
    Some([
        (None, vec![from.clone(), packed]),
        (cause, vec![from, banked]),
    ])
}

/// Returns the worth of a stack, in coins.
pub(crate) fn worth(content: &Content, stack: &Stack) -> u64 {
    let kind = content.item(&stack.item);
    let coin = u64::from(*stack.item == *COINS);
    let each = kind.map_or(coin, |kind| kind.value);
    each.saturating_mul(u64::from(stack.quantity))
}

/// Returns the count at `ticks` after both players came to the ring, if one is due then.
pub(crate) fn counted(ticks: u64) -> Option<u8> {
    let found = COUNTS.iter().find(|(at, _)| *at == ticks);
    found.map(|(_, count)| *count)
}

/// Checks whether a player in `duel` may follow `intent` now.
///
/// # Errors
/// `InterfaceOpen`: the duel is not in the ring yet; `InDuel`: the duel must end first;
/// `AgainstRules`.
pub(crate) fn allows(
    duel: &Duel,
    player: &Player,
    intent: &Intent,
    content: &Content,
) -> Result<(), Refusal> {
    let conduct = intent.conduct();
    if conduct == Conduct::Harmless {
        return Ok(());
    }
    if duel.stage.prepares() {
        return match conduct {
            Conduct::Harmless | Conduct::Walk | Conduct::Stop => Ok(()),
            Conduct::Away => Err(Refusal::InDuel),
            Conduct::PickUp
            | Conduct::Pray
            | Conduct::Use(_)
            | Conduct::Attack
            | Conduct::Other => {
                if intent.waits_for_trade() {
                    Err(Refusal::InterfaceOpen)
                } else {
                    Ok(())
                }
            }
        };
    }
    if duel.stage != DuelStage::Fighting {
        return Err(Refusal::InDuel);
    }
    let ruled_out = match conduct {
        Conduct::Walk | Conduct::PickUp => duel.has(DuelRule::NoMovement),
        Conduct::Pray => duel.has(DuelRule::NoPrayer),
        Conduct::Use(slot) => {
            let there = player.record().inventory.get(&slot);
            there.is_some_and(|stack| bars(duel, stack, content))
        }
        Conduct::Harmless | Conduct::Stop | Conduct::Attack => false,
        Conduct::Away | Conduct::Other => return Err(Refusal::InDuel),
    };
    if ruled_out {
        return Err(Refusal::AgainstRules);
    }
    Ok(())
}

/// Returns whether the rules forbid to eat or drink `stack`.
fn bars(duel: &Duel, stack: &Stack, content: &Content) -> bool {
    let kind = content.item(&stack.item);
    let potion = kind.is_some_and(|kind| kind.potion.is_some());
    duel.has(if potion {
        DuelRule::NoPotions
    } else {
        DuelRule::NoFood
    })
}

/// Returns whether the rules forbid blows of that kind.
pub(crate) fn forbids(duel: &Duel, kind: HitKind) -> bool {
    duel.has(match kind {
        HitKind::Melee => DuelRule::NoMelee,
        HitKind::Ranged => DuelRule::NoRanged,
        HitKind::Magic => DuelRule::NoMagic,
    })
}

/// Returns for how many ticks a player may be away from the duel in its stage. In a fight that
/// nobody may give up, returns 0.
pub(crate) fn away_ticks(duel: &Duel) -> u64 {
    if duel.stage.prepares() {
        AWAY_BEFORE_TICKS
    } else if duel.has(DuelRule::NoForfeit) {
        0
    } else {
        AWAY_TICKS
    }
}

/// Returns the reason why a duel cannot go on after this tick, if there is one. Does not look at a
/// player that is away too long in the fight.
pub(crate) fn over(duel: &Duel, players: &Players, now: Tick) -> Option<DuelEnd> {
    let [one, other] = duel.sides.each_ref().map(|side| players.get(&side.who));
    let (Some(one), Some(other)) = (one, other) else {
        return Some(DuelEnd::Server);
    };
    let knows = |player: &Player| player.dealings.duel.as_ref() == Some(&duel.id);
    if !knows(one) || !knows(other) {
        return Some(DuelEnd::Server);
    }
    let prepares = duel.stage.prepares();
    if prepares && !near_enough(one, other) {
        return Some(DuelEnd::TooFar);
    }
    let away = |side: &Fighter| {
        let since = side.away_since;
        since.is_some_and(|since| now.since(since) >= AWAY_BEFORE_TICKS)
    };
    if prepares && duel.sides.iter().any(away) {
        return Some(DuelEnd::Disconnected);
    }
    let begun = if prepares { duel.began } else { duel.since };
    let lives = matches!(duel.stage, DuelStage::Fighting) || prepares;
    (lives && now.since(begun) >= DUEL_TICKS).then_some(DuelEnd::Timeout)
}
