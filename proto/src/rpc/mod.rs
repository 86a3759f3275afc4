//! The gRPC services between the processes, as generated from `protos/`.

/// Geometry shared by all services.
pub mod common {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub)]
    pub mod v1 {
        tonic::include_proto!("tilestead.common.v1");
    }
}

/// What the persistence service answers.
pub mod persistence {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.persistence.v1");
    }
}

/// Who may come in: what the persistence service answers about it.
pub mod identity {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.identity.v1");
    }
}

/// What a zone server answers.
pub mod zone {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.zone.v1");
    }
}

/// Agents: what the persistence service and zone servers answer about them.
pub mod agents {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.agents.v1");
    }
}

/// What lists, dashboards and operators read, and what they change at rest.
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

/// What a process plays, told to others.
pub mod content {
    /// Version 1.
    #[allow(missing_docs, unreachable_pub, clippy::all, clippy::too_many_lines)]
    pub mod v1 {
        tonic::include_proto!("tilestead.content.v1");
    }
}
