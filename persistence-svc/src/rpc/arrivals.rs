//! The requests by which players come into the world. Thousands may come within a second, so the
//! store answers those of one kind together.

use std::sync::Arc;

use futures::FutureExt;
use service_runtime::tasks::TaskGroup;

use crate::store::Store;
use crate::store::model::{
    Character, Load, NewCharacter, OpenSession, Opened, Record, SignIn, SignedIn,
};
use crate::store::social::{Lists, Who};
use crate::together::{Answers, Together};

/// The requests of each kind.
pub(crate) struct Arrivals {
    /// Accounts of device keys.
    pub(crate) sign_in: Together<SignIn, Option<SignedIn>>,
    /// Accounts by their ids.
    pub(crate) account: Together<String, Option<SignedIn>>,
    /// New characters.
    pub(crate) create: Together<NewCharacter, Character>,
    /// Characters that come into the world.
    pub(crate) open: Together<OpenSession, Opened>,
    /// Friends and ignored players of those who came.
    pub(crate) lists: Together<Who, Lists>,
    /// Characters for the runs that play them.
    pub(crate) load: Together<Load, Record>,
}

impl Arrivals {
    /// Starts the tasks that answer. Call it inside a runtime.
    pub(crate) fn start(store: &Arc<dyn Store>, tasks: &TaskGroup) -> Self {
        let of = || Arc::clone(store);
        let (sign_in, account, create, open) = (of(), of(), of(), of());
        let (lists, load) = (of(), of());
        Self {
            sign_in: Together::start(
                tasks,
                "sign in",
                |ask: &SignIn| &ask.key,
                move |asks| {
                    let store = Arc::clone(&sign_in);
                    async move { store.sign_in(asks).await }.boxed()
                },
            ),
            account: Together::start(
                tasks,
                "accounts",
                |id: &String| id.as_bytes(),
                move |ids| {
                    let store = Arc::clone(&account);
                    async move { store.accounts(ids).await }.boxed()
                },
            ),
            create: Together::start(
                tasks,
                "new characters",
                |ask: &NewCharacter| ask.account_id.as_bytes(),
                move |asks| {
                    let store = Arc::clone(&create);
                    async move { store.create_characters(asks).await }.boxed()
                },
            ),
            open: Together::start(
                tasks,
                "sessions",
                |ask: &OpenSession| ask.character_id.as_bytes(),
                move |asks| {
                    let store = Arc::clone(&open);
                    async move { opened(store.as_ref(), asks).await }.boxed()
                },
            ),
            lists: Together::start(
                tasks,
                "lists of friends",
                |who: &Who| who.character_id.as_bytes(),
                move |asks| {
                    let store = Arc::clone(&lists);
                    async move { store.lists(asks).await }.boxed()
                },
            ),
            load: Together::start(
                tasks,
                "characters of runs",
                |ask: &Load| ask.character_id.as_bytes(),
                move |asks| {
                    let store = Arc::clone(&load);
                    async move { store.load_characters(asks).await }.boxed()
                },
            ),
        }
    }
}

/// Brings characters into the world, and tells the agents of their accounts.
async fn opened(store: &dyn Store, asks: Vec<OpenSession>) -> Answers<Opened> {
    let accounts: Vec<String> = asks.iter().map(|ask| ask.account_id.clone()).collect();
    let opened = store.open_sessions(asks).await?;
    let came = accounts.into_iter().zip(&opened);
    let came: Vec<String> = came
        .filter(|(_, opened)| opened.is_ok())
        .map(|(account, _)| account)
        .collect();
    if !came.is_empty()
        && let Err(error) = store.heed_agents(came).await
    {
        tracing::debug!(%error, "agents do not hear that their owners came");
    }
    Ok(opened)
}
