//! Who may come in, as the store keeps it: accounts of the identity provider, revocations, and
//! what operators decide.
//!
//! Always: every call has a deadline; a replica that is away is answered for by the next one. All
//! of these calls may be made twice; an operator's deed is then written down twice.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use bytes::Bytes;
use chassis::rpc;
use proto::rpc::{
    identity::v1::{
        CheckRequest, DeedDone, Gate, ModerateRequest, PageRequest, RevokeRequest,
        SignInSubjectRequest, identity_client::IdentityClient,
    },
    persistence::v1::SignInReply,
};
use tonic::{Status, transport::Channel};

use super::accounts::{away, call};

/// The longest answer: a page of gates.
const REPLY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Calls the persistence services.
pub(crate) struct Identity {
    replicas: Vec<IdentityClient<Channel>>,
    current: AtomicUsize,
}

impl Identity {
    /// Connects when first used.
    pub(crate) fn new(addresses: &[String]) -> anyhow::Result<Self> {
        let replica = |address: &String| {
            let client = IdentityClient::new(rpc::channel(address)?);
            Ok(client.max_decoding_message_size(REPLY_BYTES_MAX))
        };
        let replicas = addresses.iter().map(replica);
        Ok(Self {
            replicas: replicas
                .collect::<anyhow::Result<_>>()
                .context("PERSISTENCE_ADDRESSES")?,
            current: AtomicUsize::new(0),
        })
    }

    /// The account of a subject of the identity provider; `claims`: the hash of the device key
    /// whose anonymous account becomes its own.
    pub(crate) async fn sign_in(
        &self,
        subject: &str,
        claims: Option<Bytes>,
    ) -> Result<SignInReply, Status> {
        let request = SignInSubjectRequest {
            subject: subject.to_owned(),
            device_key_hash: claims.unwrap_or_default(),
        };
        call!(self, sign_in_subject, request)
    }

    /// Makes tokens and logins good for nothing. `until_ms`: when they would have ended anyway.
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
        let answer = async { call!(self, revoke, request) };
        answer.await.map(|_| ())
    }

    /// Does what an operator decided.
    pub(crate) async fn moderate(&self, request: ModerateRequest) -> Result<(), Status> {
        let answer = async { call!(self, moderate, request) };
        answer.await.map(|_| ())
    }

    /// The gates of an account as they are now.
    pub(crate) async fn gates_of(&self, account_id: &str) -> Result<Vec<Gate>, Status> {
        let account_id = account_id.to_owned();
        let answer = async { call!(self, check, CheckRequest { account_id }) };
        answer.await.map(|reply| reply.gates)
    }

    /// What operators made of an account, as it is now.
    pub(crate) async fn roles_of(&self, account_id: &str) -> Result<Vec<String>, Status> {
        let account_id = account_id.to_owned();
        let answer = async { call!(self, check, CheckRequest { account_id }) };
        answer.await.map(|reply| reply.roles)
    }

    /// Bans and mutes in force, newest first.
    pub(crate) async fn sanctions(&self, page: PageRequest) -> Result<Vec<Gate>, Status> {
        let answer = async { call!(self, sanctions, page) };
        answer.await.map(|reply| reply.gates)
    }

    /// What operators did, newest first.
    pub(crate) async fn deeds(&self, page: PageRequest) -> Result<Vec<DeedDone>, Status> {
        let answer = async { call!(self, deeds, page) };
        answer.await.map(|reply| reply.deeds)
    }
}
