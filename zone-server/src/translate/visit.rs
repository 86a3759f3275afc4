//! The interface that a player has open with an NPC or a thing, shown again.

use bytes::Bytes;
use proto::rpc::zone::v1::Private;
use world::{CharacterId, Interface, World, bank, quests};

use super::private;
use crate::deliver::held::Holdings;

/// Shows a player again what it has open.
pub(crate) fn open(world: &World, who: &CharacterId, has: &Holdings) -> Option<Private> {
    Some(match world.player(who)?.open()? {
        Interface::Bank => private(&bank::told::whole(&has.bank), Bytes::new()),
        Interface::Altar => return None,
        // The shop has an event of its own.
        Interface::Shop => return None,
        Interface::Dialogue { .. } => private(&world.said(who)?, Bytes::new()),
        Interface::Offer { quest } => {
            let detail = quests::told::detail(&has.quests, world.content(), quest, true)?;
            private(&detail, Bytes::new())
        }
    })
}
