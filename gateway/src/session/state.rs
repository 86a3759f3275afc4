//! Messages that are welcome at each stage. Pure.

use proto::client::{ErrorCode, Needs};

/// Progress of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Connected, not authenticated.
    Fresh,
    /// Authenticated, not in the world.
    Lobby,
    /// Plays a character.
    World,
}

impl Stage {
    /// Returns its name in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Lobby => "lobby",
            Self::World => "world",
        }
    }
}

/// Returns `Ok` if an event with these needs is welcome now, else the refusal.
pub(crate) const fn welcome(stage: Stage, needs: Needs) -> Result<(), ErrorCode> {
    match (needs, stage) {
        (Needs::Nothing, _)
        | (Needs::NoAccount, Stage::Fresh)
        | (Needs::Account, Stage::Lobby | Stage::World)
        | (Needs::Lobby, Stage::Lobby)
        | (Needs::World, Stage::World) => Ok(()),
        (Needs::NoAccount, _) => Err(ErrorCode::AlreadyAuthenticated),
        (_, Stage::Fresh) => Err(ErrorCode::NotAuthenticated),
        (Needs::World, _) => Err(ErrorCode::NotInWorld),
        (Needs::Lobby, Stage::World) => Err(ErrorCode::AlreadyInWorld),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stage_welcomes_what_it_should() {
        use ErrorCode::{
            AlreadyAuthenticated as Auth, AlreadyInWorld as In, NotAuthenticated as No,
            NotInWorld as Out,
        };
        let needs = [
            Needs::Nothing,
            Needs::NoAccount,
            Needs::Account,
            Needs::Lobby,
            Needs::World,
        ];
        let table = [
            (Stage::Fresh, [Ok(()), Ok(()), Err(No), Err(No), Err(No)]),
            (Stage::Lobby, [Ok(()), Err(Auth), Ok(()), Ok(()), Err(Out)]),
            (Stage::World, [Ok(()), Err(Auth), Ok(()), Err(In), Ok(())]),
        ];
        for (stage, expected) in table {
            let got = needs.map(|needs| welcome(stage, needs));
            assert_eq!(got, expected, "{stage:?}");
        }
    }
}
