//! The network between the server and the database holds everything back, and later lets it through.

use std::time::{Duration, Instant};

use store::{CommitError, Error, Store};
use store_postgres::{Options, Postgres};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::database::with_database;
use crate::tick::{LEASE, ONE, PATIENCE, tick, until_it_works};

#[test]
fn a_stalled_network_is_given_up_in_time_and_work_goes_on_after_it() {
    with_database(|database| async move {
        let proxy = Proxy::to(&database.host_and_port()).await;
        let options = Options { call_timeout: Duration::from_secs(2), ..Options::default() };
        let store = Postgres::connect(&database.url_through(proxy.port), options).await.unwrap();
        let owned = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        proxy.network.send_replace(Network::Stalled);
        for _ in 0..2 {
            let begun = Instant::now();
            match store.commit(tick(&owned)).await {
                Err(CommitError::Store(Error::Unavailable { .. })) => {}
                other => panic!("{other:?}"),
            }
            assert!(begun.elapsed() < PATIENCE);
        }
        proxy.network.send_replace(Network::Passes);
        // Whether the first tick gets there after all is not known, until the partition is acquired again: from then on it cannot.
        let again = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        assert!(again.position <= 1);
        assert_eq!(until_it_works(|| store.partitions()).await[0].position, again.position);
    });
}

/// Passes bytes on, except while it is told not to.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    pub(crate) network: watch::Sender<Network>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Passes,
    Stalled,
    /// Everything passes but a COMMIT at the end of what is sent, and what follows it.
    KeepsCommits,
}

/// COMMIT as a message of its own: its kind, its length, and the word with its end.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";

impl Proxy {
    pub(crate) async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let network = watch::Sender::new(Network::Passes);
        let (told, server) = (network.subscribe(), server.to_owned());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&server).await.expect("the test server answers");
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(pass(near_in, far_out, told.clone()));
                tokio::spawn(pass(far_in, near_out, told.clone()));
            }
        });
        Self { port, network }
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut network: watch::Receiver<Network>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let told = *network.borrow();
        let at_once = match told {
            Network::Passes => count,
            Network::Stalled => 0,
            Network::KeepsCommits => bytes[..count].strip_suffix(COMMIT).map_or(count, <[u8]>::len),
        };
        if to.write_all(&bytes[..at_once]).await.is_err() {
            return;
        }
        if at_once < count {
            let passes = network.wait_for(|network| *network == Network::Passes).await.is_ok();
            if !passes || to.write_all(&bytes[at_once..count]).await.is_err() {
                return;
            }
        }
    }
}
