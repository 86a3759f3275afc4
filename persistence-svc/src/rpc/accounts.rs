//! `Accounts`: accounts and their characters.

use std::sync::Arc;

use proto::rpc::persistence::v1 as wire;
use proto::rpc::persistence::v1::accounts_server::Accounts;
use tonic::{Request, Response, Status, async_trait};

use super::model::{character_name, look, opened, region_of, signed_in, summary, text};
use super::{Desk, malformed};
use crate::store::model::{NewCharacter, OpenSession, SignIn};

/// The service.
pub(crate) struct AccountsService(pub(crate) Arc<Desk>);

#[async_trait]
impl Accounts for AccountsService {
    async fn sign_in(
        &self,
        request: Request<wire::SignInRequest>,
    ) -> Result<Response<wire::SignInReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let key: [u8; 32] = ask.device_key_hash[..]
                .try_into()
                .map_err(|_| malformed("device_key_hash must have 32 bytes"))?;
            let create = ask.create;
            signed_in(self.0.arrivals.sign_in.ask(SignIn { key, create }).await?)
        };
        self.0.answer("SignIn", work).await
    }

    async fn get_account(
        &self,
        request: Request<wire::GetAccountRequest>,
    ) -> Result<Response<wire::SignInReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("account_id", ask.account_id)?;
            signed_in(self.0.arrivals.account.ask(id).await?)
        };
        self.0.answer("GetAccount", work).await
    }

    async fn list_characters(
        &self,
        request: Request<wire::ListCharactersRequest>,
    ) -> Result<Response<wire::ListCharactersReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let id = text("account_id", ask.account_id)?;
            let characters = self.0.store.characters(&id).await?.into_iter();
            let characters = characters.map(summary).collect::<Result<_, _>>()?;
            Ok(wire::ListCharactersReply { characters })
        };
        self.0.answer("ListCharacters", work).await
    }

    async fn create_character(
        &self,
        request: Request<wire::CreateCharacterRequest>,
    ) -> Result<Response<wire::CharacterSummary>, Status> {
        let ask = request.into_inner();
        let work = async {
            let ask = NewCharacter {
                account_id: text("account_id", ask.account_id)?,
                name: character_name(&ask.name)?,
                at: region_of("spawn", ask.spawn)?,
                look: look(ask.look)?,
            };
            summary(self.0.arrivals.create.ask(ask).await?)
        };
        self.0.answer("CreateCharacter", work).await
    }

    async fn delete_character(
        &self,
        request: Request<wire::DeleteCharacterRequest>,
    ) -> Result<Response<wire::DeleteCharacterReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let account = text("account_id", ask.account_id)?;
            let character = text("character_id", ask.character_id)?;
            let had = self.0.store.delete_character(&account, &character).await?;
            self.0.metrics.written_off(had);
            Ok(wire::DeleteCharacterReply {})
        };
        self.0.answer("DeleteCharacter", work).await
    }

    async fn find_character(
        &self,
        request: Request<wire::FindCharacterRequest>,
    ) -> Result<Response<wire::CharacterSummary>, Status> {
        let ask = request.into_inner();
        let work = async {
            let name = text("name", ask.name)?;
            summary(self.0.store.find_character(name.trim()).await?)
        };
        self.0.answer("FindCharacter", work).await
    }

    async fn secret(
        &self,
        request: Request<wire::SecretRequest>,
    ) -> Result<Response<wire::SecretReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let name = text("name", ask.name)?;
            let value = self.0.store.secret(&name).await?.into();
            Ok(wire::SecretReply { value })
        };
        self.0.answer("Secret", work).await
    }

    async fn open_session(
        &self,
        request: Request<wire::OpenSessionRequest>,
    ) -> Result<Response<wire::OpenSessionReply>, Status> {
        let ask = request.into_inner();
        let work = async {
            let ask = OpenSession {
                account_id: text("account_id", ask.account_id)?,
                character_id: text("character_id", ask.character_id)?,
                session_id: text("session_id", ask.session_id)?,
                gateway_id: text("gateway_id", ask.gateway_id)?,
            };
            opened(self.0.arrivals.open.ask(ask).await?)
        };
        self.0.answer("OpenSession", work).await
    }
}
