//! Connections: how many there may be, and how long a new one may take to say that it speaks HTTP/2.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Sleep;

/// What every client of HTTP/2 says first, in bytes.
const PREFACE_BYTES: usize = 24;

/// How long to wait when the system cannot accept (it has no more file handles, say).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A client's connection. It counts as open until it is dropped.
pub(super) struct Connection {
    stream: TcpStream,
    /// Until the client has sent its preface: when it must have.
    patience: Option<Pin<Box<Sleep>>>,
    preface_bytes_left: usize,
    /// Whether what is being written has waited for others to join it.
    gathered: bool,
    _place: OwnedSemaphorePermit,
}

/// The next connection there is a place for.
pub(super) async fn accept(listener: &TcpListener, places: &Arc<Semaphore>, preface_timeout: Duration) -> Connection {
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = places.clone().try_acquire_owned() else {
            tracing::debug!("a connection was closed: there are too many");
            continue;
        };
        // Without it small answers may wait for more; a socket that refuses still works.
        let _ = stream.set_nodelay(true);
        let patience = Some(Box::pin(tokio::time::sleep(preface_timeout)));
        return Connection { stream, patience, preface_bytes_left: PREFACE_BYTES, gathered: false, _place: place };
    }
}

impl Connection {
    /// The answers of a tick come one by one, and each wakes its connection before the next is there. So the first write goes to the end of
    /// the runtime's queue once, behind the calls that are about to answer: then all leave in one write.
    fn gather(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.gathered {
            return Poll::Ready(());
        }
        self.gathered = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if self.patience.is_none() {
            return read;
        }
        self.preface_bytes_left = self.preface_bytes_left.saturating_sub(buffer.filled().len() - before);
        if self.preface_bytes_left == 0 {
            self.patience = None;
        }
        match &mut self.patience {
            Some(patience) if read.is_pending() => patience.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
            Some(_) | None => read,
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.gather(cx));
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.gather(cx));
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.gathered = false;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
