//! Converts between the messages of the wire and the types of the store. Strict: it refuses every
//! value that does not fit its column.

use proto::client::look::Look;
use proto::rpc::common::v1 as common;
use proto::rpc::persistence::v1 as wire;

use super::{Failure, malformed, value};
use crate::store::error::StoreError;
use crate::store::model::{
    Character, Directory, Opened, Ownership, Position, Record, Region, Row, RunState, SKILLS,
    SignedIn, SkillValue, Then,
};
use crate::store::unsigned;
use crate::store::value::Holdings;

/// Largest coordinate of a tile; a `real` column holds it exactly.
pub(super) const COORDINATE_MAX: i32 = 1_000_000;
/// Longest text of a request, in bytes.
const TEXT_MAX: usize = 256;
/// Longest document of a character, in bytes.
const STATE_BYTES_MAX: usize = 64 * 1024;
/// The highest level of a skill.
const LEVEL_MAX: u32 = 99;
/// The most experience in one skill, in tenths.
const XP_TENTHS_MAX: u64 = 2_000_000_000;

pub(super) type Checked<T> = Result<T, Failure>;

/// Checks a text that must not be empty.
pub(crate) fn text(field: &str, value: String) -> Checked<String> {
    if value.is_empty() || value.len() > TEXT_MAX || value.contains('\0') {
        return Err(malformed(format!(
            "{field} must have 1 to {TEXT_MAX} bytes"
        )));
    }
    Ok(value)
}

/// Checks the name of a character.
pub(crate) fn character_name(raw: &str) -> Checked<String> {
    proto::client::names::character_name(raw).map_err(|why| malformed(why.to_string()))
}

/// Checks a look; the empty one says that nobody chose it.
pub(crate) fn look(look: String) -> Checked<String> {
    if look.is_empty() {
        return Ok(look);
    }
    let checked = Look::try_from(look);
    checked
        .map(String::from)
        .map_err(|why| malformed(why.to_string()))
}

/// Checks a number or id that must fit its column.
pub(crate) fn number(field: &str, value: u64) -> Checked<i64> {
    i64::try_from(value).map_err(|_| malformed(format!("{field} is too great")))
}

/// Checks a number that must fit an `integer` column.
pub(crate) fn small(field: &str, value: impl TryInto<i32>) -> Checked<i32> {
    value
        .try_into()
        .map_err(|_| malformed(format!("{field} is too great")))
}

/// Checks a region.
pub(crate) fn region(field: &str, value: Option<common::Region>) -> Checked<Region> {
    let Some(region) = value else {
        return Err(malformed(format!("{field} is missing")));
    };
    let limit = COORDINATE_MAX / 64;
    if region.x.abs() > limit || region.z.abs() > limit {
        return Err(malformed(format!("{field} is outside any world")));
    }
    Ok(Region {
        x: region.x,
        z: region.z,
    })
}

/// Returns the region of a tile.
pub(crate) fn region_of(field: &str, value: Option<common::Tile>) -> Checked<Region> {
    let Some(tile) = value else {
        return Err(malformed(format!("{field} is missing")));
    };
    if tile.x.abs() > COORDINATE_MAX || tile.z.abs() > COORDINATE_MAX {
        return Err(malformed(format!("{field} is outside any world")));
    }
    Ok(Region {
        x: tile.x.div_euclid(64),
        z: tile.z.div_euclid(64),
    })
}

/// Reads one row of a commit.
pub(crate) fn row(row: wire::CharacterRow) -> Checked<Row> {
    let record = record(
        row.record
            .ok_or_else(|| malformed("a row has no character"))?,
    )?;
    let then = match (row.transfer, row.logout) {
        (None, None) => Then::Stay,
        (Some(transfer), None) => Then::Transfer {
            region: region("transfer.region", transfer.region)?,
            epoch: match number("transfer.epoch", transfer.epoch)? {
                0 => None,
                epoch => Some(epoch),
            },
            ownership_sequence: number("transfer.ownership_sequence", transfer.ownership_sequence)?,
        },
        (None, Some(logout)) => Then::Logout {
            reason: text("logout.reason", logout.reason)?,
        },
        (Some(_), Some(_)) => return Err(malformed("a row both transfers and logs out")),
    };
    Ok(Row {
        record,
        then,
        holdings: row.holdings,
        worn: row.worn,
        staked: row.staked,
        kills: kills(row.kills)?,
    })
}

