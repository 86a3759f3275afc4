//! Generates the server side of the `Link` service once more, with frames whose chunks are already
//! encoded: a chunk's change is then encoded once, however many gateways see it. On the wire the
//! two are the same.

use tonic_prost_build::manual::{Builder, Method, Service};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let control = Method::builder()
        .name("control")
        .route_name("Control")
        .input_type("proto::rpc::zone::v1::ToZone")
        .output_type("proto::rpc::zone::v1::FromZone")
        .codec_path("tonic_prost::ProstCodec")
        .client_streaming()
        .server_streaming()
        .build();
    let frames = Method::builder()
        .name("frames")
        .route_name("Frames")
        .input_type("proto::rpc::zone::v1::Subscribe")
        .output_type("crate::deliver::encoded::EncodedFrame")
        .codec_path("tonic_prost::ProstCodec")
        .client_streaming()
        .server_streaming()
        .build();
    let link = Service::builder()
        .name("Link")
        .package("tilestead.zone.v1")
        .method(control)
        .method(frames)
        .build();
    Builder::new().build_client(false).compile(&[link]);
}
