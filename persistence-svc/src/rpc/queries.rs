//! `Queries`: reads for lists and dashboards; `Changes`: changes of characters at rest.

use std::sync::Arc;

use proto::rpc::persistence::v1 as core;
use proto::rpc::queries::v1 as wire;
use proto::rpc::queries::v1::changes_server::Changes;
use proto::rpc::queries::v1::queries_server::Queries;
use tonic::{Request, Response, Status, async_trait};

use super::model::{
    Checked, character_name, count, look, region, summary, text, wire_record, wire_region,
};
use super::{Desk, malformed};
use crate::store::model::{RegionReport, SKILLS};
use crate::store::queries::{
    Change, Entry, LedgerOf, Login, LoginsOf, PAGE_MAX, Page, Profile, User, UsersLike,
};
use crate::store::unsigned;

/// Longest search text, in bytes.
const SEARCH_MAX: usize = 256;

/// Service of the reads.
pub(crate) struct QueriesService(pub(crate) Arc<Desk>);

/// Service of the changes.
pub(crate) struct ChangesService(pub(crate) Arc<Desk>);

#[async_trait]
impl Queries for QueriesService {
    async fn profile(
        &self,
        request: Request<wire::ProfileRequest>,
    ) -> Result<Response<wire::ProfileReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("character_id", ask.character_id)?;
            profile(self.0.store.profile(&id).await?)
        };
        self.0.answer("Profile", work).await
    }

    async fn ranking(
        &self,
        request: Request<wire::RankingRequest>,
    ) -> Result<Response<wire::RankingReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let skill = skill(&ask.skill)?;
            let part = self.0.store.ranking(skill, page(ask.page)?).await?;
            let rows = part.rows.into_iter().map(|row| {
                Ok(wire::Ranked {
                    name: row.name,
                    level: small(row.level)?,
                    xp_tenths: unsigned(row.xp_tenths)?,
                })
            });
            Ok(wire::RankingReply {
                rows: rows.collect::<Checked<_>>()?,
                total: unsigned(part.total)?,
            })
        };
        self.0.answer("Ranking", work).await
    }

    async fn logins(
        &self,
        request: Request<wire::LoginsRequest>,
    ) -> Result<Response<wire::LoginsReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let of = LoginsOf {
                character: perhaps("character_id", ask.character_id)?,
                open: ask.open,
                page: page(ask.page)?,
            };
            let part = self.0.store.logins(of).await?;
            Ok(wire::LoginsReply {
                rows: part.rows.into_iter().map(login).collect::<Checked<_>>()?,
                total: unsigned(part.total)?,
            })
        };
        self.0.answer("Logins", work).await
    }

    async fn users(
        &self,
        request: Request<wire::UsersRequest>,
    ) -> Result<Response<wire::UsersReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let like = UsersLike {
                search: perhaps("search", ask.search)?,
                role: perhaps("role", ask.role)?,
                page: page(ask.page)?,
            };
            let part = self.0.store.users(like).await?;
            Ok(wire::UsersReply {
                rows: part.rows.into_iter().map(user).collect::<Checked<_>>()?,
                total: unsigned(part.total)?,
            })
        };
        self.0.answer("Users", work).await
    }

    async fn totals(
        &self,
        _: Request<wire::TotalsRequest>,
    ) -> Result<Response<wire::TotalsReply>, Status> {
        let work = async {
            let totals = self.0.store.totals().await?;
            Ok(wire::TotalsReply {
                users: unsigned(totals.users)?,
                characters: unsigned(totals.characters)?,
                online: unsigned(totals.online)?,
                quarantined: unsigned(totals.quarantined)?,
                frozen: totals.frozen,
                banned: unsigned(totals.banned)?,
            })
        };
        self.0.answer("Totals", work).await
    }

    async fn ledger(
        &self,
        request: Request<wire::LedgerRequest>,
    ) -> Result<Response<wire::LedgerReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let of = LedgerOf {
                character: perhaps("character_id", ask.character_id)?,
                item: perhaps("item_id", ask.item_id)?,
                page: page(ask.page)?,
            };
            let part = self.0.store.ledger(of).await?;
            Ok(wire::LedgerReply {
                rows: part.rows.into_iter().map(entry).collect::<Checked<_>>()?,
                total: unsigned(part.total)?,
            })
        };
        self.0.answer("Ledger", work).await
    }

    async fn regions(
        &self,
        _: Request<wire::RegionsRequest>,
    ) -> Result<Response<wire::RegionsReply>, Status> {
        let work = async {
            let regions = self.0.store.regions().await?.into_iter();
            let rows = regions.map(region_status).collect::<Checked<_>>()?;
            Ok(wire::RegionsReply { rows })
        };
        self.0.answer("Regions", work).await
    }

    async fn quarantined(
        &self,
        _: Request<wire::QuarantinedRequest>,
    ) -> Result<Response<wire::QuarantinedReply>, Status> {
        let work = async {
            let found = self.0.store.quarantined().await?.into_iter();
            let rows = found.map(|(character_id, name)| wire::Held { character_id, name });
            Ok(wire::QuarantinedReply {
                rows: rows.collect(),
            })
        };
        self.0.answer("Quarantined", work).await
    }
}

