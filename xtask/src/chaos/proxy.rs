//! A network between server and database that can be held, one way or both, or cut.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const LOOK_EVERY: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Bytes to the database wait.
    hold_there: AtomicBool,
    /// Bytes from the database wait.
    hold_back: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub(super) fn to(database: SocketAddr) -> Result<Proxy, String> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| format!("no free port: {error}"))?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let shared = Arc::new(Shared::default());
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                // A database that is away refuses, and so does the proxy: by closing.
                if let Ok(far) = TcpStream::connect(database) {
                    connect(&near, &far, &accepting);
                }
            }
        });
        Ok(Proxy { port, shared })
    }

    pub(super) fn hold(&self, there: bool, back: bool) {
        self.shared.hold_there.store(there, Ordering::SeqCst);
        self.shared.hold_back.store(back, Ordering::SeqCst);
    }

    /// Breaks every connection there is; new ones are let through.
    pub(super) fn cut(&self) {
        let open = std::mem::take(&mut *self.shared.open.lock().unwrap_or_else(PoisonError::into_inner));
        open.iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }
}

fn connect(near: &TcpStream, far: &TcpStream, shared: &Arc<Shared>) {
    let streams = [near.try_clone(), near.try_clone(), far.try_clone(), far.try_clone()];
    let [Ok(near_in), Ok(near_out), Ok(far_in), Ok(far_out)] = streams else { return };
    near.set_nodelay(true).ok();
    far.set_nodelay(true).ok();
    shared.open.lock().unwrap_or_else(PoisonError::into_inner).extend([near.try_clone(), far.try_clone()].into_iter().flatten());
    let there = shared.clone();
    std::thread::spawn(move || pass(near_in, far_out, || there.hold_there.load(Ordering::SeqCst)));
    let back = shared.clone();
    std::thread::spawn(move || pass(far_in, near_out, || back.hold_back.load(Ordering::SeqCst)));
}

fn pass(mut from: TcpStream, mut to: TcpStream, held: impl Fn() -> bool) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        while held() {
            std::thread::sleep(LOOK_EVERY);
        }
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
}
