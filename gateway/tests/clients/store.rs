//! A store of accounts that forgets everything at the end, and the directory of one zone.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use proto::rpc::{
    agents::v1::agents_server::AgentsServer,
    common::v1::Region,
    identity::v1::identity_server::IdentityServer,
    persistence::v1::{
        Account, CharacterSummary, CreateCharacterRequest, DeleteCharacterReply,
        DeleteCharacterRequest, DirectoryUpdate, FindCharacterRequest, GetAccountRequest,
        ListCharactersReply, ListCharactersRequest, OpenSessionReply, OpenSessionRequest,
        RegionOwner, Run, RunState, SecretReply, SecretRequest, SignInReply, SignInRequest,
        SuspectReply, SuspectRequest, WatchRequest,
        accounts_server::{Accounts, AccountsServer},
        directory_server::{Directory, DirectoryServer},
    },
    personal::v1::personal_server::PersonalServer,
    queries::v1::{
        changes_server::ChangesServer, queries_server::QueriesServer, replica_server::ReplicaServer,
    },
    social::v1::social_server::SocialServer,
};
use tokio::net::TcpListener;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

use crate::{book::Book, identity::Sanctions, minds::Minds, processes::Played, zone::RUN};

#[derive(Default)]
struct State {
    /// Account id by the hash of its key.
    keys: BTreeMap<Vec<u8>, String>,
    characters: BTreeMap<String, CharacterSummary>,
    epochs: BTreeMap<String, u64>,
}

#[derive(Clone)]
pub(crate) struct Store {
    pub(crate) address: String,
    zone: String,
    state: Arc<Mutex<State>>,
    /// Accounts that the store keeps out.
    pub(crate) sanctions: Arc<Mutex<Sanctions>>,
    /// Friendships.
    pub(crate) book: Arc<Mutex<Book>>,
    /// It answers no question.
    pub(crate) away: Arc<AtomicBool>,
    /// Deletions are refused for a reason that only a newer store knows.
    pub(crate) newer: Arc<AtomicBool>,
    /// It as a process.
    pub(crate) replica: Arc<Played>,
    /// Lock that a test holds to make requests for lists of characters wait.
    pub(crate) lists: Arc<tokio::sync::Mutex<()>>,
}

