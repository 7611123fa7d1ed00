//! Connections that do not wait for ever: for the first byte, for the rest of a request's head, for the next request.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Sleep};

/// How HTTP/2 begins. Its connections are kept alive by pings, not by what they ask.
const HTTP2_PREFACE: &[u8] = b"PRI ";

/// The requests of one connection: how many there were, how many are being answered.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<Counts>);

#[derive(Default)]
struct Counts {
    begun: AtomicUsize,
    active: AtomicUsize,
}

/// Counts as one request until it is dropped.
pub(super) struct Active(Activity);

impl Activity {
    pub(super) fn begin(&self) -> Active {
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        self.0.active.fetch_add(1, Ordering::Relaxed);
        Active(self.clone())
    }

    fn is_idle(&self) -> bool {
        self.0.active.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A client's connection. Modes: `New` until the first byte; `Idle` between requests; `Head` from the first byte of a request until it
/// is being answered; `Busy` while it is; `Unwatched` for HTTP/2.
pub(super) struct Connection {
    stream: TcpStream,
    activity: Activity,
    /// Requests that had begun when it last looked.
    begun: usize,
    mode: Mode,
    /// When patience ends. The alarm may ring earlier and is set again then, so that a quick request never touches it.
    end: Instant,
    alarm: Pin<Box<Sleep>>,
    head_timeout: Duration,
    idle_timeout: Duration,
    /// It counts as open until it is dropped.
    _place: OwnedSemaphorePermit,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    New,
    Idle,
    Head,
    Busy,
    Unwatched,
}

impl Connection {
    pub(super) fn new(
        stream: TcpStream,
        activity: Activity,
        (head_timeout, idle_timeout): (Duration, Duration),
        place: OwnedSemaphorePermit,
    ) -> Self {
        let end = Instant::now() + head_timeout;
        let alarm = Box::pin(tokio::time::sleep_until(end));
        Self { stream, activity, begun: 0, mode: Mode::New, end, alarm, head_timeout, idle_timeout, _place: place }
    }

    /// A request that has begun ends its head, even if it has been answered since.
    fn look(&mut self) {
        let begun = self.activity.0.begun.load(Ordering::Relaxed);
        if begun != self.begun && self.mode != Mode::Unwatched {
            self.mode = Mode::Busy;
        }
        self.begun = begun;
    }

    /// Where it stands after bytes came.
    fn came(&mut self, bytes: &[u8]) {
        self.look();
        match self.mode {
            Mode::New if bytes.starts_with(HTTP2_PREFACE) => self.mode = Mode::Unwatched,
            Mode::New | Mode::Idle | Mode::Busy if self.activity.is_idle() => self.wait(Mode::Head, self.head_timeout),
            Mode::New | Mode::Idle | Mode::Busy | Mode::Head | Mode::Unwatched => {}
        }
    }

    /// Where it stands when nothing comes.
    fn waits(&mut self) {
        self.look();
        if self.mode == Mode::Busy && self.activity.is_idle() {
            self.wait(Mode::Idle, self.idle_timeout);
        }
    }

    fn wait(&mut self, mode: Mode, patience: Duration) {
        self.mode = mode;
        self.end = Instant::now() + patience;
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.end < self.alarm.deadline() {
                self.alarm.as_mut().reset(self.end);
            }
            ready!(self.alarm.as_mut().poll(cx));
            if self.end <= Instant::now() {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(self.end);
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if read.is_ready() {
            self.came(&buffer.filled()[before..]);
            return read;
        }
        self.waits();
        match self.mode {
            Mode::Busy | Mode::Unwatched => Poll::Pending,
            Mode::New | Mode::Idle | Mode::Head => self.poll_end(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
