//! Compiles `proto/gateway.proto` without protoc, and keeps its description for reflection.

use std::error::Error;
use std::path::PathBuf;

use protox::prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=proto/gateway.proto");
    let files = protox::compile(["proto/gateway.proto"], ["proto"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("gateway.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".gateway_protocol.Resource.content")
        .bytes(".gateway_protocol.ProcessRequestObject.definition")
        .disable_comments(["."])
        .compile_fds(files)?;
    Ok(())
}
