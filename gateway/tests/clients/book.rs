//! Friends and ignored players as the pretending store keeps them.

use std::collections::BTreeSet;

use proto::rpc::social::v1::{change_request::Change, social_server::Social, *};
use tonic::{Request, Response, Status};

use crate::store::Store;

/// All that clients said about friends.
#[derive(Default)]
pub(crate) struct Book {
    /// Friendships, each in both directions, by character.
    friends: BTreeSet<(String, String)>,
    /// Sender and receiver; the id of a request is made of both.
    requests: BTreeSet<(String, String)>,
    /// Account and character.
    ignored: BTreeSet<(String, String)>,
    /// Nothing is answered.
    pub(crate) away: bool,
    /// Changes are refused for a reason that only a newer store knows.
    pub(crate) newer: bool,
}

impl Book {
    fn befriend(&mut self, one: &str, other: &str) {
        for (a, b) in [(one, other), (other, one)] {
            let pair = (a.to_owned(), b.to_owned());
            self.requests.remove(&pair);
            self.friends.insert(pair);
        }
    }
}

impl Store {
    fn lists(&self, book: &Book, of: &ListRequest) -> Lists {
        let name = |id: &str| self.character(id).map(|c| c.name).unwrap_or_default();
        let friends = book.friends.iter().filter(|(a, _)| *a == of.character_id);
        let mine = |(a, b): &&(String, String)| *a == of.character_id || *b == of.character_id;
        let requests = book.requests.iter().filter(mine);
        let ignored = book.ignored.iter().filter(|(a, _)| *a == of.account_id);
        Lists {
            friends: friends
                .map(|(_, id)| Friend {
                    character_id: id.clone(),
                    name: name(id),
                    combat_level: 3,
                    last_login_ms: 1_700_000_000_000,
                })
                .collect(),
            requests: requests
                .map(|(from, to)| FriendRequest {
                    id: format!("{from}>{to}"),
                    from_id: from.clone(),
                    from_name: name(from),
                    to_id: to.clone(),
                    to_name: name(to),
                    at_ms: 1_700_000_000_000,
                })
                .collect(),
            ignored: ignored
                .map(|(_, id)| Ignored {
                    character_id: id.clone(),
                    name: name(id),
                    account_id: self.character(id).map(|c| c.account_id).unwrap_or_default(),
                    added_ms: 1_700_000_000_000,
                })
                .collect(),
        }
    }

    fn changed(&self, book: &mut Book, of: &ListRequest, change: &Change) -> (Outcome, String) {
        let me = of.character_id.clone();
        match change {
            Change::Request(name) | Change::Ignore(name) => {
                let Some(other) = self.character(name) else {
                    return (Outcome::NoSuchPlayer, String::new());
                };
                let pair = (me.clone(), other.id.clone());
                if matches!(change, Change::Ignore(_)) {
                    let new = book.ignored.insert((of.account_id.clone(), other.id));
                    let outcome = if new {
                        Outcome::Done
                    } else {
                        Outcome::AlreadyIgnored
                    };
                    return (outcome, String::new());
                }
                if book.friends.contains(&pair) {
                    return (Outcome::AlreadyFriends, String::new());
                }
                if book.requests.contains(&(other.id.clone(), me.clone())) {
                    book.befriend(&me, &other.id);
                } else if !book.requests.insert(pair) {
                    return (Outcome::AlreadyRequested, String::new());
                }
                (Outcome::Done, other.id)
            }
            Change::Accept(id) | Change::Decline(id) => {
                let (from, to) = id.split_once('>').unwrap_or_default();
                // As the real one: only whom it was sent to takes it; both may end it.
                let accepts = matches!(change, Change::Accept(_));
                let mine = to == me || (!accepts && from == me);
                if !mine || !book.requests.remove(&(from.to_owned(), to.to_owned())) {
                    return (Outcome::NotThere, String::new());
                }
                if matches!(change, Change::Accept(_)) {
                    book.befriend(from, to);
                }
                let other = if from == me { to } else { from };
                (Outcome::Done, other.to_owned())
            }
            Change::Remove(id) => {
                let there = book.friends.remove(&(me.clone(), id.clone()));
                book.friends.remove(&(id.clone(), me));
                let outcome = if there {
                    Outcome::Done
                } else {
                    Outcome::NotThere
                };
                (outcome, id.clone())
            }
            Change::Unignore(id) => {
                let there = book.ignored.remove(&(of.account_id.clone(), id.clone()));
                let outcome = if there {
                    Outcome::Done
                } else {
                    Outcome::NotThere
                };
                (outcome, String::new())
            }
        }
    }
}

#[tonic::async_trait]
impl Social for Store {
    async fn list(&self, ask: Request<ListRequest>) -> Result<Response<Lists>, Status> {
        let book = self.book.lock().unwrap();
        if book.away {
            return Err(Status::unavailable("away"));
        }
        Ok(Response::new(self.lists(&book, &ask.into_inner())))
    }

    async fn change(&self, ask: Request<ChangeRequest>) -> Result<Response<ChangeReply>, Status> {
        let ask = ask.into_inner();
        let mut book = self.book.lock().unwrap();
        if book.away {
            return Err(Status::unavailable("away"));
        }
        let of = ListRequest {
            account_id: ask.account_id,
            character_id: ask.character_id,
        };
        let change = ask
            .change
            .ok_or_else(|| Status::invalid_argument("change"))?;
        if book.newer {
            return Ok(Response::new(ChangeReply {
                outcome: 1_000_000,
                lists: Some(self.lists(&book, &of)),
                other: String::new(),
            }));
        }
        let (outcome, other) = self.changed(&mut book, &of, &change);
        Ok(Response::new(ChangeReply {
            outcome: outcome.into(),
            lists: Some(self.lists(&book, &of)),
            other,
        }))
    }
}
