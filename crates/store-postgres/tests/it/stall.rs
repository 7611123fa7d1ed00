//! The network between the server and the database holds everything back, and later lets it through.

use std::time::{Duration, Instant};

use store::{CommitError, Error, Store};
use store_postgres::{Options, Postgres};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::database::with_database;
use crate::tick::{LEASE, ONE, tick, until_it_works};

#[test]
fn a_stalled_network_is_given_up_in_time_and_work_goes_on_after_it() {
    with_database(|database| async move {
        let proxy = Proxy::to(&database.host_and_port()).await;
        let options = Options { call_timeout: Duration::from_secs(2), ..Options::default() };
        let store = Postgres::connect(&database.url_through(proxy.port), options).await.unwrap();
        let owned = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        proxy.stalled.send_replace(true);
        for _ in 0..2 {
            let begun = Instant::now();
            match store.commit(tick(&owned)).await {
                Err(CommitError::Store(Error::Unavailable { .. })) => {}
                other => panic!("{other:?}"),
            }
            assert!(begun.elapsed() < Duration::from_secs(20));
        }
        proxy.stalled.send_replace(false);
        // Whether the first tick gets there after all is not known, until the partition is acquired again: from then on it cannot.
        let again = until_it_works(|| store.acquire(ONE, "owner", LEASE)).await.unwrap();
        assert!(again.tail <= 1);
        assert_eq!(until_it_works(|| store.partitions()).await[0].tail, again.tail);
    });
}

/// Passes bytes on, except while it is told not to.
struct Proxy {
    port: u16,
    stalled: watch::Sender<bool>,
}

impl Proxy {
    async fn to(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound port").port();
        let stalled = watch::Sender::new(false);
        let (told, server) = (stalled.subscribe(), server.to_owned());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&server).await.expect("the test server answers");
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(pass(near_in, far_out, told.clone()));
                tokio::spawn(pass(far_in, near_out, told.clone()));
            }
        });
        Self { port, stalled }
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut stalled: watch::Receiver<bool>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        if stalled.wait_for(|stalled| !stalled).await.is_err() || to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}
