//! Telling systemd that the server is ready, where it waits for that (`Type=notify`): so whoever starts the service hears whether it did.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Nobody may wait for it; that somebody does and cannot be told is worth a line.
pub(crate) fn ready() {
    let Some(socket) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = tell(&socket) {
        tracing::warn!(%error, "the service manager cannot be told that the server is ready (NOTIFY_SOCKET)");
    }
}

fn tell(socket: &OsStr) -> io::Result<()> {
    let address = match socket.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(b"READY=1", &address).map(drop)
}
