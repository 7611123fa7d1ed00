//! A client's connection, which does not wait for ever for its first byte nor for the rest of a request's head.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::activity::Activity;
use super::places::Place;
use super::stream::Stream;

/// What every client of HTTP/2 says first.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Modes: `New` until the first request of HTTP/1 begins to come or all of the preface of HTTP/2 has; `Head` from the first byte of a
/// request until it is being answered; `Busy` while it is and until the next; `Unwatched` for HTTP/2, which has pings.
pub(super) struct Connection {
    stream: Stream,
    activity: Activity,
    /// Requests that had begun when it last looked.
    begun: usize,
    mode: Mode,
    /// When patience ends. The alarm may ring earlier and is set again then, so that a quick request never touches it.
    end: Instant,
    alarm: Pin<Box<Sleep>>,
    head_timeout: Duration,
    writes: Writes,
    /// Whether what is being written has waited for others to join it.
    gathered: bool,
    /// It counts as open until it is dropped.
    _place: Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// With how much of the preface has come.
    New(usize),
    Head,
    Busy,
    Unwatched,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Writes {
    AtOnce,
    /// The answers of a tick come one by one, and each wakes its connection before the next is there. So the first write goes to the end
    /// of the runtime's queue once, behind the calls that are about to answer: then all leave in one write.
    Gathered,
}

impl Connection {
    pub(super) fn new(stream: Stream, activity: Activity, head_timeout: Duration, writes: Writes, place: Place) -> Self {
        let end = Instant::now() + head_timeout;
        Self {
            stream,
            activity,
            begun: 0,
            mode: Mode::New(0),
            end,
            alarm: Box::pin(tokio::time::sleep_until(end)),
            head_timeout,
            writes,
            gathered: false,
            _place: place,
        }
    }

    /// Where it stands after bytes came.
    fn came(&mut self, bytes: &[u8]) {
        self.look();
        match self.mode {
            Mode::New(seen) => match HTTP2_PREFACE[seen..].strip_prefix(bytes) {
                Some([]) => self.mode = Mode::Unwatched,
                Some(missing) => self.mode = Mode::New(HTTP2_PREFACE.len() - missing.len()),
                None if bytes.starts_with(&HTTP2_PREFACE[seen..]) => self.mode = Mode::Unwatched,
                None => self.await_head(),
            },
            Mode::Busy if self.activity.is_quiet() => self.await_head(),
            Mode::Busy | Mode::Head | Mode::Unwatched => {}
        }
    }

    /// A request that has begun ends its head, even if it has been answered since.
    fn look(&mut self) {
        let begun = self.activity.begun();
        if begun != self.begun && self.mode != Mode::Unwatched {
            self.mode = Mode::Busy;
        }
        self.begun = begun;
    }

    fn await_head(&mut self) {
        self.mode = Mode::Head;
        self.end = Instant::now() + self.head_timeout;
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

    fn poll_gathered(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.gathered || self.writes == Writes::AtOnce {
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
        if read.is_ready() {
            self.came(&buffer.filled()[before..]);
            return read;
        }
        self.look();
        match self.mode {
            Mode::Busy | Mode::Unwatched => Poll::Pending,
            Mode::New(_) | Mode::Head => self.poll_end(cx).map(|()| Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_gathered(cx));
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_gathered(cx));
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
