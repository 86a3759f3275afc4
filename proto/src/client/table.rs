//! Every event that a client may send and the gateway answers, once: its wire name, its data, its
//! condition, and behind `=>` its answer (else `ack`). `world` defines all other events of clients:
//! zones answer these. Server events name themselves by [`ServerEvent`], each where its type is: those
//! of the game in `world`. The protocol reference is made of all: `asyncapi`.

use schemars::{Schema, SchemaGenerator};

use super::{admin, chat, friends, session, watch};

pub use world::told::ServerEvent;
pub(crate) use world::{server_events, told::Described};

/// Condition that a connection must meet before it sends an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// It must not be authenticated yet.
    NoAccount,
    /// It is authenticated.
    Account,
    /// It is authenticated and not in the world.
    Lobby,
    /// It plays a character.
    World,
}

/// An event of a client as the protocol reference describes it.
pub(super) struct Asked {
    pub(super) name: &'static str,
    pub(super) needs: Needs,
    /// The events that answer it; `error` may as well.
    pub(super) answers: &'static [&'static str],
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

fn no_check<T>(_: &T) -> Result<(), String> {
    Ok(())
}

macro_rules! client_events {
    ($($variant:ident($data:ty) = $name:literal, $needs:ident, $check:expr
        $(=> $answer:literal)?;)*) => {
        /// A message from a client that the gateway answers, decoded and checked.
        #[derive(Debug, Clone, PartialEq)]
        pub enum ClientMessage {
            $(#[doc = concat!("`", $name, "`")] $variant($data),)*
        }

        /// The table for the protocol reference.
        pub(super) const ASKED: &[Asked] = &[$(Asked {
            name: $name,
            needs: Needs::$needs,
            answers: &[$($answer)?],
            schema: SchemaGenerator::root_schema_for::<$data>,
        },)*];

        impl ClientMessage {
            /// The wire names of all events, in the order of the table.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// Returns the event's wire name.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name,)* }
            }

            /// Returns the condition for the event.
            pub const fn needs(&self) -> Needs {
                match self { $(Self::$variant(_) => Needs::$needs,)* }
            }

            /// Reads the data of the event `name`. Returns `None` if there is no such event, else
            /// the fault of the data in words.
            pub fn from_data<'de, D>(name: &str, data: D) -> Option<Result<Self, String>>
            where
                D: serde::Deserializer<'de>,
            {
                Some(match name {
                    $($name => <$data as serde::Deserialize>::deserialize(data)
                        .map_err(|e| e.to_string())
                        .and_then(|d| {
                            let check: fn(&$data) -> Result<(), String> = $check;
                            check(&d).map(|()| Self::$variant(d))
                        }),)*
                    _ => return None,
                })
            }
        }
    };
}

client_events! {
    Authenticate(session::Authenticate) = "authenticate", NoAccount, no_check
        => "session:welcome";
    Resume(session::Resume) = "session:resume", NoAccount, no_check => "session:resumed";
    Ping(session::Ping) = "ping", Nothing, no_check => "pong";
    CharacterList(session::Nothing) = "character:list", Account, no_check
        => "character:list";
    CharacterCreate(session::CharacterCreate) = "character:create", Account, no_check
        => "character:created";
    CharacterDelete(session::CharacterRef) = "character:delete", Account, no_check
        => "character:list";
    AdminElevate(admin::AdminElevate) = "admin:elevate", Account, no_check;
    AdminCommand(admin::AdminCommand)
        = "admin:command", Account, admin::AdminCommand::check;
    WorldEnter(session::CharacterRef) = "world:enter", Lobby, no_check => "world:entered";
    WorldLeave(session::Nothing) = "world:leave", World, no_check => "world:left";
    WorldWatch(watch::WorldWatch)
        = "world:watch", Lobby, watch::WorldWatch::check
        => "world:watching";
    Chat(chat::PlayerChat) = "player:chat", World, chat::PlayerChat::check;
    FriendsList(session::Nothing) = "friends:list", World, no_check
        => "friends:list";
    RequestFriend(friends::PlayerName)
        = "friends:request", World, friends::PlayerName::check
        => "friends:update";
    AcceptFriend(friends::RequestRef)
        = "friends:accept", World, friends::RequestRef::check
        => "friends:update";
    DeclineFriend(friends::RequestRef)
        = "friends:decline", World, friends::RequestRef::check
        => "friends:update";
    RemoveFriend(friends::FriendRef)
        = "friends:remove", World, friends::FriendRef::check
        => "friends:update";
    Ignore(friends::PlayerName) = "ignore:add", World, friends::PlayerName::check
        => "friends:update";
    Unignore(friends::IgnoredRef) = "ignore:remove", World, friends::IgnoredRef::check
        => "friends:update";
}
