//! Accounts and characters, as the store keeps them.
//!
//! Always: every call has a deadline; where a replica is away, the next one answers. This module
//! repeats a call that may have happened only where a second call changes nothing.

use bytes::Bytes;
use proto::{
    client::{ErrorCode, Refusal},
    rpc::persistence::v1::{
        CharacterSummary, CreateCharacterRequest, DeleteCharacterRequest, FindCharacterRequest,
        GetAccountRequest, ListCharactersRequest, OpenSessionReply, OpenSessionRequest,
        SecretRequest, SignInReply, SignInRequest, accounts_client::AccountsClient,
    },
};
use service_runtime::{
    rpc::{Replicas, Route},
    telemetry::sampled,
};
use tonic::{Code, Status};

use crate::{
    metrics::Metrics,
    turns::{Line, Turn, Turns},
};

/// Calls by which players come into the world, of this gateway at a time. The persistence service
/// answers so many in a fraction of their deadline.
const ARRIVING_MAX: usize = 128;

/// Calls the persistence services.
pub(crate) struct Accounts {
    replicas: Replicas,
    /// Turns at the calls by which players come into the world.
    arriving: Turns,
}

/// Returns the client of one replica.
fn at(channel: Route) -> AccountsClient<Route> {
    AccountsClient::new(channel)
}

impl Accounts {
    /// Asks these.
    pub(crate) fn new(replicas: Replicas, metrics: Metrics) -> Self {
        Self {
            replicas,
            arriving: Turns::new("store", ARRIVING_MAX, Line::OF_ARRIVALS, metrics),
        }
    }

    async fn turn(&self) -> Result<Turn, Status> {
        let turn = self.arriving.turn().await;
        turn.map_err(|error| Status::unavailable(error.to_string()))
    }

    /// Reads the secret that signs tokens from the store.
    pub(crate) async fn secret(&self, name: &str) -> Result<Bytes, Status> {
        let name = name.to_owned();
        let call = async |channel, ask| at(channel).secret(ask).await;
        self.replicas
            .call(SecretRequest { name }, call)
            .await
            .map(|reply| reply.value)
    }

    /// Returns the account of a device key. With `create`, the store makes a missing one.
    pub(crate) async fn sign_in(&self, hash: Bytes, create: bool) -> Result<SignInReply, Status> {
        let _turn = self.turn().await?;
        let call = async |channel, ask| at(channel).sign_in(ask).await;
        self.replicas
            .call(
                SignInRequest {
                    device_key_hash: hash,
                    create,
                },
                call,
            )
            .await
    }

    /// Returns an account by its id.
    pub(crate) async fn account(&self, account_id: &str) -> Result<SignInReply, Status> {
        let account_id = account_id.to_owned();
        let _turn = self.turn().await?;
        let call = async |channel, ask| at(channel).get_account(ask).await;
        self.replicas
            .call(GetAccountRequest { account_id }, call)
            .await
    }

    /// Returns all characters of an account.
    pub(crate) async fn characters(
        &self,
        account_id: &str,
    ) -> Result<Vec<CharacterSummary>, Status> {
        let request = ListCharactersRequest {
            account_id: account_id.to_owned(),
        };
        let call = async |channel, ask| at(channel).list_characters(ask).await;
        self.replicas
            .call(request, call)
            .await
            .map(|reply| reply.characters)
    }

    /// Makes a character. If a retry finds the name taken, the account's own character of that name
    /// is the answer.
    pub(crate) async fn create_character(
        &self,
        request: CreateCharacterRequest,
    ) -> Result<CharacterSummary, Status> {
        let _turn = self.turn().await?;
        let call = async |channel, ask| at(channel).create_character(ask).await;
        let asked = self.replicas.call_once(request.clone(), call).await;
        match asked.answer {
            Err(status) if status.code() == Code::AlreadyExists && asked.again => {
                self.own_by_name(&request, status).await
            }
            answer => answer,
        }
    }

    /// Finds a character by its name, without regard to case.
    pub(crate) async fn find_character(&self, name: &str) -> Result<CharacterSummary, Status> {
        let name = name.to_owned();
        let call = async |channel, ask| at(channel).find_character(ask).await;
        self.replicas
            .call(FindCharacterRequest { name }, call)
            .await
    }

    async fn own_by_name(
        &self,
        request: &CreateCharacterRequest,
        taken: Status,
    ) -> Result<CharacterSummary, Status> {
        let name = request.name.clone();
        let call = async |channel, ask| at(channel).find_character(ask).await;
        match self
            .replicas
            .call(FindCharacterRequest { name }, call)
            .await
        {
            Ok(found) if found.account_id == request.account_id && found.name == request.name => {
                Ok(found)
            }
            _ => Err(taken),
        }
    }

    /// Removes a character.
    pub(crate) async fn delete_character(
        &self,
        account_id: &str,
        character_id: &str,
    ) -> Result<(), Status> {
        let request = DeleteCharacterRequest {
            account_id: account_id.to_owned(),
            character_id: character_id.to_owned(),
        };
        let call = async |channel, ask| at(channel).delete_character(ask).await;
        self.replicas.call(request, call).await.map(|_| ())
    }

    /// Brings a character online with a new session epoch. After a repeated call, the later epoch
    /// counts.
    pub(crate) async fn open_session(
        &self,
        request: OpenSessionRequest,
    ) -> Result<OpenSessionReply, Status> {
        let _turn = self.turn().await?;
        let call = async |channel, ask| at(channel).open_session(ask).await;
        self.replicas.call(request, call).await
    }
}

/// Returns the client's error code for a character that the store keeps out of the world.
pub(crate) fn enter_refusal(status: &Status) -> ErrorCode {
    match status.code() {
        Code::FailedPrecondition => ErrorCode::Quarantined,
        _ => refusal(status),
    }
}

/// Returns the client's error code for a refusal by the store.
pub(crate) fn refusal(status: &Status) -> ErrorCode {
    match status.code() {
        Code::AlreadyExists => ErrorCode::NameTaken,
        Code::ResourceExhausted => ErrorCode::TooManyCharacters,
        Code::FailedPrecondition => ErrorCode::CharacterOnline,
        Code::NotFound | Code::PermissionDenied => ErrorCode::NotYourCharacter,
        Code::InvalidArgument => ErrorCode::InvalidName,
        _ => {
            let code = status.code();
            if let Some(left_out) = sampled("the store refused", code.description()) {
                let message = status.message();
                tracing::warn!(?code, message, left_out, "the store refused");
            }
            ErrorCode::Refused(Refusal::StorageUnavailable)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_store_refuses_at_the_door_has_a_code_of_its_own() {
        let at_the_door = |code| enter_refusal(&Status::new(code, ""));
        assert_eq!(
            at_the_door(Code::FailedPrecondition),
            ErrorCode::Quarantined
        );
        assert_eq!(at_the_door(Code::NotFound), ErrorCode::NotYourCharacter);
        for away in [Code::Unavailable, Code::DeadlineExceeded] {
            assert_eq!(
                at_the_door(away),
                ErrorCode::Refused(Refusal::StorageUnavailable)
            );
        }
        let deleted = refusal(&Status::failed_precondition(""));
        assert_eq!(deleted, ErrorCode::CharacterOnline);
    }
}