#[async_trait]
impl Changes for ChangesService {
    async fn change_character(
        &self,
        request: Request<wire::ChangeCharacterRequest>,
    ) -> Result<Response<core::CharacterSummary>, Status> {
        let ask = request.into_inner();
        let work = async {
            let name = ask.name.map(|name| character_name(&name));
            let change = Change {
                account: text("account_id", ask.account_id)?,
                character: text("character_id", ask.character_id)?,
                name: name.transpose()?,
                agent: ask.agent,
                look: ask.look.map(look).transpose()?,
            };
            summary(self.0.store.change_character(change).await?)
        };
        self.0.answer("ChangeCharacter", work).await
    }

    async fn release_character(
        &self,
        request: Request<wire::ReleaseCharacterRequest>,
    ) -> Result<Response<wire::ChangedReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("character_id", ask.character_id)?;
            let changed = self.0.store.release_character(&id).await?;
            Ok(wire::ChangedReply { changed })
        };
        self.0.answer("ReleaseCharacter", work).await
    }

    async fn pause_region(
        &self,
        request: Request<wire::PauseRegionRequest>,
    ) -> Result<Response<wire::ChangedReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let region = region("region", ask.region)?;
            let changed = self.0.store.pause_region(region).await?;
            Ok(wire::ChangedReply { changed })
        };
        self.0.answer("PauseRegion", work).await
    }

    async fn resume_region(
        &self,
        request: Request<wire::ResumeRegionRequest>,
    ) -> Result<Response<wire::ChangedReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let region = region("region", ask.region)?;
            let changed = self.0.store.resume_region(region).await?;
            Ok(wire::ChangedReply { changed })
        };
        self.0.answer("ResumeRegion", work).await
    }
}

fn page(page: Option<wire::Page>) -> Checked<Page> {
    let page = page.unwrap_or_default();
    let limit = i64::from(page.limit);
    if !(1..=PAGE_MAX).contains(&limit) {
        return Err(malformed(format!("page.limit must be 1 to {PAGE_MAX}")));
    }
    Ok(Page {
        offset: i64::from(page.offset),
        limit,
    })
}

/// Checks a text that may be empty.
fn perhaps(field: &str, value: String) -> Checked<String> {
    if value.len() > SEARCH_MAX || value.contains('\0') {
        return Err(malformed(format!(
            "{field} must have at most {SEARCH_MAX} bytes"
        )));
    }
    Ok(value)
}

/// Returns the number of a skill; `None`: all of them.
fn skill(name: &str) -> Checked<Option<usize>> {
    if name.is_empty() {
        return Ok(None);
    }
    let number = SKILLS.iter().position(|known| *known == name);
    let number = number.ok_or_else(|| malformed("there is no such skill"))?;
    Ok(Some(number))
}

fn small(value: i64) -> Checked<u32> {
    let fits = u32::try_from(value);
    fits.map_err(|_| {
        crate::store::error::StoreError::Broken(format!("{value} is too great")).into()
    })
}

fn profile(found: Profile) -> Checked<wire::ProfileReply> {
    let kills = found.kills.into_iter().map(|(npc_id, killed)| {
        Ok(wire::Kills {
            npc_id,
            count: count(killed)?,
        })
    });
    Ok(wire::ProfileReply {
        kills: kills.collect::<Checked<_>>()?,
        record: Some(wire_record(found.record)?),
        created_at_ms: unsigned(found.created_at_ms)?,
        last_login_ms: unsigned(found.last_login_ms)?,
        online: found.online,
        quarantined: found.quarantined,
        agent: found.agent,
        logins: unsigned(found.logins)?,
        // The clock may have been set back between a login and its end.
        played_ms: unsigned(found.played_ms.max(0))?,
    })
}

fn login(login: Login) -> Checked<wire::Login> {
    Ok(wire::Login {
        character_id: login.character_id,
        name: login.name,
        account_id: login.account_id,
        gateway_id: login.gateway_id,
        login_ms: unsigned(login.login_ms)?,
        logout_ms: login.logout_ms.map(unsigned).transpose()?,
        reason: login.reason,
    })
}

fn user(user: User) -> Checked<wire::User> {
    Ok(wire::User {
        account: Some(core::Account {
            id: user.account.id,
            name: user.account.name,
            anonymous: user.account.anonymous,
            roles: user.account.roles,
            created_at_ms: unsigned(user.account.created_at_ms)?,
        }),
        characters: small(user.characters)?,
    })
}

pub(super) fn entry(entry: Entry) -> Checked<wire::LedgerEntry> {
    Ok(wire::LedgerEntry {
        run_id: unsigned(entry.run)?,
        sequence: unsigned(entry.sequence)?,
        row: count(entry.row)?,
        character_id: entry.character_id,
        item_id: entry.item,
        cause: entry.cause,
        delta: entry.delta,
        at_ms: unsigned(entry.at_ms)?,
    })
}

fn region_status(report: RegionReport) -> Checked<wire::RegionStatus> {
    Ok(wire::RegionStatus {
        region: Some(wire_region(report.region)),
        run_id: unsigned(report.run)?,
        epoch: unsigned(report.epoch)?,
        address: report.address,
        cost_us: small(report.cost_us)?,
        players: small(report.players)?,
        wanted_run_id: unsigned(report.wanted)?,
        faults: small(report.faults)?,
        paused: report.paused,
    })
}
