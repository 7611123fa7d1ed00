//! Ports for servers of tests, below those the system gives to outgoing connections: one of these could be taken by a client, of the very server that is
//! started again on it, at any moment.
#![allow(dead_code, reason = "each test uses its part")]

use std::net::{SocketAddr, TcpListener};
use std::ops::Range;
use std::sync::atomic::{AtomicU16, Ordering};

pub(crate) const SERVERS: Range<u16> = 20_000..26_000;
pub(crate) const BROKERS: Range<u16> = 26_000..32_000;

/// Nobody listens there when this is asked, and nobody who asks here gets them again soon.
pub(crate) fn free<const COUNT: usize>(range: Range<u16>) -> [u16; COUNT] {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let begin = (std::process::id() as u16).wrapping_mul(37);
    std::array::from_fn(|_| {
        loop {
            let place = begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
            let port = range.start + place % (range.end - range.start);
            if TcpListener::bind(("127.0.0.1", port)).is_ok() {
                break port;
            }
        }
    })
}

/// For REST, gRPC and metrics.
pub(crate) fn addresses() -> [SocketAddr; 3] {
    free(SERVERS).map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
}
