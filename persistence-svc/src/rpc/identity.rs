//! `Identity`: sign-in, sanctions and the decisions of operators.
//!
//! Always: a watcher that has version 7 has everything up to 7; while this process cannot see the
//! store, it sends no sign of life.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::Stream;
use futures::stream::unfold;
use proto::rpc::identity::v1 as wire;
use proto::rpc::identity::v1::identity_server::Identity;
use proto::rpc::persistence::v1::SignInReply;
use service_runtime::rpc::{Caller, Role};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, async_trait};

use super::model::{Checked, number, signed_in, text};
use super::{Desk, malformed, password};
use crate::feed::Feed;
use crate::store::identity::{
    Act, AuditAction, Done, SANCTIONS_MAX, Sanction, SanctionKind, Subject,
};
use crate::store::unsigned;

const SIGN_OF_LIFE: Duration = Duration::from_secs(1);
/// The longest reason or announcement, in bytes.
const REASON_MAX: usize = 1_000;
/// Most ids that one call may revoke.
const REVOKED_MAX: usize = 16;
const PAGE_MAX: u32 = 100;
/// Roles of an account, and the longest name of one, in bytes.
const ROLES_MAX: usize = 8;
const ROLE_BYTES_MAX: usize = 32;
/// Largest coordinate of a tile.
const COORDINATE_MAX: i32 = 1_000_000;

/// The service.
pub(crate) struct IdentityService {
    pub(crate) desk: Arc<Desk>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) stop: CancellationToken,
}

/// One open stream.
struct Watching {
    desk: Arc<Desk>,
    feed: Arc<Feed>,
    newest: watch::Receiver<(i64, i64)>,
    beat: Interval,
    /// Last sent version.
    sent: i64,
    incarnation: i64,
    whole: bool,
    /// Whether more sanctions wait than fit a message.
    more: bool,
    stop: CancellationToken,
}

type Updates = Pin<Box<dyn Stream<Item = Result<wire::SanctionsUpdate, Status>> + Send>>;

#[async_trait]
impl Identity for IdentityService {
    type WatchStream = Updates;

