//! Profiles of characters, as the pretending store gives them to every reader: names and no
//! belongings.

use std::sync::atomic::Ordering;

use proto::rpc::{
    identity::v1::{Sanction, SanctionKind},
    persistence::v1::{CharacterRecord, CharacterSummary},
    personal::v1::{
        DeleteAccountReply, DeleteAccountRequest, Deletion, ExportReply, ExportRequest,
        OwnLedgerReply, OwnLedgerRequest, personal_server::Personal,
    },
    queries::v1::{changes_server::Changes, queries_server::Queries, *},
};
use tonic::{Request, Response, Status};

use crate::store::Store;

fn nothing<T>() -> Result<Response<T>, Status> {
    Err(Status::unimplemented("the pretending store knows no more"))
}

#[tonic::async_trait]
impl Queries for Store {
    async fn profile(
        &self,
        ask: Request<ProfileRequest>,
    ) -> Result<Response<ProfileReply>, Status> {
        let found = self.character(&ask.into_inner().character_id);
        let found = found.ok_or_else(|| Status::not_found("no such character"))?;
        let record = CharacterRecord {
            id: found.id,
            account_id: found.account_id,
            name: found.name,
            combat_level: found.combat_level,
            ..CharacterRecord::default()
        };
        Ok(Response::new(ProfileReply {
            record: Some(record),
            ..ProfileReply::default()
        }))
    }

    async fn logins(&self, _: Request<LoginsRequest>) -> Result<Response<LoginsReply>, Status> {
        Ok(Response::new(LoginsReply::default()))
    }

    async fn ranking(&self, _: Request<RankingRequest>) -> Result<Response<RankingReply>, Status> {
        nothing()
    }

    async fn users(&self, _: Request<UsersRequest>) -> Result<Response<UsersReply>, Status> {
        nothing()
    }

    async fn totals(&self, _: Request<TotalsRequest>) -> Result<Response<TotalsReply>, Status> {
        nothing()
    }

    async fn ledger(&self, _: Request<LedgerRequest>) -> Result<Response<LedgerReply>, Status> {
        nothing()
    }

    async fn regions(&self, _: Request<RegionsRequest>) -> Result<Response<RegionsReply>, Status> {
        nothing()
    }

    async fn quarantined(
        &self,
        _: Request<QuarantinedRequest>,
    ) -> Result<Response<QuarantinedReply>, Status> {
        nothing()
    }
}

#[tonic::async_trait]
impl Changes for Store {
    async fn change_character(
        &self,
        ask: Request<ChangeCharacterRequest>,
    ) -> Result<Response<CharacterSummary>, Status> {
        let ask = ask.into_inner();
        let asked = (ask.account_id.as_str(), ask.character_id.as_str());
        let changed = self.rename(asked, &ask.name.unwrap_or_default());
        let changed = changed.ok_or_else(|| Status::not_found("no such character"))?;
        Ok(Response::new(changed))
    }

    async fn release_character(
        &self,
        _: Request<ReleaseCharacterRequest>,
    ) -> Result<Response<ChangedReply>, Status> {
        nothing()
    }

    async fn pause_region(
        &self,
        _: Request<PauseRegionRequest>,
    ) -> Result<Response<ChangedReply>, Status> {
        nothing()
    }

    async fn resume_region(
        &self,
        _: Request<ResumeRegionRequest>,
    ) -> Result<Response<ChangedReply>, Status> {
        nothing()
    }
}

#[tonic::async_trait]
impl Personal for Store {
    async fn delete_account(
        &self,
        ask: Request<DeleteAccountRequest>,
    ) -> Result<Response<DeleteAccountReply>, Status> {
        if self.newer.load(Ordering::SeqCst) {
            return Ok(Response::new(DeleteAccountReply { outcome: 1_000_000 }));
        }
        let ask = ask.into_inner();
        let outcome = match self.of(&ask.account_id).iter().any(|one| one.online) {
            true => Deletion::InWorld,
            false if self.remove(&ask.account_id) => Deletion::Done,
            false => Deletion::NotThere,
        };
        if outcome == Deletion::Done {
            let ended = [vec![ask.account_id.clone()], ask.login_ids].concat();
            for id in ended {
                self.sanctions.lock().unwrap().add(Sanction {
                    id: format!("revoked:{id}"),
                    kind: SanctionKind::Revoked.into(),
                    account_id: ask.account_id.clone(),
                    subject: id,
                    until_ms: ask.until_ms,
                    ..Sanction::default()
                });
            }
        }
        Ok(Response::new(DeleteAccountReply {
            outcome: outcome.into(),
        }))
    }

    async fn export(&self, ask: Request<ExportRequest>) -> Result<Response<ExportReply>, Status> {
        let id = ask.into_inner().account_id;
        let own = self.of(&id).into_iter().map(|one| one.id);
        Ok(Response::new(ExportReply {
            character_ids: own.collect(),
            anonymous: true,
            device_key: true,
            created_ms: 1_700_000_000_000,
            name: id,
            ..ExportReply::default()
        }))
    }

    async fn ledger(
        &self,
        _: Request<OwnLedgerRequest>,
    ) -> Result<Response<OwnLedgerReply>, Status> {
        Ok(Response::new(OwnLedgerReply::default()))
    }
}
