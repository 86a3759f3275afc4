//! Every change that can happen to a run's world, as bytes.
//!
//! Always: `read` reads all that `write` wrote, in the same order.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use world::{
    CharacterId, GroundItem, Inbox, PersistentObjects, PhaseClock, Region, Tick, Tile, World,
};

/// One change, with all that it needs to be done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Change {
    /// A region came in.
    RegionIn {
        region: Region,
        now: Tick,
        state: Option<Blob>,
    },
    /// A region came in as the store has it.
    RegionSavedIn {
        region: Region,
        now: Tick,
        played: Tick,
        saved: Blob,
    },
    /// The ground items of a region came in.
    GroundIn {
        region: Region,
        played: Tick,
        items: Vec<GroundItem>,
    },
    /// A character that was to be brought elsewhere stays.
    CallOff { who: CharacterId },
    /// The run gave a region away.
    RegionOut { region: Region },
    /// The run took a character out.
    Leave { who: CharacterId },
    /// A handover of a character began or ended.
    Hold { who: CharacterId, held: bool },
    /// A character belongs to another region.
    SetRegion { who: CharacterId, region: Region },
    /// A character from the store stands where it was seen last, if it can be.
    Regain {
        who: CharacterId,
        tile: Tile,
        steps_max: u32,
    },
    /// The persistent objects of a region came in.
    #[serde(rename = "LastingIn")]
    PersistentObjectsIn {
        region: Region,
        played: Tick,
        all: Vec<PersistentObjects>,
    },
    /// A tick was played.
    Tick { now: Tick, inbox: Inbox },
    /// The hash of the regions after the tick before, as [`digest`] returns it.
    Check { digest: String },
}

impl Change {
    /// Applies the change to `world` as the run did to the recorded one, with the same refusals.
    pub(crate) fn again(self, world: &mut World, clock: &mut dyn PhaseClock) {
        match self {
            Change::RegionIn { region, now, state } => {
                let state = state.as_ref().map(|blob| &*blob.0);
                let _ = world.region_in(region, now, state);
            }
            Change::RegionSavedIn {
                region,
                now,
                played,
                saved,
            } => {
                let _ = world.region_saved_in(region, now, played, &saved.0);
            }
            Change::GroundIn {
                region,
                played,
                items,
            } => {
                let _ = world.ground_in(region, played, items);
            }
            Change::CallOff { who } => {
                let _ = world.call_off(&who);
            }
            Change::RegionOut { region } => {
                let _ = world.region_out(region);
            }
            Change::Leave { who } => {
                let _ = world.leave(&who);
            }
            Change::Hold { who, held } => {
                let _ = world.hold(&who, held);
            }
            Change::SetRegion { who, region } => {
                let _ = world.set_region(&who, region);
            }
            Change::Regain {
                who,
                tile,
                steps_max,
            } => {
                let _ = world.regain(&who, tile, steps_max);
            }
            Change::PersistentObjectsIn {
                region,
                played,
                all,
            } => {
                let _ = world.persistent_objects_in(region, played, all);
            }
            Change::Tick { now, inbox } => {
                let _ = world.tick(now, inbox, clock);
            }
            Change::Check { .. } => {}
        }
    }
}

/// Bytes that are written as such, not as a list of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob(pub(crate) Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Blob;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }

            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Blob, E> {
                Ok(Blob(bytes))
            }
        }
        from.deserialize_byte_buf(Visitor)
    }
}

/// Appends `value` to `bytes` as MessagePack with named fields. Returns false and appends nothing
/// if it cannot be written.
pub(crate) fn write(bytes: &mut Vec<u8>, value: &impl Serialize) -> bool {
    let before = bytes.len();
    let written = rmp_serde::encode::write_named(bytes, value).is_ok();
    if !written {
        bytes.truncate(before);
    }
    written
}

/// Returns the hash of all regions of `world`, as they would move now, in hexadecimal SHA-256.
pub(crate) fn digest(world: &World) -> String {
    let mut hash = Sha256::new();
    for region in world.regions() {
        let bytes = world.region_bytes(region).unwrap_or_default();
        hash.update(region.x.to_le_bytes());
        hash.update(region.z.to_le_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    format!("{:x}", hash.finalize())
}
