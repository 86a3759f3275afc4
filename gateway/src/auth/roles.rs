//! What operators made of accounts: moderators and admins.
//!
//! Always: the store is asked each time, so that a role which was taken away does nothing any
//! more; only a player's own token carries its account's roles, because every other scope can do
//! just what it names.

use super::{
    caller::{Caller, Denied},
    tokens::Scope,
};
use crate::app::App;

/// A role, and with it all that those before it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Kicks, bans, mutes and announces.
    Moderator,
    /// Runs the place, and gives roles.
    Admin,
}

impl Role {
    /// All of them.
    pub(crate) const ALL: [Role; 2] = [Role::Moderator, Role::Admin];

    /// As the store and clients name it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Moderator => "moderator",
            Self::Admin => "admin",
        }
    }

    /// Of a name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The highest of these; names that mean nothing here grant nothing.
    fn highest(names: &[String]) -> Option<Self> {
        names.iter().filter_map(|name| Self::parse(name)).max()
    }
}

/// The highest role that an account has now.
pub(crate) async fn of(app: &App, account_id: &str) -> Result<Option<Role>, Denied> {
    let roles = app.auth.identity.roles_of(account_id).await;
    let roles = roles.map_err(|status| {
        tracing::debug!(code = ?status.code(), "nobody knows the roles of an account");
        Denied::NotReady
    })?;
    Ok(Role::highest(&roles))
}

/// Lets in operators, and players whose account has at least this role; the caller knows it then.
pub(crate) async fn authorise(app: &App, caller: &mut Caller, least: Role) -> Result<(), Denied> {
    match caller.scope {
        Scope::Operator => Ok(()),
        Scope::Player => {
            caller.role = of(app, &caller.account_id).await?;
            match caller.role {
                Some(role) if role >= least => Ok(()),
                _ => Err(Denied::NoRole),
            }
        }
        Scope::Agent | Scope::Spectator => Err(Denied::WrongScope),
    }
}

/// Whether somebody of this role may do something about an account: moderators may not about each
/// other, nor about admins. `None`: an operator. An empty account: it is about nobody.
pub(crate) async fn outranks(
    app: &App,
    who: Option<Role>,
    account_id: &str,
) -> Result<bool, Denied> {
    match who {
        Some(Role::Moderator) if !account_id.is_empty() => Ok(of(app, account_id).await?.is_none()),
        Some(_) | None => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_role_counts_and_unknown_ones_grant_nothing() {
        let highest = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Role::highest(&names)
        };
        assert_eq!(highest(&["admin", "moderator"]), Some(Role::Admin));
        assert_eq!(highest(&["moderator", "god"]), Some(Role::Moderator));
        assert_eq!(highest(&["god", "Admin", ""]), None);
        assert!(Role::Admin > Role::Moderator);
    }
}
