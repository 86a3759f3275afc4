//! The interfaces that a player has open with an NPC or a thing.

use bytes::Bytes;
use proto::{
    client::{bank::BankState, dialogue::DialogueNode, shop::ShopState},
    rpc::zone::v1::Private,
};
use world::{CharacterId, Content, Interface, PlayerRecord, World, visit::Event};

use super::{Told, bank, dialogue, private, quest};
use crate::deliver::held::Holdings;

/// Returns what a player is told of what it has opened or closed.
pub(crate) fn told(event: &Event, record: &PlayerRecord, content: &Content) -> Option<Told> {
    match event {
        Event::Opened { what, .. } => opened(what, record, content),
        // Not before what was told of it while it was open.
        Event::Closed { what, .. } => closed(what),
    }
}

fn opened(what: &Interface, record: &PlayerRecord, content: &Content) -> Option<Told> {
    Some(match what {
        Interface::Bank => Told::of_value(&bank::whole(&record.bank)),
        // Told by what is said.
        Interface::Dialogue { .. } => return None,
        Interface::Offer { quest } => {
            let detail = quest::detail(&record.quests, content, quest, true)?;
            Told::of_value(&detail)
        }
        Interface::Altar => return None,
        // It is told by an event of its own.
        Interface::Shop => return None,
    })
}

fn closed(what: &Interface) -> Option<Told> {
    Some(match what {
        Interface::Bank => Told::of_value(&BankState::default()),
        Interface::Dialogue { .. } | Interface::Offer { .. } => {
            Told::of_value(&DialogueNode::default())
        }
        Interface::Altar => return None,
        Interface::Shop => Told::of_value(&ShopState::default()),
    })
}

/// Shows a player again what it has open.
pub(crate) fn open(world: &World, who: &CharacterId, has: &Holdings) -> Option<Private> {
    Some(match world.player(who)?.open()? {
        Interface::Bank => private(&bank::whole(&has.bank), Bytes::new()),
        Interface::Altar => return None,
        // It is told by an event of its own.
        Interface::Shop => return None,
        Interface::Dialogue { .. } => private(&dialogue::node(&world.said(who)?), Bytes::new()),
        Interface::Offer { quest } => {
            let detail = quest::detail(&has.quests, world.content(), quest, true)?;
            private(&detail, Bytes::new())
        }
    })
}
