//! The gRPC services between the processes, as generated from `protos/`.

/// The role of the accounts that run the place.
pub const OPERATOR_ROLE: &str = "admin";
/// Session of a character that the store brought into the world for its agent. No gateway holds it.
pub const AGENT_SESSION: &str = "agent";
/// Path of every method of every service, as `/package.Service/Method`.
pub const METHODS: &[&str] = include!(concat!(env!("OUT_DIR"), "/methods.rs"));

/// Geometry shared by all services.
pub mod common {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub)]
    pub mod v1 {
        tonic::include_proto!("tilestead.common.v1");
    }
}

/// Calls to the persistence service.
pub mod persistence {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.persistence.v1");
    }
}

/// Calls to the persistence service about accounts, logins and sanctions.
pub mod identity {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.identity.v1");
    }
}

/// Calls to a zone server.
pub mod zone {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.zone.v1");
    }
}

/// Calls to the persistence service and to zone servers about agents.
pub mod agents {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.agents.v1");
    }
}

/// Reads for lists, dashboards and operators, and changes of characters that are not in the world.
pub mod queries {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.queries.v1");
    }
}

/// Friends and ignored players, as the persistence service keeps them.
pub mod social {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.social.v1");
    }
}

/// Personal data, as the persistence service exports and removes it.
pub mod personal {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.personal.v1");
    }
}

/// Content of a process, for the others.
pub mod content {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.content.v1");
    }
}
