//! The way to the task that keeps a player's lists of friends.

use std::sync::Arc;

use proto::{
    client::{ErrorCode, Refusal, RequestId},
    rpc::social::v1::change_request::Change,
};
use tokio::sync::{Notify, mpsc};

/// Maximum number of requests of one player that wait.
const ASKED_MAX: usize = 8;

/// Request of a player about its lists.
#[derive(Debug)]
pub(crate) enum FriendsRequest {
    /// To see them.
    List,
    Change(Change),
}

/// A request about lists, and the client's id for it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) re: Option<RequestId>,
    /// Event of the request.
    pub(crate) event: &'static str,
    pub(crate) request: FriendsRequest,
}

/// Way to the task that keeps a player's lists. The task ends with the last of these.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    // Boxed: the channel has room for 32 at once, and most players never ask.
    asked: mpsc::Sender<Box<Asked>>,
    look: Arc<Notify>,
}

/// Orders of a [`Keeper`] to its task.
pub(crate) struct Orders {
    pub(super) asked: mpsc::Receiver<Box<Asked>>,
    pub(super) look: Arc<Notify>,
}

impl Keeper {
    /// Returns a keeper and its task's part: the requests, and the order to look.
    pub(crate) fn new() -> (Self, Orders) {
        let (sender, asked) = mpsc::channel(ASKED_MAX);
        let look = Arc::new(Notify::new());
        let keeper = Self {
            asked: sender,
            look: Arc::clone(&look),
        };
        (keeper, Orders { asked, look })
    }

    /// Tells the task that the lists may differ from the client's.
    pub(crate) fn look(&self) {
        self.look.notify_one();
    }

    /// Asks for something.
    pub(crate) fn ask(&self, asked: Asked) -> Result<(), ErrorCode> {
        self.asked
            .try_send(Box::new(asked))
            .map_err(|_| ErrorCode::Refused(Refusal::Busy))
    }
}
