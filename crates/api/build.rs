//! Compiles the files of `proto/` without protoc, and keeps their description for reflection.

use std::error::Error;
use std::path::PathBuf;

use protox::prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto");
    let files = protox::compile(["proto/gateway.proto", "proto/workflow.proto"], ["proto"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("services.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".gateway_protocol.Resource.content")
        .bytes(".gateway_protocol.ProcessRequestObject.definition")
        // In the order of their keys, whoever sent them.
        .btree_map(".workflow.v1")
        .disable_comments(["."])
        .compile_fds(files)?;
    Ok(())
}
