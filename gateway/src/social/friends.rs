//! The lists of a player: friends, requests, and ignored players. Pure.
//!
//! Always: the lists that a client got, with all changes since, are the store's last lists.

use std::collections::{BTreeMap, BTreeSet};

use proto::{
    client::friends::{Friend, FriendRequest, FriendsList, FriendsUpdate, Ignored, Status},
    rpc::social::v1::Lists,
};

use crate::clock;

/// The lists as the store said them, and so as the client knows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Circle {
    /// Friends, without their state: whether they are played.
    friends: BTreeMap<String, Friend>,
    requests: BTreeMap<String, FriendRequest>,
    ignored: BTreeMap<String, Ignored>,
    /// Accounts whose characters the player does not hear.
    accounts: BTreeSet<String>,
    /// The order of the store, for whole lists.
    order: [Vec<String>; 3],
}

impl Circle {
    pub(crate) fn of(lists: Lists) -> Self {
        let order = [
            lists
                .friends
                .iter()
                .map(|f| f.character_id.clone())
                .collect(),
            lists.requests.iter().map(|r| r.id.clone()).collect(),
            lists
                .ignored
                .iter()
                .map(|i| i.character_id.clone())
                .collect(),
        ];
        let friends = lists.friends.into_iter().map(|friend| {
            let shown = Friend {
                id: friend.character_id.clone(),
                name: friend.name,
                status: Status::Unknown,
                level: friend.combat_level,
                last_seen_at: (friend.last_login_ms > 0).then(|| clock::iso(friend.last_login_ms)),
            };
            (friend.character_id, shown)
        });
        let requests = lists.requests.into_iter().map(|request| {
            let shown = FriendRequest {
                id: request.id.clone(),
                from_id: request.from_id,
                from_name: request.from_name,
                to_id: request.to_id,
                to_name: request.to_name,
                at: clock::iso(request.at_ms),
            };
            (request.id, shown)
        });
        let accounts = lists.ignored.iter().map(|i| i.account_id.clone()).collect();
        let ignored = lists.ignored.into_iter().map(|ignored| {
            let shown = Ignored {
                id: ignored.character_id.clone(),
                name: ignored.name,
                added_at: clock::iso(ignored.added_ms),
            };
            (ignored.character_id, shown)
        });
        Self {
            friends: friends.collect(),
            requests: requests.collect(),
            ignored: ignored.collect(),
            accounts,
            order,
        }
    }

    /// Returns all friends, by character.
    pub(crate) fn friends(&self) -> BTreeSet<String> {
        self.friends.keys().cloned().collect()
    }

    /// Returns the accounts that the player does not hear.
    pub(crate) fn ignored_accounts(&self) -> &BTreeSet<String> {
        &self.accounts
    }

    /// Returns all of it.
    pub(crate) fn list(&self, status: impl Fn(&str) -> Status) -> FriendsList {
        let [friends, requests, ignored] = &self.order;
        let friends = friends.iter().filter_map(|id| self.friends.get(id));
        FriendsList {
            friends: friends.map(|friend| with(friend, &status)).collect(),
            requests: in_order(requests, &self.requests),
            ignored: in_order(ignored, &self.ignored),
        }
    }

    /// Returns the changes since `before`.
    pub(crate) fn since(&self, before: &Self, status: impl Fn(&str) -> Status) -> FriendsUpdate {
        let (friends, friends_gone) = changes(&before.friends, &self.friends);
        let (requests, requests_gone) = changes(&before.requests, &self.requests);
        let (ignored, ignored_gone) = changes(&before.ignored, &self.ignored);
        FriendsUpdate {
            friends: friends.iter().map(|friend| with(friend, &status)).collect(),
            friends_gone,
            requests,
            requests_gone,
            ignored,
            ignored_gone,
        }
    }
}

fn with(friend: &Friend, status: impl Fn(&str) -> Status) -> Friend {
    Friend {
        status: status(&friend.id),
        ..friend.clone()
    }
}

fn in_order<T: Clone>(order: &[String], all: &BTreeMap<String, T>) -> Vec<T> {
    let there = order.iter().filter_map(|id| all.get(id));
    there.cloned().collect()
}

/// Returns the new or different entries, and the ids of those that are gone.
fn changes<T: Clone + PartialEq>(
    before: &BTreeMap<String, T>,
    now: &BTreeMap<String, T>,
) -> (Vec<T>, Vec<String>) {
    let new = now.iter().filter(|(id, is)| before.get(*id) != Some(is));
    let gone = before.keys().filter(|id| !now.contains_key(*id));
    (
        new.map(|(_, is)| is.clone()).collect(),
        gone.cloned().collect(),
    )
}

#[cfg(test)]
mod tests {
    use proto::rpc::social::v1 as wire;

    use super::*;

    fn lists(friends: &[(&str, u32)], ignored: &[&str]) -> Lists {
        let friends = friends.iter().map(|(id, level)| wire::Friend {
            character_id: (*id).to_owned(),
            name: id.to_uppercase(),
            combat_level: *level,
            last_login_ms: 0,
        });
        let ignored = ignored.iter().map(|id| wire::Ignored {
            character_id: (*id).to_owned(),
            account_id: format!("a-{id}"),
            ..wire::Ignored::default()
        });
        Lists {
            friends: friends.collect(),
            requests: Vec::new(),
            ignored: ignored.collect(),
        }
    }

    fn online(_: &str) -> Status {
        Status::Online
    }

    #[test]
    fn only_what_changed_is_told() {
        let before = Circle::of(lists(&[("bob", 3), ("cat", 3)], &["dan"]));
        let now = Circle::of(lists(&[("cat", 4), ("eve", 3)], &[]));
        let told = now.since(&before, online);
        let friends: Vec<(&str, u32)> = told
            .friends
            .iter()
            .map(|f| (f.id.as_str(), f.level))
            .collect();
        assert_eq!(friends, [("cat", 4), ("eve", 3)]);
        assert!(told.friends.iter().all(|f| f.status == Status::Online));
        assert_eq!(told.friends_gone, ["bob"]);
        assert_eq!(
            (told.ignored.len(), &*told.ignored_gone),
            (0, &["dan".to_owned()][..])
        );
        assert_eq!(now.since(&now, online), FriendsUpdate::default());
    }

    #[test]
    fn whole_lists_keep_the_stores_order_and_no_account_is_told() {
        let circle = Circle::of(lists(&[("zoe", 3), ("abe", 3)], &["dan"]));
        let all = circle.list(online);
        let names: Vec<&str> = all.friends.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["ZOE", "ABE"]);
        assert!(circle.ignored_accounts().contains("a-dan"));
        let said = serde_json::to_string(&all).unwrap();
        assert!(!said.contains("a-dan"), "{said}");
    }
}
