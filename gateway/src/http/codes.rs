//! Every code of an error over HTTP, each with its status and its meaning.
//!
//! Always: a published code keeps its meaning. A code that no route gives any more stays here, so
//! that nobody reuses it.

use axum::http::StatusCode;

/// Defines each code, once.
macro_rules! codes {
    ($($variant:ident $name:literal $status:ident $meaning:literal)+) => {
        /// Code of an error, for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Code {
            $(#[doc = $meaning] $variant,)+
        }

        impl Code {
            /// All of them, in the order of their statuses.
            pub(crate) const ALL: &'static [Code] = &[$(Code::$variant),+];

            /// Returns its name, as clients see it.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name),+ }
            }

            /// Returns its HTTP status.
            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Code::$variant => StatusCode::$status),+ }
            }

            /// Returns its meaning, for people.
            pub(crate) const fn meaning(self) -> &'static str {
                match self { $(Code::$variant => $meaning),+ }
            }
        }
    };
}

codes! {
    BadRequest "bad_request" BAD_REQUEST "The request cannot be understood."
    InvalidRequest "invalid_request" BAD_REQUEST "Something in the request is not allowed."
    MalformedJson "malformed_json" BAD_REQUEST "The body is not JSON."
    InvalidName "invalid_name" BAD_REQUEST "A character cannot have this name."
    Subprotocol "subprotocol" BAD_REQUEST "None of the subprotocols is spoken here."
    TokenRequired "token_required" UNAUTHORIZED "A token is needed."
    InvalidToken "invalid_token" UNAUTHORIZED "The token is not valid, or not any more."
    InvalidCredentials "invalid_credentials" UNAUTHORIZED "Nobody has these credentials."
    Banned "banned" FORBIDDEN "The account is banned."
    AnonymousDisabled "anonymous_disabled" FORBIDDEN "Everybody must log in here."
    LoginDisabled "login_disabled" FORBIDDEN "There is no identity provider here."
    OperatorsDisabled "operators_disabled" FORBIDDEN "There is no operators' code here."
    OperatorsExist "operators_exist" FORBIDDEN "There are operators already, who give the role."
    WrongScope "wrong_scope" FORBIDDEN "The token is good for other things."
    RoleRequired "role_required" FORBIDDEN "The account has not the role that this takes."
    OriginRefused "origin_refused" FORBIDDEN "This origin may not use this server."
    NotYourCharacter "not_your_character" FORBIDDEN "The character is somebody else's."
    NotFound "not_found" NOT_FOUND "There is no such thing."
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "The method is not possible here."
    RequestTimeout "request_timeout" REQUEST_TIMEOUT "The request took too long to come."
    Conflict "conflict" CONFLICT "It cannot be done as things are."
    LastOperator "last_operator" CONFLICT "Without the account there would be no operator."
    HasPassword "has_password" CONFLICT "The account has a password already; change it."
    NoPassword "no_password" CONFLICT "The account has no password."
    DeviceKeyClaimed "device_key_claimed" CONFLICT "Somebody else has claimed the account."
    CharacterOnline "character_online" CONFLICT "The character is in the world."
    InWorld "in_world" CONFLICT "A character of the account is in the world."
    NotInWorld "not_in_world" CONFLICT "No character of the account is in the world here."
    NameTaken "name_taken" CONFLICT "Somebody else has the name, or one that looks like it."
    TooManyCharacters "too_many_characters" CONFLICT "The account has, or made today, all it may."
    TooManyAgents "too_many_agents" CONFLICT "The account or the world has all it may have."
    Quarantined "quarantined" CONFLICT "The character is kept out of the world for now."
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE "The body is longer than 1 MiB."
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE "The body must be JSON."
    UpgradeRequired "upgrade_required" UPGRADE_REQUIRED "This is a WebSocket."
    RateLimited "rate_limited" TOO_MANY_REQUESTS "Too many requests; wait and try again."
    Internal "internal" INTERNAL_SERVER_ERROR "Something went wrong on our side."
    NotReady "not_ready" SERVICE_UNAVAILABLE "The server is not ready yet."
    IdentityProviderAway "identity_provider_away" SERVICE_UNAVAILABLE "The provider is away."
    Draining "draining" SERVICE_UNAVAILABLE "This gateway is about to end; ask another."
    StorageUnavailable "storage_unavailable" SERVICE_UNAVAILABLE "The store does not answer."
    ZoneUnavailable "zone_unavailable" SERVICE_UNAVAILABLE "That part of the world is not played."
}

impl Code {
    /// Returns the code for an error that has none of its own.
    pub(crate) fn of_status(status: StatusCode) -> Code {
        let same = |code: &&Code| code.status() == status;
        match Code::ALL.iter().find(same) {
            Some(code) => *code,
            None if status.is_client_error() => Code::BadRequest,
            None => Code::Internal,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn each_code_is_there_once_and_is_snake_case() {
        let names: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for name in names {
            let fits = |c: char| c.is_ascii_lowercase() || c == '_';
            assert!(name.chars().all(fits), "{name}");
        }
        for code in Code::ALL {
            assert_ne!(code.status(), StatusCode::UNPROCESSABLE_ENTITY);
        }
    }

    /// Collects the codes that the sources spell out: `Problem::new(status, "code", …)`, and the
    /// tables that feed it.
    fn written(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                written(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                for (at, _) in flat.match_indices("StatusCode::") {
                    let after = flat[at..].split_once(", \"").filter(|(status, _)| {
                        let word = &status["StatusCode::".len()..];
                        word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                    });
                    let code = after.and_then(|(_, rest)| rest.split_once('"'));
                    let snake = |c: char| c.is_ascii_lowercase() || c == '_';
                    if let Some((code, _)) = code.filter(|(code, _)| code.chars().all(snake)) {
                        found.insert(code.to_owned());
                    }
                }
            }
        }
    }

    #[test]
    fn a_code_that_a_route_gives_is_in_the_list() {
        let mut found = BTreeSet::new();
        written(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
            &mut found,
        );
        assert!(
            found.contains("origin_refused"),
            "nothing was found: {found:?}"
        );
        let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        for code in found {
            assert!(
                known.contains(code.as_str()),
                "{code} is missing in http/codes.rs"
            );
        }
    }
}
