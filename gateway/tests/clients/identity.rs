//! The part of the store that says who may come in, and forgets it all at the end.

use std::{collections::BTreeMap, pin::Pin, time::Duration};

use proto::rpc::{
    identity::v1::{
        AuditAction, AuditEntry, AuditLogReply, ChangePasswordReply, ChangePasswordRequest,
        CheckReply, CheckRequest, GetPasswordReply, GetPasswordRequest, MakePasswordReply,
        MakePasswordRequest, ModerateReply, ModerateRequest, NoteLoginReply, NoteLoginRequest,
        PageRequest, Password, RevokeReply, RevokeRequest, Sanction, SanctionKind, SanctionsReply,
        SanctionsUpdate, SignInSubjectRequest, WatchGatesRequest, identity_server::Identity,
    },
    persistence::v1::SignInReply,
};
use tokio::sync::watch;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use crate::{book::Book, store::Store};

/// Sanctions that the store has.
pub(crate) struct Sanctions {
    rows: Vec<Sanction>,
    audit_log: Vec<AuditEntry>,
    /// By account.
    roles: BTreeMap<String, Vec<String>>,
    /// By account: its password, and the logins that a change ends.
    passwords: BTreeMap<String, Password>,
    version: watch::Sender<u64>,
    /// Nothing is pushed, and no watch begins.
    silent: bool,
    incarnation: u64,
}

impl Default for Sanctions {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            audit_log: Vec::new(),
            roles: BTreeMap::new(),
            passwords: BTreeMap::new(),
            version: watch::Sender::new(1),
            silent: false,
            incarnation: 1,
        }
    }
}

impl Sanctions {
    pub(crate) fn add(&mut self, sanction: Sanction) {
        let version = *self.version.borrow() + 1;
        self.rows.retain(|row| row.id != sanction.id);
        self.rows.push(Sanction {
            version,
            ..sanction
        });
        self.version.send_replace(version);
    }

    fn of(&self, account_id: &str) -> Vec<Sanction> {
        let rows = self.rows.iter();
        rows.filter(|row| row.account_id == account_id)
            .cloned()
            .collect()
    }
}

impl Store {
    /// Stops every push of the store, which still answers questions.
    pub(crate) fn push_nothing(&self) {
        let mut sanctions = self.sanctions.lock().unwrap();
        sanctions.silent = true;
        // Wakes every open watch, which then ends.
        sanctions.version.send_modify(|_| {});
    }

    /// Goes on from a copy in which nobody has friends yet.
    pub(crate) fn restored(&self) {
        *self.book.lock().unwrap() = Book::default();
        let mut sanctions = self.sanctions.lock().unwrap();
        sanctions.incarnation += 1;
        sanctions.version.send_modify(|_| {});
    }

    /// Returns the times until which tokens and logins are good for nothing, in Unix
    /// milliseconds.
    pub(crate) fn revoked_until_ms(&self) -> Vec<u64> {
        let sanctions = self.sanctions.lock().unwrap();
        let revoked = |sanction: &&Sanction| sanction.kind() == SanctionKind::Revoked;
        sanctions
            .rows
            .iter()
            .filter(revoked)
            .map(|sanction| sanction.until_ms)
            .collect()
    }

    /// Gives the account just these roles from now on.
    pub(crate) fn give_roles(&self, account_id: &str, roles: &[&str]) {
        let mut sanctions = self.sanctions.lock().unwrap();
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        sanctions.roles.insert(account_id.to_owned(), roles);
    }

    /// Actions of operators, each with its actor.
    pub(crate) fn acts(&self) -> Vec<(String, String)> {
        let sanctions = self.sanctions.lock().unwrap();
        let acts = sanctions.audit_log.iter();
        acts.map(|act| (act.action.clone(), act.by.clone()))
            .collect()
    }

    /// Acts of operators, as `action account detail`.
    pub(crate) fn audit_log(&self) -> Vec<String> {
        let sanctions = self.sanctions.lock().unwrap();
        let audit_log = sanctions.audit_log.iter();
        audit_log
            .map(|action| format!("{} {} {}", action.action, action.account_id, action.detail))
            .collect()
    }
}

#[tonic::async_trait]
impl Identity for Store {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<SanctionsUpdate, Status>> + Send>>;

