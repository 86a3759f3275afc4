//! What the processes and the clients of Tilestead say to each other: the gRPC services, the
//! protocol of `/ws`, and the topics of the bus. Strict decoding, names and limits; no behaviour.

pub mod client;
pub mod encode;
pub mod rpc;
pub mod topics;
