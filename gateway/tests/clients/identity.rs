//! The part of the store that says who may come in, and forgets it all at the end.

use std::{collections::BTreeMap, pin::Pin, time::Duration};

use proto::rpc::{
    identity::v1::{
        CheckReply, CheckRequest, Deed, DeedDone, DeedsReply, Gate, GateKind, GatesUpdate,
        ModerateReply, ModerateRequest, PageRequest, RevokeReply, RevokeRequest, SanctionsReply,
        SignInSubjectRequest, WatchGatesRequest, identity_server::Identity,
    },
    persistence::v1::SignInReply,
};
use tokio::sync::watch;
use tokio_stream::Stream;
use tonic::{Request, Response, Status};

use crate::store::Store;

/// What it knows.
pub(crate) struct Gates {
    rows: Vec<Gate>,
    deeds: Vec<DeedDone>,
    /// By account.
    roles: BTreeMap<String, Vec<String>>,
    version: watch::Sender<u64>,
    /// Nothing is pushed, and no watch begins.
    silent: bool,
}

impl Default for Gates {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            deeds: Vec::new(),
            roles: BTreeMap::new(),
            version: watch::Sender::new(1),
            silent: false,
        }
    }
}

impl Gates {
    fn add(&mut self, gate: Gate) {
        let version = *self.version.borrow() + 1;
        self.rows.retain(|row| row.id != gate.id);
        self.rows.push(Gate { version, ..gate });
        self.version.send_replace(version);
    }

    fn of(&self, account_id: &str) -> Vec<Gate> {
        let rows = self.rows.iter();
        rows.filter(|row| row.account_id == account_id)
            .cloned()
            .collect()
    }
}

impl Store {
    /// From now on nothing is pushed; what is asked is answered.
    pub(crate) fn push_nothing(&self) {
        let mut gates = self.gates.lock().unwrap();
        gates.silent = true;
        // Whoever watches looks, and is let go.
        gates.version.send_modify(|_| {});
    }

    /// Until when tokens and logins are good for nothing, in milliseconds since 1970.
    pub(crate) fn revoked_until_ms(&self) -> Vec<u64> {
        let gates = self.gates.lock().unwrap();
        let revoked = |gate: &&Gate| gate.kind() == GateKind::Revoked;
        gates
            .rows
            .iter()
            .filter(revoked)
            .map(|gate| gate.until_ms)
            .collect()
    }

    /// From now on the account has just these roles.
    pub(crate) fn give_roles(&self, account_id: &str, roles: &[&str]) {
        let mut gates = self.gates.lock().unwrap();
        let roles = roles.iter().map(|role| (*role).to_owned()).collect();
        gates.roles.insert(account_id.to_owned(), roles);
    }

    /// What operators did, as `deed account by`.
    pub(crate) fn deeds(&self) -> Vec<String> {
        let gates = self.gates.lock().unwrap();
        let deeds = gates.deeds.iter();
        deeds
            .map(|deed| format!("{} {} {}", deed.deed, deed.account_id, deed.detail))
            .collect()
    }
}

#[tonic::async_trait]
impl Identity for Store {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<GatesUpdate, Status>> + Send>>;

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

    async fn revoke(
        &self,
        request: Request<RevokeRequest>,
    ) -> Result<Response<RevokeReply>, Status> {
        let request = request.into_inner();
        let mut gates = self.gates.lock().unwrap();
        for id in request.ids {
            gates.add(Gate {
                id: format!("revoked:{id}"),
                kind: GateKind::Revoked.into(),
                account_id: request.account_id.clone(),
                subject: id,
                until_ms: request.until_ms,
                ..Gate::default()
            });
        }
        Ok(Response::new(RevokeReply {}))
    }

    async fn moderate(
        &self,
        request: Request<ModerateRequest>,
    ) -> Result<Response<ModerateReply>, Status> {
        let request = request.into_inner();
        let deed = request.deed();
        let mut gates = self.gates.lock().unwrap();
        let number = gates.deeds.len() as u64 + 1;
        let (kind, id, until_ms) = match deed {
            Deed::Ban => (GateKind::Ban, "ban", request.until_ms),
            Deed::Unban => (GateKind::Ban, "ban", 1),
            Deed::Mute => (GateKind::Mute, "mute", request.until_ms),
            Deed::Unmute => (GateKind::Mute, "mute", 1),
            Deed::Kick => (GateKind::Kick, "kick", u64::MAX),
            Deed::Teleport => (GateKind::Teleport, "teleport", u64::MAX),
            _ => (GateKind::Unspecified, "", 0),
        };
        gates.deeds.push(DeedDone {
            id: number,
            by: request.by,
            deed: deed.as_str_name().to_owned(),
            account_id: request.account_id.clone(),
            detail: format!("{}{}", request.reason, request.roles.join(",")),
            ..DeedDone::default()
        });
        if deed == Deed::Roles {
            gates.roles.insert(request.account_id, request.roles);
        } else if kind != GateKind::Unspecified {
            let once = matches!(kind, GateKind::Kick | GateKind::Teleport);
            let number = if once { number } else { 0 };
            gates.add(Gate {
                id: format!("{id}:{}:{number}", request.account_id),
                kind: kind.into(),
                account_id: request.account_id,
                subject: request.character_id,
                reason: request.reason,
                until_ms,
                x: request.x,
                z: request.z,
                ..Gate::default()
            });
        }
        Ok(Response::new(ModerateReply {}))
    }

    async fn check(&self, request: Request<CheckRequest>) -> Result<Response<CheckReply>, Status> {
        let gates = self.gates.lock().unwrap();
        let account_id = request.into_inner().account_id;
        let roles = gates.roles.get(&account_id).cloned();
        let gates = gates.of(&account_id);
        let roles = roles.unwrap_or_default();
        Ok(Response::new(CheckReply { gates, roles }))
    }

    async fn sanctions(&self, _: Request<PageRequest>) -> Result<Response<SanctionsReply>, Status> {
        let gates = self.gates.lock().unwrap();
        let lasting = |gate: &&Gate| matches!(gate.kind(), GateKind::Ban | GateKind::Mute);
        let gates = gates.rows.iter().filter(lasting).cloned().collect();
        Ok(Response::new(SanctionsReply { gates }))
    }

    async fn deeds(&self, _: Request<PageRequest>) -> Result<Response<DeedsReply>, Status> {
        let deeds = self.gates.lock().unwrap().deeds.clone();
        Ok(Response::new(DeedsReply { deeds }))
    }

    async fn watch(
        &self,
        request: Request<WatchGatesRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        if self.gates.lock().unwrap().silent {
            return Err(Status::unavailable("silent"));
        }
        let since = request.into_inner().since;
        let mut version = self.gates.lock().unwrap().version.subscribe();
        version.mark_changed();
        let begin = (self.clone(), version, since);
        let stream = futures::stream::unfold(begin, |(store, mut version, since)| async move {
            let second = Duration::from_secs(1);
            // A second without news is told too.
            let _ = tokio::time::timeout(second, version.changed()).await;
            let update = {
                let gates = store.gates.lock().unwrap();
                if gates.silent {
                    return None;
                }
                let newer = gates.rows.iter().filter(|row| row.version > since);
                GatesUpdate {
                    version: *gates.version.borrow(),
                    incarnation: 1,
                    whole: since == 0,
                    more: false,
                    gates: newer.cloned().collect(),
                }
            };
            let since = update.version;
            Some((Ok(update), (store, version, since)))
        });
        Ok(Response::new(Box::pin(stream)))
    }
}