    async fn sign_in_subject(
        &self,
        request: Request<SignInSubjectRequest>,
    ) -> Result<Response<SignInReply>, Status> {
        let request = request.into_inner();
        let subject = request.subject.into_bytes();
        let claimed = request.device_key_hash.to_vec();
        let claimed = self.account_of(&claimed).filter(|_| !claimed.is_empty());
        if let Some(claimed) = claimed {
            self.claim(&subject, claimed);
        }
        Ok(self.sign_in_by(subject, true))
    }

    async fn make_password(
        &self,
        request: Request<MakePasswordRequest>,
    ) -> Result<Response<MakePasswordReply>, Status> {
        let request = request.into_inner();
        let mut sanctions = self.sanctions.lock().unwrap();
        let passwords = &mut sanctions.passwords;
        if passwords.contains_key(&request.account_id) {
            return Err(Status::failed_precondition("there is one"));
        }
        if passwords.values().any(|known| known.name == request.name) {
            return Err(Status::already_exists("taken"));
        }
        let password = Password {
            account_id: request.account_id.clone(),
            name: request.name,
            hash: request.hash,
            recovery_code_hashes: request.recovery_code_hashes,
            login_ids: vec![request.login_id],
        };
        passwords.insert(request.account_id, password);
        Ok(Response::new(MakePasswordReply {}))
    }

    async fn get_password(
        &self,
        request: Request<GetPasswordRequest>,
    ) -> Result<Response<GetPasswordReply>, Status> {
        let request = request.into_inner();
        let sanctions = self.sanctions.lock().unwrap();
        let mut known = sanctions.passwords.values();
        let password = known
            .find(|known| known.name == request.name || known.account_id == request.account_id);
        Ok(Response::new(GetPasswordReply {
            password: password.cloned(),
        }))
    }

    async fn note_login(
        &self,
        request: Request<NoteLoginRequest>,
    ) -> Result<Response<NoteLoginReply>, Status> {
        let request = request.into_inner();
        let mut sanctions = self.sanctions.lock().unwrap();
        let known = sanctions.passwords.get_mut(&request.account_id);
        let known = known.ok_or_else(|| Status::not_found("password"))?;
        known.login_ids.push(request.login_id);
        Ok(Response::new(NoteLoginReply {}))
    }

    async fn change_password(
        &self,
        request: Request<ChangePasswordRequest>,
    ) -> Result<Response<ChangePasswordReply>, Status> {
        let request = request.into_inner();
        let mut sanctions = self.sanctions.lock().unwrap();
        let known = sanctions.passwords.get_mut(&request.account_id);
        let password = known.ok_or_else(|| Status::not_found("password"))?;
        if password.hash != request.before {
            return Err(Status::aborted("it has changed"));
        }
        password.hash = request.hash;
        password.recovery_code_hashes = request.recovery_code_hashes;
        let goes_on = vec![request.login_id.clone()];
        let ended = std::mem::replace(&mut password.login_ids, goes_on);
        let ended = ended.into_iter().filter(|id| *id != request.login_id);
        Ok(Response::new(ChangePasswordReply {
            login_ids: ended.collect(),
        }))
    }

    async fn revoke(
        &self,
        request: Request<RevokeRequest>,
    ) -> Result<Response<RevokeReply>, Status> {
        let request = request.into_inner();
        let mut sanctions = self.sanctions.lock().unwrap();
        if let Some(known) = sanctions.passwords.get_mut(&request.account_id) {
            known.login_ids.retain(|id| !request.ids.contains(id));
        }
        for id in request.ids {
            sanctions.add(Sanction {
                id: format!("revoked:{id}"),
                kind: SanctionKind::Revoked.into(),
                account_id: request.account_id.clone(),
                subject: id,
                until_ms: request.until_ms,
                ..Sanction::default()
            });
        }
        Ok(Response::new(RevokeReply {}))
    }

