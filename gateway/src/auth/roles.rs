//! Roles of accounts: viewers, moderators and admins.
//!
//! Always: the gateway asks the store each time, so that a role ends as soon as an operator takes
//! it away. Only a player's own token carries its account's roles; every other scope allows only
//! the acts that it names.

use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};

use super::{
    caller::{Caller, Denied},
    identity::Identity,
    tokens::Scope,
};

/// A role; it includes the rights of the roles before it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    EnumString,
    IntoStaticStr,
    VariantArray,
    VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Role {
    /// Reads all that operators read, and changes nothing.
    Viewer,
    /// Kicks, bans, mutes and announces.
    Moderator,
    /// An operator: runs the place, and gives roles.
    Admin,
}

impl Role {
    /// All roles.
    pub(crate) const ALL: &[Role] = <Role as VariantArray>::VARIANTS;
    /// Their names, in the same order.
    pub(crate) const NAMES: &[&str] = <Role as VariantNames>::VARIANTS;

    /// Returns the role's name, for the store and for clients.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the role of this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Returns the highest role among these names; unknown names grant nothing.
    fn highest(names: &[String]) -> Option<Self> {
        names.iter().filter_map(|name| Self::parse(name)).max()
    }
}

/// Returns the highest role that an account has now.
pub(crate) async fn of(identity: &Identity, account_id: &str) -> Result<Option<Role>, Denied> {
    let roles = identity.roles_of(account_id).await;
    let roles = roles.map_err(|status| {
        tracing::debug!(code = ?status.code(), "nobody knows the roles of an account");
        Denied::NotReady
    })?;
    Ok(Role::highest(&roles))
}

/// Lets in players whose account has at least the role `least`. Sets the player's role in `caller`.
pub(crate) async fn authorise(
    identity: &Identity,
    caller: &mut Caller,
    least: Role,
) -> Result<(), Denied> {
    match caller.scope {
        Scope::Player => {
            caller.role = of(identity, &caller.account_id).await?;
            match caller.role {
                Some(role) if role >= least => Ok(()),
                _ => Err(Denied::NoRole),
            }
        }
        Scope::Agent | Scope::Spectator => Err(Denied::WrongScope),
    }
}

/// Returns whether a caller of role `who` may act on an account: a moderator may not act on a
/// moderator or an admin, and a viewer acts on nobody. `None`: no role. Empty `account_id`: the
/// action has no target.
pub(crate) async fn outranks(
    identity: &Identity,
    who: Option<Role>,
    account_id: &str,
) -> Result<bool, Denied> {
    match who {
        Some(Role::Moderator) if !account_id.is_empty() => {
            Ok(of(identity, account_id).await? < Some(Role::Moderator))
        }
        Some(Role::Moderator | Role::Admin) => Ok(true),
        Some(Role::Viewer) | None => Ok(false),
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
        assert_eq!(
            highest(&["moderator", "god", "viewer"]),
            Some(Role::Moderator)
        );
        assert_eq!(highest(&["viewer"]), Some(Role::Viewer));
        assert_eq!(highest(&["god", "Admin", ""]), None);
        assert!(Role::Admin > Role::Moderator && Role::Moderator > Role::Viewer);
        assert_eq!(Role::Admin.name(), proto::rpc::OPERATOR_ROLE);
    }
}