/// Reads the row of a position.
pub(crate) fn position(row: wire::PositionRow) -> Checked<Position> {
    inside(row.x, row.y, row.z)?;
    let to = row.to_region.map(|to| region("to_region", Some(to)));
    Ok(Position {
        id: text("id", row.id)?,
        region: region("region", row.region)?,
        ownership_sequence: number("ownership_sequence", row.ownership_sequence)?,
        session_epoch: number("session_epoch", row.session_epoch)?,
        x: row.x,
        y: row.y,
        z: row.z,
        health: small("health", row.health)?,
        to: to.transpose()?,
        agility: row
            .agility
            .map(|grown| trained("agility", grown.level, grown.xp_tenths))
            .transpose()?,
    })
}

/// Checks a place in the world.
fn inside(x: i32, y: f32, z: i32) -> Checked<()> {
    if x.abs() > COORDINATE_MAX || z.abs() > COORDINATE_MAX || !y.is_finite() {
        return Err(malformed("the position is outside any world"));
    }
    Ok(())
}

fn record(record: wire::CharacterRecord) -> Checked<Record> {
    inside(record.x, record.y, record.z)?;
    if record.state.len() > STATE_BYTES_MAX {
        let why = format!("a document has at most {STATE_BYTES_MAX} bytes");
        return Err(malformed(why));
    }
    Ok(Record {
        id: text("id", record.id)?,
        account_id: record.account_id,
        name: record.name,
        region: region("region", record.region)?,
        ownership_sequence: number("ownership_sequence", record.ownership_sequence)?,
        session_epoch: number("session_epoch", record.session_epoch)?,
        session_id: record.session_id,
        x: record.x,
        y: record.y,
        z: record.z,
        combat_level: small("combat_level", record.combat_level)?,
        health: small("health", record.health)?,
        holdings: Holdings {
            coins: small("coins", record.coins)?,
            pack: value::pack(record.inventory)?,
            worn: value::worn(record.equipment)?,
            stakes: value::stakes(record.stakes)?,
            bank: value::bank(record.bank)?,
        },
        placed: record.placed,
        state: record.state,
        look: record.look,
        skills: skills(record.skills)?,
    })
}

/// Reads the kills since the last row, at least one of each kind.
fn kills(kills: Vec<wire::Kills>) -> Checked<Vec<(String, i32)>> {
    let read = |kill: wire::Kills| {
        let count = small("kills.count", kill.count)?;
        if count == 0 {
            return Err(malformed("no kill is counted"));
        }
        Ok((text("kills.npc_id", kill.npc_id)?, count))
    };
    kills.into_iter().map(read).collect()
}

/// Checks level and experience in the skill `name`.
fn trained(name: &str, level: u32, xp_tenths: u64) -> Checked<SkillValue> {
    if !(1..=LEVEL_MAX).contains(&level) {
        return Err(malformed(format!("{name}: a level is 1 to {LEVEL_MAX}")));
    }
    if xp_tenths > XP_TENTHS_MAX {
        let most = format!("{name}: experience is at most {XP_TENTHS_MAX} tenths");
        return Err(malformed(most));
    }
    Ok(SkillValue {
        level: small("level", level)?,
        xp_tenths: number("xp_tenths", xp_tenths)?,
    })
}

fn skills(given: Vec<wire::Skill>) -> Checked<[Option<SkillValue>; SKILLS.len()]> {
    let mut skills = [None; SKILLS.len()];
    for skill in given {
        let Some(number_of) = SKILLS.iter().position(|name| *name == skill.name) else {
            let shown: String = skill.name.chars().take(32).collect();
            return Err(malformed(format!("there is no skill {shown:?}")));
        };
        let value = trained(&skill.name, skill.level, skill.xp_tenths)?;
        if skills[number_of].replace(value).is_some() {
            return Err(malformed(format!("{} is there twice", skill.name)));
        }
    }
    Ok(skills)
}

/// Converts a region for the wire.
pub(crate) fn wire_region(region: Region) -> common::Region {
    common::Region {
        x: region.x,
        z: region.z,
    }
}

/// Converts a character as lists show it.
pub(crate) fn summary(character: Character) -> Checked<wire::CharacterSummary> {
    Ok(wire::CharacterSummary {
        id: character.id,
        account_id: character.account_id,
        name: character.name,
        combat_level: count(character.combat_level)?,
        last_login_ms: unsigned(character.last_login_ms)?,
        online: character.online,
        region: Some(wire_region(character.region)),
        look: character.look,
    })
}

