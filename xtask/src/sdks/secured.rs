//! A server that speaks TLS, for the scenario in which it is trusted by an authority that was given. Its certificate is that of the server's own tests.

use std::fs::File;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::children::{Farewell, Running};
use crate::places::Places;
use crate::server::address;

const READY_MAX: Duration = Duration::from_secs(60);

pub(super) struct Secured {
    rest: String,
    grpc: String,
    authority: PathBuf,
    _process: Running,
}

impl Secured {
    pub(super) fn start(places: &Places, binary: &Path) -> Result<Secured, String> {
        let folder = places.root.join("spec/tls");
        let [rest, grpc, metrics] = [address()?, address()?, address()?];
        let log = places.log("sdk-secured");
        let output = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let errors = output.try_clone().map_err(|error| error.to_string())?;
        let mut command = Command::new(binary);
        command.args(["serve", "--store", "memory:", "--rest", &rest, "--grpc", &grpc, "--metrics", &metrics]);
        command.arg("--tls-certificate").arg(folder.join("server.crt")).arg("--tls-key").arg(folder.join("server.key"));
        command.current_dir(&places.own).stdout(output).stderr(errors);
        let process = Running::start(&mut command, Farewell::Terminate).map_err(|error| format!("cannot start it: {error}"))?;
        let deadline = Instant::now() + READY_MAX;
        while TcpStream::connect(&rest).is_err() {
            if deadline < Instant::now() {
                return Err(format!("the server with TLS does not start; see {}", log.display()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(Secured { rest, grpc, authority: folder.join("authority.crt"), _process: process })
    }

    /// Where the scenarios find it.
    pub(super) fn tell(&self, command: &mut Command) {
        command.env("CAUDAL_TLS_REST", format!("https://{}", self.rest));
        command.env("CAUDAL_TLS_GRPC", format!("grpcs://{}", self.grpc));
        command.env("CAUDAL_TLS_CA", &self.authority);
        // The only way to tell Node's own `fetch` whom to trust.
        command.env("NODE_EXTRA_CA_CERTS", &self.authority);
    }
}