    async fn sign_in_subject(
        &self,
        request: Request<wire::SignInSubjectRequest>,
    ) -> Result<Response<SignInReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let device_key = match &ask.device_key_hash[..] {
                [] => None,
                hash => Some(
                    hash.try_into()
                        .map_err(|_| malformed("device_key_hash must have 32 bytes"))?,
                ),
            };
            let subject = text("subject", ask.subject)?;
            let ask = Subject {
                subject,
                device_key,
            };
            signed_in(Some(self.desk.store.sign_in_subject(ask).await?))
        };
        self.desk.answer("SignInSubject", work).await
    }

    async fn make_password(
        &self,
        request: Request<wire::MakePasswordRequest>,
    ) -> Result<Response<wire::MakePasswordReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            self.desk.store.make_password(password::made(ask)?).await?;
            Ok(wire::MakePasswordReply {})
        };
        self.desk.answer("MakePassword", work).await
    }

    async fn get_password(
        &self,
        request: Request<wire::GetPasswordRequest>,
    ) -> Result<Response<wire::GetPasswordReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let found = self.desk.store.password(password::of(ask)?).await?;
            let password = found.map(password::password);
            Ok(wire::GetPasswordReply { password })
        };
        self.desk.answer("GetPassword", work).await
    }

    async fn note_login(
        &self,
        request: Request<wire::NoteLoginRequest>,
    ) -> Result<Response<wire::NoteLoginReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let login = password::login(ask.login_id)?;
            let until = number("until_ms", ask.until_ms)?;
            self.desk.store.note_login(&account, &login, until).await?;
            Ok(wire::NoteLoginReply {})
        };
        self.desk.answer("NoteLogin", work).await
    }

    async fn change_password(
        &self,
        request: Request<wire::ChangePasswordRequest>,
    ) -> Result<Response<wire::ChangePasswordReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let ask = password::changed(ask)?;
            let login_ids = self.desk.store.change_password(ask).await?;
            Ok(wire::ChangePasswordReply { login_ids })
        };
        self.desk.answer("ChangePassword", work).await
    }

    async fn revoke(
        &self,
        request: Request<wire::RevokeRequest>,
    ) -> Result<Response<wire::RevokeReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            if ask.ids.is_empty() || ask.ids.len() > REVOKED_MAX {
                return Err(malformed(format!("ids must be 1 to {REVOKED_MAX}")));
            }
            let ids = ask.ids.into_iter().map(|id| text("ids", id));
            let ids = ids.collect::<Checked<Vec<_>>>()?;
            let until = number("until_ms", ask.until_ms)?;
            self.desk.store.revoke(&account, ids, until).await?;
            Ok(wire::RevokeReply {})
        };
        self.desk.answer("Revoke", work).await
    }

    async fn moderate(
        &self,
        request: Request<wire::ModerateRequest>,
    ) -> Result<Response<wire::ModerateReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let act = act(ask)?;
            let (action, by) = (act.action.name(), act.by.clone());
            let account = act.account_id.clone();
            self.desk.store.moderate(act).await?;
            tracing::info!(action, by, account, "an operator acted");
            Ok(wire::ModerateReply {})
        };
        self.desk.answer("Moderate", work).await
    }

    async fn check(
        &self,
        request: Request<wire::CheckRequest>,
    ) -> Result<Response<wire::CheckReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let sanctions = self.desk.store.sanctions_of(&account).await?;
            let sanctions = sanctions
                .into_iter()
                .map(sanction)
                .collect::<Checked<_>>()?;
            let roles = self.desk.store.roles_of(&account).await?;
            Ok(wire::CheckReply { sanctions, roles })
        };
        self.desk.answer("CheckGates", work).await
    }

    async fn sanctions(
        &self,
        request: Request<wire::PageRequest>,
    ) -> Result<Response<wire::SanctionsReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let (before, most) = page(&ask)?;
            let sanctions = self.desk.store.sanctions(before, most).await?;
            let sanctions = sanctions
                .into_iter()
                .map(sanction)
                .collect::<Checked<_>>()?;
            Ok(wire::SanctionsReply { sanctions })
        };
        self.desk.answer("Sanctions", work).await
    }

    async fn audit_log(
        &self,
        request: Request<wire::PageRequest>,
    ) -> Result<Response<wire::AuditLogReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let (before, most) = page(&ask)?;
            let audit_log = self.desk.store.audit_log(before, most).await?;
            let audit_log = audit_log.into_iter().map(done).collect::<Checked<_>>()?;
            Ok(wire::AuditLogReply { audit_log })
        };
        self.desk.answer("AuditActions", work).await
    }

    async fn watch(
        &self,
        request: Request<wire::WatchGatesRequest>,
    ) -> Result<Response<Updates>, Status> {
        self.desk.is_open()?;
        let mut newest = self.feed.sanctions();
        let (_, incarnation) = *newest.borrow();
        // The feed may be stale; another replica may see the store.
        if !self.feed.is_fresh() || incarnation == 0 {
            return Err(Status::unavailable("the store does not answer"));
        }
        newest.mark_changed();
        let caller = Caller::of(&request);
        let ask = request.into_inner();
        Caller::check_of(caller.as_ref(), Role::Gateway, &ask.client)?;
        let client: String = ask.client.chars().take(64).collect();
        tracing::debug!(client, since = ask.since, "watches the sanctions");
        let since = i64::try_from(ask.since).unwrap_or(0);
        let same = u64::try_from(incarnation).is_ok_and(|now| now == ask.incarnation);
        let known = same && since > 0;
        let mut beat = interval(SIGN_OF_LIFE);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let watching = Watching {
            desk: Arc::clone(&self.desk),
            feed: Arc::clone(&self.feed),
            newest,
            beat,
            sent: if known { since } else { 0 },
            incarnation,
            whole: !known,
            more: false,
            stop: self.stop.clone(),
        };
        let updates = unfold(Some(watching), |watching| async move {
            let mut watching = watching?;
            match next(&mut watching).await? {
                Ok(update) => Some((Ok(update), Some(watching))),
                Err(status) => Some((Err(status), None)),
            }
        });
        Ok(Response::new(Box::pin(updates)))
    }
}