impl Store {
    pub(crate) async fn start(zone: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let store = Self {
            address: listener.local_addr().unwrap().to_string(),
            zone: zone.to_owned(),
            state: Arc::default(),
            sanctions: Arc::default(),
            book: Arc::default(),
            away: Arc::default(),
            newer: Arc::default(),
            replica: Arc::default(),
            lists: Arc::default(),
        };
        let away = Arc::clone(&store.away);
        let answers = move |request: Request<()>| match away.load(Ordering::SeqCst) {
            true => Err(Status::unavailable("away")),
            false => Ok(request),
        };
        let serving = tonic::transport::Server::builder()
            .add_service(AccountsServer::with_interceptor(
                store.clone(),
                answers.clone(),
            ))
            .add_service(AgentsServer::new(Minds::default()))
            .add_service(IdentityServer::new(store.clone()))
            .add_service(SocialServer::new(store.clone()))
            .add_service(PersonalServer::new(store.clone()))
            .add_service(DirectoryServer::new(store.clone()))
            .add_service(QueriesServer::with_interceptor(
                store.clone(),
                answers.clone(),
            ))
            .add_service(ReplicaServer::with_interceptor(store.clone(), answers))
            .add_service(ChangesServer::new(store.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(serving);
        store
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn reply(&self, account_id: Option<String>, created: bool) -> Response<SignInReply> {
        let characters = account_id
            .as_deref()
            .map(|id| self.of(id))
            .unwrap_or_default();
        let account = account_id.map(|id| Account {
            name: id.clone(),
            id,
            anonymous: true,
            created_at_ms: 1_700_000_000_000,
            ..Default::default()
        });
        Response::new(SignInReply {
            account,
            characters,
            created,
        })
    }

    /// Returns the account of a key, or of a subject.
    pub(crate) fn account_of(&self, key: &[u8]) -> Option<String> {
        self.state().keys.get(key).cloned()
    }

    /// Gives the account to the subject from now on.
    pub(crate) fn claim(&self, subject: &[u8], account_id: String) {
        self.state().keys.insert(subject.to_vec(), account_id);
    }

    /// Returns the account of a key, or of a subject; makes one if there is none and `create` is
    /// set.
    pub(crate) fn sign_in_by(&self, key: Vec<u8>, create: bool) -> Response<SignInReply> {
        let known = self.account_of(&key);
        if known.is_some() || !create {
            return self.reply(known, false);
        }
        let id = format!("account-{}", self.state().keys.len());
        self.state().keys.insert(key, id.clone());
        self.reply(Some(id), true)
    }

    /// Returns the character of this id, or of this name.
    pub(crate) fn character(&self, named: &str) -> Option<CharacterSummary> {
        let state = self.state();
        let mut all = state.characters.values();
        let found = all.find(|c| c.id == named || c.name.eq_ignore_ascii_case(named));
        found.cloned()
    }

    /// Calls the account's character of this id `name` from now on.
    pub(crate) fn rename(&self, asked: (&str, &str), name: &str) -> Option<CharacterSummary> {
        let (account_id, character_id) = asked;
        let mut state = self.state();
        let found = state.characters.get_mut(character_id)?;
        if found.account_id != account_id {
            return None;
        }
        name.clone_into(&mut found.name);
        Some(found.clone())
    }

    /// Removes an account. Returns whether it was there.
    pub(crate) fn remove(&self, account_id: &str) -> bool {
        let mut state = self.state();
        let before = state.keys.len();
        state.keys.retain(|_, known| known != account_id);
        state
            .characters
            .retain(|_, one| one.account_id != account_id);
        state.keys.len() < before
    }

    pub(crate) fn of(&self, account_id: &str) -> Vec<CharacterSummary> {
        let state = self.state();
        let all = state.characters.values();
        all.filter(|c| c.account_id == account_id)
            .cloned()
            .collect()
    }
}

#[tonic::async_trait]
impl Accounts for Store {
    async fn sign_in(
        &self,
        request: Request<SignInRequest>,
    ) -> Result<Response<SignInReply>, Status> {
        let request = request.into_inner();
        Ok(self.sign_in_by(request.device_key_hash.to_vec(), request.create))
    }

    async fn get_account(
        &self,
        request: Request<GetAccountRequest>,
    ) -> Result<Response<SignInReply>, Status> {
        let id = request.into_inner().account_id;
        let known = self.state().keys.values().any(|known| *known == id);
        Ok(self.reply(known.then_some(id), false))
    }

    async fn list_characters(
        &self,
        request: Request<ListCharactersRequest>,
    ) -> Result<Response<ListCharactersReply>, Status> {
        drop(self.lists.lock().await);
        let characters = self.of(&request.into_inner().account_id);
        Ok(Response::new(ListCharactersReply { characters }))
    }

    async fn create_character(
        &self,
        request: Request<CreateCharacterRequest>,
    ) -> Result<Response<CharacterSummary>, Status> {
        let request = request.into_inner();
        let mut state = self.state();
        if state
            .characters
            .values()
            .any(|c| c.name.eq_ignore_ascii_case(&request.name))
        {
            return Err(Status::already_exists("the name is taken"));
        }
        let character = CharacterSummary {
            id: format!("character-{}", request.name),
            account_id: request.account_id,
            name: request.name,
            look: request.look,
            combat_level: 3,
            ..Default::default()
        };
        state
            .characters
            .insert(character.id.clone(), character.clone());
        Ok(Response::new(character))
    }

    async fn delete_character(
        &self,
        request: Request<DeleteCharacterRequest>,
    ) -> Result<Response<DeleteCharacterReply>, Status> {
        let request = request.into_inner();
        let mut state = self.state();
        let found = state.characters.get(&request.character_id);
        if found.is_none_or(|found| found.account_id != request.account_id) {
            return Err(Status::not_found("no such character"));
        }
        state.characters.remove(&request.character_id);
        Ok(Response::new(DeleteCharacterReply {}))
    }

    async fn find_character(
        &self,
        request: Request<FindCharacterRequest>,
    ) -> Result<Response<CharacterSummary>, Status> {
        let name = request.into_inner().name;
        let state = self.state();
        let found = state
            .characters
            .values()
            .find(|c| c.name.eq_ignore_ascii_case(&name));
        let found = found.cloned().ok_or_else(|| Status::not_found("nobody"))?;
        Ok(Response::new(found))
    }

    async fn secret(&self, _: Request<SecretRequest>) -> Result<Response<SecretReply>, Status> {
        let value = vec![7; 32].into();
        Ok(Response::new(SecretReply { value }))
    }

    async fn open_session(
        &self,
        request: Request<OpenSessionRequest>,
    ) -> Result<Response<OpenSessionReply>, Status> {
        let request = request.into_inner();
        let mut state = self.state();
        let character = state.characters.get(&request.character_id).cloned();
        let character = character.filter(|c| c.account_id == request.account_id);
        let character = character.ok_or_else(|| Status::not_found("no such character"))?;
        let epoch = state.epochs.entry(request.character_id).or_default();
        *epoch += 1;
        Ok(Response::new(OpenSessionReply {
            character: Some(character),
            region: Some(Region { x: 0, z: 0 }),
            session_epoch: *epoch,
            ownership_sequence: 1,
            was_online: *epoch > 1,
        }))
    }
}

#[tonic::async_trait]
impl Directory for Store {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<DirectoryUpdate, Status>> + Send>>;

    async fn suspect(&self, _: Request<SuspectRequest>) -> Result<Response<SuspectReply>, Status> {
        Ok(Response::new(SuspectReply {}))
    }

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let whole = DirectoryUpdate {
            version: 1,
            incarnation: 1,
            runs: vec![Run {
                run_id: RUN,
                address: self.zone.clone(),
                state: RunState::Live.into(),
                ..Default::default()
            }],
            regions: vec![RegionOwner {
                region: Some(Region { x: 0, z: 0 }),
                run_id: RUN,
                epoch: 1,
                ..Default::default()
            }],
            ..Default::default()
        };
        let life = DirectoryUpdate {
            version: 1,
            incarnation: 1,
            unchanged: true,
            ..Default::default()
        };
        let second = std::time::Duration::from_secs(1);
        let ticks = tokio_stream::wrappers::IntervalStream::new(tokio::time::interval(second));
        let stream = tokio_stream::once(whole).chain(ticks.map(move |_| life.clone()));
        Ok(Response::new(Box::pin(stream.map(Ok))))
    }
}
