//! Errors of a store. The module `rpc` decides how much of them a caller may see.

/// Reason why the store refused or failed. The store changed nothing, except after
/// [`StoreError::Away`], where the outcome is unknown.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum StoreError {
    /// The store did not answer in time, or at all.
    #[error("the store does not answer: {0}")]
    Away(String),
    /// The run is fenced: it must end.
    #[error("the run is fenced")]
    Fenced,
    /// The run does not own the region of its request.
    #[error("the run does not own the region")]
    NotOwner,
    /// There is no such thing.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// Somebody else has the name, or one that looks like it.
    #[error("the name is taken, or one that looks like it")]
    NameTaken,
    /// The account has all the characters that it may have.
    #[error("the account has {0} characters, which is all it may have")]
    Full(i64),
    /// The account has made all the characters that it may make in a day.
    #[error("the account has made {0} characters today, which is all it may make in a day")]
    MadeToday(i32),
    /// The device key is that of an account which somebody has claimed.
    #[error("the anonymous account was claimed by somebody else")]
    KeyClaimed,
    /// The claimed account is banned.
    #[error("the account is banned")]
    Banned,
    /// The id is another agent's, or the character is another agent.
    #[error("the agent's id is taken, or the character is an agent already")]
    AgentTaken,
    /// The account has all the agents' tokens that it may have.
    #[error("{0} tokens are good already, which is all that there may be; revoke one")]
    TooManyCredentials(i64),
    /// The account has all the agents that it may have.
    #[error("the account has {0} agents, which is all it may have; remove one")]
    AccountOfAgents(i64),
    /// The world has all the agents that it may have.
    #[error("{0} agents live in the world, which is all it has room for; try again later")]
    WorldOfAgents(i64),
    /// The store refuses this while the character is in the world.
    #[error("the character is in the world")]
    InWorld,
    /// The character stays out of the world until an operator releases it.
    #[error("the character is quarantined")]
    Quarantined,
    /// An account is an operator, so the code makes no other.
    #[error("there is an operator already, who can give the role")]
    OperatorExists,
    /// Without this account there would be no operator.
    #[error("the account is the last operator")]
    LastOperator,
    /// The account has a password, which only its owner may change.
    #[error("the account has a password already")]
    PasswordExists,
    /// Another request has changed the password meanwhile.
    #[error("the password has changed meanwhile")]
    PasswordChanged,
    /// A month cannot be exported or dropped now.
    #[error("{0}")]
    Archive(String),
    /// The store holds or said something that it never should.
    #[error("the store is broken: {0}")]
    Broken(String),
}

/// Answer of a store.
pub(crate) type Result<T> = std::result::Result<T, StoreError>;

/// The world in a data folder is open already, by this process or another.
#[derive(Debug, thiserror::Error)]
#[error("the world in {folder} is open already: only one process at a time may run it")]
pub struct StoreLocked {
    /// The data folder.
    pub folder: String,
}
