//! Compiles the `.proto` files without protoc.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = [
        "common.proto",
        "persistence.proto",
        "zone.proto",
        "identity.proto",
        "agents.proto",
        "queries.proto",
        "content.proto",
        "social.proto",
    ];
    for file in files {
        println!("cargo:rerun-if-changed=protos/{file}");
    }
    let descriptors = protox::compile(files, ["protos"])?;
    tonic_prost_build::configure()
        .bytes(".")
        .compile_fds(descriptors)?;
    Ok(())
}
