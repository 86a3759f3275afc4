//! `Personal`: export and removal of personal data.

use std::sync::Arc;

use proto::rpc::personal::v1 as wire;
use proto::rpc::personal::v1::personal_server::Personal;
use tonic::{Request, Response, Status, async_trait};

use super::identity::{done, sanction};
use super::model::{Checked, count, number, small, text};
use super::queries::entry;
use super::{Desk, malformed};
use crate::store::error::StoreError;
use crate::store::personal::{Data, Death, Deletion, LEDGER_MAX, LedgerOf, Place};
use crate::store::{roles, unsigned};

/// Most logins that one call may end.
const LOGINS_MAX: usize = 4;

/// The service.
pub(crate) struct PersonalService(pub(crate) Arc<Desk>);

#[async_trait]
impl Personal for PersonalService {
    async fn delete_account(
        &self,
        request: Request<wire::DeleteAccountRequest>,
    ) -> Result<Response<wire::DeleteAccountReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            if ask.login_ids.len() > LOGINS_MAX {
                return Err(malformed(format!("login_ids must be at most {LOGINS_MAX}")));
            }
            let logins = ask.login_ids.into_iter().map(|id| text("login_ids", id));
            let ask = Deletion {
                account: text("account_id", ask.account_id)?,
                logins: logins.collect::<Checked<_>>()?,
                until_ms: number("until_ms", ask.until_ms)?,
            };
            let outcome = match self.0.store.delete_account(ask).await {
                Ok(had) => {
                    self.0.metrics.accounts_removed("owner", 1);
                    self.0.metrics.written_off(had);
                    wire::Deletion::Done
                }
                Err(StoreError::NotFound(_)) => wire::Deletion::NotThere,
                Err(StoreError::InWorld) => wire::Deletion::InWorld,
                Err(StoreError::Quarantined) => wire::Deletion::Quarantined,
                Err(StoreError::Banned) => wire::Deletion::Banned,
                Err(StoreError::LastOperator) => wire::Deletion::LastOperator,
                Err(error) => return Err(error.into()),
            };
            Ok(wire::DeleteAccountReply {
                outcome: outcome.into(),
            })
        };
        self.0.answer("DeleteAccount", work).await
    }

    async fn export(
        &self,
        request: Request<wire::ExportRequest>,
    ) -> Result<Response<wire::ExportReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("account_id", ask.account_id)?;
            exported(self.0.store.personal_data(&id).await?)
        };
        self.0.answer("Export", work).await
    }

    async fn ledger(
        &self,
        request: Request<wire::OwnLedgerRequest>,
    ) -> Result<Response<wire::OwnLedgerReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let most = i64::from(ask.most);
            if !(1..=LEDGER_MAX).contains(&most) {
                return Err(malformed(format!("most must be 1 to {LEDGER_MAX}")));
            }
            let of = LedgerOf {
                account: text("account_id", ask.account_id)?,
                character: text("character_id", ask.character_id)?,
                before: ask.before.map_or(Ok(Place::NEWEST), place)?,
                most,
            };
            let rows = self.0.store.own_ledger(of).await?.into_iter();
            let rows = rows.map(entry).collect::<Checked<_>>()?;
            Ok(wire::OwnLedgerReply { rows })
        };
        self.0.answer("OwnLedger", work).await
    }
}

fn place(place: wire::LedgerPlace) -> Checked<Place> {
    Ok(Place {
        at_ms: number("before.at_ms", place.at_ms)?,
        run: number("before.run_id", place.run_id)?,
        sequence: number("before.sequence", place.sequence)?,
        row: small("before.row", place.row)?,
    })
}

fn exported(data: Data) -> Checked<wire::ExportReply> {
    let person = data.person;
    let sanctions = data.sanctions.into_iter().map(sanction);
    let records = data.records.into_iter().map(done);
    let deaths = data.deaths.into_iter().map(death);
    Ok(wire::ExportReply {
        name: person.name,
        roles: roles(&person.roles),
        anonymous: person.anonymous,
        device_key: person.device_key,
        provider_id: person.provider_id,
        farcaster_id: person.farcaster_id,
        avatar: person.avatar,
        wallet: person.wallet,
        created_ms: unsigned(person.created_ms)?,
        seen_ms: unsigned(person.seen_ms)?,
        made_day: unsigned(person.made_day)?,
        made: count(person.made)?,
        character_ids: data.characters,
        deaths: deaths.collect::<Checked<_>>()?,
        sanctions: sanctions.collect::<Checked<_>>()?,
        records: records.collect::<Checked<_>>()?,
        password_name: person.password_name,
    })
}

fn death(death: Death) -> Checked<wire::Death> {
    Ok(wire::Death {
        character_id: death.character_id,
        position: death.position,
        items: death.items,
        at_ms: unsigned(death.at_ms)?,
    })
}
