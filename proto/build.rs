//! Compiles the `.proto` files without protoc.

use std::{fmt::Write, path::PathBuf};

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
        "personal.proto",
    ];
    for file in files {
        println!("cargo:rerun-if-changed=protos/{file}");
    }
    let descriptors = protox::compile(files, ["protos"])?;
    list_methods(&descriptors)?;
    tonic_prost_build::configure()
        .bytes(".")
        .compile_fds(descriptors)?;
    Ok(())
}

/// Writes the path of every method of every service as a constant, for a test.
fn list_methods(
    descriptors: &protox::prost_reflect::prost_types::FileDescriptorSet,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut out = String::from("&[\n");
    for file in &descriptors.file {
        for service in &file.service {
            for method in &service.method {
                let (package, service) = (file.package(), service.name());
                writeln!(out, "    \"/{package}.{service}/{}\",", method.name())?;
            }
        }
    }
    out.push_str("]\n");
    let folder = PathBuf::from(std::env::var("OUT_DIR")?);
    Ok(std::fs::write(folder.join("methods.rs"), out)?)
}