/// Returns the next message; `None` ends the stream.
async fn next(watching: &mut Watching) -> Option<Result<wire::SanctionsUpdate, Status>> {
    loop {
        if watching.more {
            return Some(page_of(watching).await);
        }
        tokio::select! {
            biased;
            () = watching.stop.cancelled() => return None,
            changed = watching.newest.changed() => {
                changed.ok()?;
                let (version, incarnation) = *watching.newest.borrow_and_update();
                if incarnation != watching.incarnation {
                    // The store has another incarnation: versions begin anew.
                    return None;
                }
                if version > watching.sent || watching.whole {
                    watching.beat.reset();
                    return Some(page_of(watching).await);
                }
            }
            _ = watching.beat.tick() => {
                if watching.feed.is_fresh() {
                    return Some(update(watching, Vec::new()));
                }
            }
        }
    }
}

/// Returns the sanctions that are newer than the last sent version, as many as fit a message.
async fn page_of(watching: &mut Watching) -> Result<wire::SanctionsUpdate, Status> {
    // Reads the version before the sanctions, so that it may be too low but never too high.
    let version = watching.newest.borrow().0;
    let asked = watching.desk.store.sanctions_since(watching.sent).await;
    let sanctions = asked.map_err(|error| watching.desk.status("WatchGates", error.into()))?;
    watching.more = i64::try_from(sanctions.len()).is_ok_and(|read| read == SANCTIONS_MAX);
    let last = sanctions.last().map_or(0, |sanction| sanction.version);
    watching.sent = watching.sent.max(last);
    if !watching.more {
        watching.sent = watching.sent.max(version);
    }
    let sent = update(watching, sanctions);
    watching.whole = false;
    sent
}

fn update(watching: &Watching, sanctions: Vec<Sanction>) -> Result<wire::SanctionsUpdate, Status> {
    let broken = |failure| watching.desk.status("WatchGates", failure);
    let sanctions = sanctions.into_iter().map(sanction).collect::<Checked<_>>();
    Ok(wire::SanctionsUpdate {
        version: u64::try_from(watching.sent).unwrap_or(0),
        incarnation: u64::try_from(watching.incarnation).unwrap_or(0),
        whole: watching.whole,
        more: watching.more,
        sanctions: sanctions.map_err(broken)?,
    })
}

fn page(ask: &wire::PageRequest) -> Checked<(Option<i64>, i64)> {
    if !(1..=PAGE_MAX).contains(&ask.most) {
        return Err(malformed(format!("most must be 1 to {PAGE_MAX}")));
    }
    let before = number("before", ask.before)?;
    Ok(((before > 0).then_some(before), i64::from(ask.most)))
}

