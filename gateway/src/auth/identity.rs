//! Identity data in the store: accounts of the identity provider, revocations, and decisions of
//! operators.
//!
//! Always: every call has a deadline; where a replica is away, the next one answers. The gateway
//! may repeat each of these calls; a repeated operator's action is on record twice.

use bytes::Bytes;
use proto::rpc::{
    identity::v1::{
        AuditEntry, ChangePasswordRequest, CheckRequest, GetPasswordRequest, MakePasswordRequest,
        ModerateRequest, NoteLoginRequest, PageRequest, Password, RevokeRequest, Sanction,
        SignInSubjectRequest, identity_client::IdentityClient,
    },
    persistence::v1::SignInReply,
};
use service_runtime::rpc::{Replicas, Route};
use tonic::Status;

/// The longest answer: a page of sanctions.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Calls the persistence services.
pub(crate) struct Identity {
    replicas: Replicas,
}

/// Returns the client of one replica.
fn at(channel: Route) -> IdentityClient<Route> {
    IdentityClient::new(channel).max_decoding_message_size(REPLY_BYTES_MAX)
}

impl Identity {
    /// Asks these.
    pub(crate) fn new(replicas: Replicas) -> Self {
        Self { replicas }
    }

    /// Returns a way to the next replica, for a stream.
    pub(super) fn route(&self) -> Route {
        self.replicas.route()
    }

    /// Returns the account of a subject of the identity provider. `claims`: the hash of the device
    /// key whose anonymous account becomes the subject's own.
    pub(crate) async fn sign_in(
        &self,
        subject: &str,
        claims: Option<Bytes>,
    ) -> Result<SignInReply, Status> {
        let request = SignInSubjectRequest {
            subject: subject.to_owned(),
            device_key_hash: claims.unwrap_or_default(),
        };
        let call = async |channel, ask| at(channel).sign_in_subject(ask).await;
        self.replicas.call(request, call).await
    }

    /// Gives an account a password, and with it a name.
    pub(crate) async fn make_password(&self, request: MakePasswordRequest) -> Result<(), Status> {
        let call = async |channel, ask| at(channel).make_password(ask).await;
        self.replicas.call(request, call).await.map(|_| ())
    }

    /// Returns the password of a name, if somebody has it.
    pub(crate) async fn password_of_name(&self, name: &str) -> Result<Option<Password>, Status> {
        let name = name.to_owned();
        self.password(GetPasswordRequest {
            name,
            ..GetPasswordRequest::default()
        })
        .await
    }

    /// Returns the password of an account, if it has one.
    pub(crate) async fn password_of_account(
        &self,
        account_id: &str,
    ) -> Result<Option<Password>, Status> {
        let account_id = account_id.to_owned();
        self.password(GetPasswordRequest {
            account_id,
            ..GetPasswordRequest::default()
        })
        .await
    }

    async fn password(&self, request: GetPasswordRequest) -> Result<Option<Password>, Status> {
        let call = async |channel, ask| at(channel).get_password(ask).await;
        let reply = self.replicas.call(request, call).await?;
        Ok(reply.password)
    }

    /// Notes a login that a password began, so that a change of the password ends it.
    pub(crate) async fn note_login(&self, request: NoteLoginRequest) -> Result<(), Status> {
        let call = async |channel, ask| at(channel).note_login(ask).await;
        self.replicas.call(request, call).await.map(|_| ())
    }

    /// Changes a password. Returns the logins that ended.
    pub(crate) async fn change_password(
        &self,
        request: ChangePasswordRequest,
    ) -> Result<Vec<String>, Status> {
        let call = async |channel, ask| at(channel).change_password(ask).await;
        let reply = self.replicas.call(request, call).await?;
        Ok(reply.login_ids)
    }

    /// Revokes tokens and logins. `until_ms`: their natural end, in milliseconds since 1970.
    pub(crate) async fn revoke(
        &self,
        account_id: &str,
        ids: Vec<String>,
        until_ms: u64,
    ) -> Result<(), Status> {
        let request = RevokeRequest {
            account_id: account_id.to_owned(),
            ids,
            until_ms,
        };
        let call = async |channel, ask| at(channel).revoke(ask).await;
        self.replicas.call(request, call).await.map(|_| ())
    }

    /// Carries out an operator's decision.
    pub(crate) async fn moderate(&self, request: ModerateRequest) -> Result<(), Status> {
        let call = async |channel, ask| at(channel).moderate(ask).await;
        self.replicas.call(request, call).await.map(|_| ())
    }

    /// Reads the current sanctions of an account.
    pub(crate) async fn sanctions_of(&self, account_id: &str) -> Result<Vec<Sanction>, Status> {
        let account_id = account_id.to_owned();
        let call = async |channel, ask| at(channel).check(ask).await;
        self.replicas
            .call(CheckRequest { account_id }, call)
            .await
            .map(|reply| reply.sanctions)
    }

    /// Reads the current roles of an account.
    pub(crate) async fn roles_of(&self, account_id: &str) -> Result<Vec<String>, Status> {
        let account_id = account_id.to_owned();
        let call = async |channel, ask| at(channel).check(ask).await;
        self.replicas
            .call(CheckRequest { account_id }, call)
            .await
            .map(|reply| reply.roles)
    }

    /// Lists bans and mutes in force, newest first.
    pub(crate) async fn sanctions(&self, page: PageRequest) -> Result<Vec<Sanction>, Status> {
        let call = async |channel, ask| at(channel).sanctions(ask).await;
        self.replicas
            .call(page, call)
            .await
            .map(|reply| reply.sanctions)
    }

    /// Lists operators' audit_log, newest first.
    pub(crate) async fn audit_log(&self, page: PageRequest) -> Result<Vec<AuditEntry>, Status> {
        let call = async |channel, ask| at(channel).audit_log(ask).await;
        self.replicas
            .call(page, call)
            .await
            .map(|reply| reply.audit_log)
    }
}