    async fn moderate(
        &self,
        request: Request<ModerateRequest>,
    ) -> Result<Response<ModerateReply>, Status> {
        let request = request.into_inner();
        let action = request.action();
        let mut sanctions = self.sanctions.lock().unwrap();
        let number = sanctions.audit_log.len() as u64 + 1;
        let (kind, id, until_ms) = match action {
            AuditAction::Ban => (SanctionKind::Ban, "ban", request.until_ms),
            AuditAction::Unban => (SanctionKind::Ban, "ban", 1),
            AuditAction::Mute => (SanctionKind::Mute, "mute", request.until_ms),
            AuditAction::Unmute => (SanctionKind::Mute, "mute", 1),
            AuditAction::Kick => (SanctionKind::Kick, "kick", u64::MAX),
            AuditAction::Teleport => (SanctionKind::Teleport, "teleport", u64::MAX),
            _ => (SanctionKind::Unspecified, "", 0),
        };
        let operates = |roles: &Vec<String>| roles.iter().any(|role| role == "admin");
        let mut others = sanctions.roles.iter();
        let others = others.any(|(id, roles)| *id != request.account_id && operates(roles));
        let own = sanctions.roles.get(&request.account_id);
        let own = own.is_some_and(operates);
        let refused = match action {
            AuditAction::FirstOperator => others,
            AuditAction::Roles => own && !others && !operates(&request.roles),
            _ => false,
        };
        if refused {
            return Err(Status::failed_precondition("operators"));
        }
        sanctions.audit_log.push(AuditEntry {
            id: number,
            by: request.by,
            action: action.as_str_name().to_owned(),
            account_id: request.account_id.clone(),
            detail: format!("{}{}", request.reason, request.roles.join(",")),
            ..AuditEntry::default()
        });
        if action == AuditAction::FirstOperator {
            let admin = vec!["admin".to_owned()];
            sanctions.roles.insert(request.account_id, admin);
        } else if action == AuditAction::Roles {
            sanctions.roles.insert(request.account_id, request.roles);
        } else if kind != SanctionKind::Unspecified {
            let once = matches!(kind, SanctionKind::Kick | SanctionKind::Teleport);
            let number = if once { number } else { 0 };
            sanctions.add(Sanction {
                id: format!("{id}:{}:{number}", request.account_id),
                kind: kind.into(),
                account_id: request.account_id,
                subject: request.character_id,
                reason: request.reason,
                until_ms,
                x: request.x,
                z: request.z,
                ..Sanction::default()
            });
        }
        Ok(Response::new(ModerateReply {}))
    }

    async fn check(&self, request: Request<CheckRequest>) -> Result<Response<CheckReply>, Status> {
        let sanctions = self.sanctions.lock().unwrap();
        let account_id = request.into_inner().account_id;
        let roles = sanctions.roles.get(&account_id).cloned();
        let sanctions = sanctions.of(&account_id);
        let roles = roles.unwrap_or_default();
        Ok(Response::new(CheckReply { sanctions, roles }))
    }

    async fn sanctions(&self, _: Request<PageRequest>) -> Result<Response<SanctionsReply>, Status> {
        let sanctions = self.sanctions.lock().unwrap();
        let in_force = |sanction: &&Sanction| {
            matches!(sanction.kind(), SanctionKind::Ban | SanctionKind::Mute)
        };
        let sanctions = sanctions.rows.iter().filter(in_force).cloned().collect();
        Ok(Response::new(SanctionsReply { sanctions }))
    }

    async fn audit_log(&self, _: Request<PageRequest>) -> Result<Response<AuditLogReply>, Status> {
        let audit_log = self.sanctions.lock().unwrap().audit_log.clone();
        Ok(Response::new(AuditLogReply { audit_log }))
    }

    async fn watch(
        &self,
        request: Request<WatchGatesRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        if self.sanctions.lock().unwrap().silent {
            return Err(Status::unavailable("silent"));
        }
        let since = request.into_inner().since;
        let mut version = self.sanctions.lock().unwrap().version.subscribe();
        version.mark_changed();
        let begin = (self.clone(), version, since);
        let stream = futures::stream::unfold(begin, |(store, mut version, since)| async move {
            let second = Duration::from_secs(1);
            // After a second without news the store sends an update all the same.
            let _ = tokio::time::timeout(second, version.changed()).await;
            let update = {
                let sanctions = store.sanctions.lock().unwrap();
                if sanctions.silent {
                    return None;
                }
                let newer = sanctions.rows.iter().filter(|row| row.version > since);
                SanctionsUpdate {
                    version: *sanctions.version.borrow(),
                    incarnation: sanctions.incarnation,
                    whole: since == 0,
                    more: false,
                    sanctions: newer.cloned().collect(),
                }
            };
            let since = update.version;
            Some((Ok(update), (store, version, since)))
        });
        Ok(Response::new(Box::pin(stream)))
    }
}
