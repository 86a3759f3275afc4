//! The language of Tilestead's processes and clients: the gRPC services, the protocol of `/ws`, and
//! the topics of the bus. Strict decoding, names and limits; no behaviour.

pub mod client;
pub mod encode;
pub mod rpc;
pub mod topics;
