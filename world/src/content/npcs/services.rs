//! Services of NPCs for people.

use std::sync::Arc;

use crate::content::fields::Fields;
use crate::content::reader::{Defect, Of};
use crate::content::words::{Word, words};

words! {
    /// Service of an NPC for people.
    ServiceKind {
        Bank = "bank" | "banking",
        Shop = "shop" | "store" | "general_store",
        Quest = "quest" | "quest_giver" | "quests",
        SkillTrainer = "skill_trainer" | "trainer" | "training",
        Teleport = "teleport",
    }
}

/// Services of an NPC for people.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Services {
    /// Services, in the order of the manifest.
    pub kinds: Vec<ServiceKind>,
    /// Quests that it knows.
    pub quests: Vec<Arc<str>>,
}

impl Services {
    /// Returns whether it offers that service.
    pub fn has(&self, kind: &ServiceKind) -> bool {
        self.kinds.contains(kind)
    }
}

pub(super) fn read(npc: &Fields<'_>) -> Services {
    // The oldest generation has a list of texts, and gives the main service in `npcType`.
    if npc
        .get("services")
        .is_some_and(|services| services.is_array())
    {
        let mut kinds = words_of(npc, "services");
        let more = npc.word::<ServiceKind>("npcType");
        kinds.extend(more.filter(|kind| !kinds.contains(kind)));
        return Services {
            kinds,
            quests: Vec::new(),
        };
    }
    let services = npc.object("services");
    let Some(services) = services.filter(|s| s.flag_or("enabled", true)) else {
        return Services {
            kinds: npc.word("npcType").into_iter().collect(),
            quests: Vec::new(),
        };
    };
    for good in services.objects("shopInventory") {
        good.refer("itemId", Of::Item, "it is not sold");
    }
    Services {
        kinds: words_of(&services, "types"),
        quests: services.refer_all("questIds", Of::Quest, "nobody can begin it"),
    }
}

/// Reads the words of a list.
fn words_of(fields: &Fields<'_>, name: &str) -> Vec<ServiceKind> {
    let texts = fields.texts(name).into_iter().enumerate();
    let read = texts.map(|(i, text)| {
        ServiceKind::known(&text).unwrap_or_else(|| {
            let what = format!("the rules know no {text:?}, kept as it is");
            fields.defect(Defect::Unknown, &format!("{name}[{i}]"), &what);
            ServiceKind::other(&text)
        })
    });
    read.collect()
}