fn act(ask: wire::ModerateRequest) -> Checked<Act> {
    let known = wire::AuditAction::try_from(ask.action)
        .map_err(|_| malformed(format!("this version does not know action {}", ask.action)))?;
    let action = match known {
        wire::AuditAction::Unspecified => return Err(malformed("action is missing")),
        wire::AuditAction::Kick => AuditAction::Kick,
        wire::AuditAction::Ban => AuditAction::Ban,
        wire::AuditAction::Unban => AuditAction::Unban,
        wire::AuditAction::Mute => AuditAction::Mute,
        wire::AuditAction::Unmute => AuditAction::Unmute,
        wire::AuditAction::Teleport => AuditAction::Teleport,
        wire::AuditAction::Announce => AuditAction::Announce,
        wire::AuditAction::Freeze => AuditAction::Freeze,
        wire::AuditAction::Unfreeze => AuditAction::Unfreeze,
        wire::AuditAction::Roles => AuditAction::Roles,
        wire::AuditAction::FirstOperator => AuditAction::FirstOperator,
        wire::AuditAction::Drain => AuditAction::Drain,
        wire::AuditAction::PauseRegion => AuditAction::PauseRegion,
        wire::AuditAction::ResumeRegion => AuditAction::ResumeRegion,
        wire::AuditAction::ReleaseCharacter => AuditAction::ReleaseCharacter,
        wire::AuditAction::Record => AuditAction::Record,
        wire::AuditAction::Profile => AuditAction::Profile,
        wire::AuditAction::Chaos => AuditAction::Chaos,
    };
    if ask.reason.len() > REASON_MAX || ask.reason.contains('\0') {
        return Err(malformed(format!("reason has at most {REASON_MAX} bytes")));
    }
    let account_id = match action.of_all() {
        true => String::new(),
        false => text("account_id", ask.account_id)?,
    };
    let character_id = match ask.character_id.as_str() {
        "" if action != AuditAction::Teleport => String::new(),
        _ => text("character_id", ask.character_id)?,
    };
    if ask.x.abs() > COORDINATE_MAX || ask.z.abs() > COORDINATE_MAX {
        return Err(malformed("x and z are outside any world"));
    }
    let until = number("until_ms", ask.until_ms)?;
    let roles = roles(action, ask.roles)?;
    Ok(Act {
        action,
        by: text("by", ask.by)?,
        account_id,
        character_id,
        reason: ask.reason,
        until_ms: (until > 0).then_some(until),
        x: ask.x,
        z: ask.z,
        roles,
    })
}

/// Checks the roles of a request. A role has no comma, because commas separate roles in the store.
fn roles(action: AuditAction, mut asked: Vec<String>) -> Checked<Vec<String>> {
    asked.sort_unstable();
    asked.dedup();
    if action != AuditAction::Roles && !asked.is_empty() {
        return Err(malformed("roles are for AUDIT_ACTION_ROLES"));
    }
    let is_name = |role: &String| {
        let letters = role.bytes().all(|byte| byte.is_ascii_lowercase());
        letters && (1..=ROLE_BYTES_MAX).contains(&role.len())
    };
    if asked.len() > ROLES_MAX || !asked.iter().all(is_name) {
        let why = format!("roles must be at most {ROLES_MAX} names of small letters");
        return Err(malformed(why));
    }
    Ok(asked)
}

pub(super) fn sanction(sanction: Sanction) -> Checked<wire::Sanction> {
    let kind = match sanction.kind {
        SanctionKind::Revoked => wire::SanctionKind::Revoked,
        SanctionKind::Ban => wire::SanctionKind::Ban,
        SanctionKind::Mute => wire::SanctionKind::Mute,
        SanctionKind::Kick => wire::SanctionKind::Kick,
        SanctionKind::Teleport => wire::SanctionKind::Teleport,
    };
    Ok(wire::Sanction {
        id: sanction.id,
        kind: kind.into(),
        account_id: sanction.account_id,
        subject: sanction.subject,
        reason: sanction.reason,
        until_ms: unsigned(sanction.until_ms.unwrap_or(0))?,
        version: unsigned(sanction.version)?,
        by: sanction.by,
        at_ms: unsigned(sanction.at_ms)?,
        x: sanction.x,
        z: sanction.z,
    })
}

pub(super) fn done(done: Done) -> Checked<wire::AuditEntry> {
    Ok(wire::AuditEntry {
        id: unsigned(done.id)?,
        at_ms: unsigned(done.at_ms)?,
        by: done.by,
        action: done.action,
        account_id: done.account_id,
        character_id: done.character_id,
        detail: done.detail,
    })
}