/// Converts an account for the wire, or says that there is none.
pub(crate) fn signed_in(found: Option<SignedIn>) -> Checked<wire::SignInReply> {
    let Some(found) = found else {
        return Ok(wire::SignInReply::default());
    };
    Ok(wire::SignInReply {
        account: Some(wire::Account {
            id: found.account.id,
            name: found.account.name,
            anonymous: found.account.anonymous,
            roles: found.account.roles,
            created_at_ms: unsigned(found.account.created_at_ms)?,
        }),
        characters: found
            .characters
            .into_iter()
            .map(summary)
            .collect::<Checked<_>>()?,
        created: found.created,
    })
}

/// Converts a character that came into the world.
pub(crate) fn opened(opened: Opened) -> Checked<wire::OpenSessionReply> {
    let region = opened.character.region;
    Ok(wire::OpenSessionReply {
        character: Some(summary(opened.character)?),
        region: Some(wire_region(region)),
        session_epoch: unsigned(opened.session_epoch)?,
        ownership_sequence: unsigned(opened.ownership_sequence)?,
        was_online: opened.was_online,
    })
}

/// Converts a character at rest.
pub(crate) fn wire_record(record: Record) -> Checked<wire::CharacterRecord> {
    let skills = SKILLS.iter().zip(record.skills);
    let skills = skills.filter_map(|(name, value)| Some((name, value?)));
    let skills = skills.map(|(name, value)| {
        Ok(wire::Skill {
            name: (*name).to_owned(),
            level: count(value.level)?,
            xp_tenths: unsigned(value.xp_tenths)?,
        })
    });
    Ok(wire::CharacterRecord {
        id: record.id,
        account_id: record.account_id,
        name: record.name,
        region: Some(wire_region(record.region)),
        ownership_sequence: unsigned(record.ownership_sequence)?,
        session_epoch: unsigned(record.session_epoch)?,
        session_id: record.session_id,
        x: record.x,
        y: record.y,
        z: record.z,
        combat_level: count(record.combat_level)?,
        health: count(record.health)?,
        coins: u64::from(count(record.holdings.coins)?),
        skills: skills.collect::<Checked<_>>()?,
        placed: record.placed,
        inventory: value::wire_pack(record.holdings.pack)?,
        equipment: value::wire_worn(record.holdings.worn)?,
        stakes: value::wire_pack(record.holdings.stakes)?,
        bank: value::wire_bank(record.holdings.bank)?,
        state: record.state,
        look: record.look,
    })
}

/// Converts the ownership of a character.
pub(crate) fn ownership(ownership: Ownership) -> Checked<wire::CharacterOwnership> {
    Ok(wire::CharacterOwnership {
        character_id: ownership.character_id,
        region: Some(wire_region(ownership.region)),
        ownership_sequence: unsigned(ownership.ownership_sequence)?,
        session_epoch: unsigned(ownership.session_epoch)?,
        online: ownership.online,
        run_id: unsigned(ownership.run)?,
        region_epoch: unsigned(ownership.region_epoch)?,
    })
}

/// Converts the whole directory.
pub(crate) fn directory(directory: Directory) -> Result<wire::DirectoryUpdate, StoreError> {
    let runs = directory.runs.into_iter().map(|run| {
        Ok(wire::Run {
            run_id: unsigned(run.id)?,
            address: run.address,
            state: state(run.state).into(),
            build: run.build,
            content_hash: run.content_hash,
        })
    });
    let regions = directory.regions.into_iter().map(|owner| {
        Ok(wire::RegionOwner {
            region: Some(wire_region(owner.region)),
            run_id: unsigned(owner.run)?,
            epoch: unsigned(owner.epoch)?,
            wanted_run_id: unsigned(owner.wanted)?,
            paused: owner.paused,
        })
    });
    Ok(wire::DirectoryUpdate {
        version: unsigned(directory.version)?,
        incarnation: unsigned(directory.incarnation)?,
        runs: runs.collect::<Result<_, StoreError>>()?,
        regions: regions.collect::<Result<_, StoreError>>()?,
        unchanged: false,
        frozen: directory.frozen,
    })
}

/// Converts the state of a run.
pub(crate) fn state(state: RunState) -> wire::RunState {
    match state {
        RunState::Live => wire::RunState::Live,
        RunState::Draining => wire::RunState::Draining,
        RunState::Fenced => wire::RunState::Fenced,
    }
}

pub(super) fn count(value: i32) -> Result<u32, StoreError> {
    u32::try_from(value).map_err(|_| StoreError::Broken(format!("{value} is negative")))
}
