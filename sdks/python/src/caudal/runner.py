"""Polls for jobs, runs their handlers, and says how they ended."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from caudal import outcome as outcomes
from caudal import telemetry
from caudal.address import DEFAULT_ADDRESS
from caudal.backoff import Backoff, retry
from caudal.context import JobContext, Loss
from caudal.engine import Beat, EngineClient, Interrupt, Job, Progress, Standing, connect
from caudal.errors import ApiError, CaudalError, ConflictError, NotFoundError, UnavailableError
from caudal.outcome import Abandoned, Completed, Failed, Outcome, Snoozed, Thrown
from caudal.registry import Registry

log = logging.getLogger("caudal")

JOBS_PER_POLL_MAX = 100
MESSAGE_CHARS_MAX = 10_000
LEAVE_SECONDS_MAX = 5.0
"""How long all that is left to say and to close may take, once the grace is over."""

LOSSES = {Standing.LOST: Loss.LEASE_LOST, Standing.UNKNOWN: Loss.LEASE_LOST, Standing.COMPLETED: Loss.LEASE_LOST}
LOSSES[Standing.CANCELLED] = Loss.CANCELLED


class _Running:
    """A job whose handler runs, or whose end is being reported."""

    def __init__(self, job: Job, held_until: float, report: Callable[[_Running, Progress], None]) -> None:
        self.context = JobContext(job, lambda progress: report(self, progress))
        self.held_until = held_until


class Runner:
    """Works on the jobs of a registry's types until it is stopped.

    Use it as a context manager, or call :meth:`run`, or :meth:`run_until_signal` in a program of its own.

    :param engine: an address such as ``http://127.0.0.1:8080`` or ``grpc://127.0.0.1:9090``, or a transport, which may
        be shared with other runners and is not closed.
    :param max_parallel: how many handlers run at once.
    :param lease: seconds that a job is leased for; extended while its handler runs.
    :param poll_wait: seconds that a poll waits for a job. With 0 it does not, and asks less and less often.
    :param grace: seconds that handlers have to finish when the runner is stopped. It ends within 5 seconds after that.
    """

    def __init__(
        self,
        registry: Registry,
        engine: str | EngineClient = DEFAULT_ADDRESS,
        *,
        worker_id: str | None = None,
        max_parallel: int = 10,
        lease: float = 60.0,
        poll_wait: float = 20.0,
        grace: float = 30.0,
    ) -> None:
        if not registry.job_types:
            raise ValueError("the registry has no handler")
        self.worker_id = worker_id or f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._registry = registry
        self._owns_engine = isinstance(engine, str)
        self._engine: EngineClient = connect(engine) if isinstance(engine, str) else engine
        self._max_parallel, self._lease, self._poll_wait, self._grace = max_parallel, lease, poll_wait, grace
        self._telemetry = telemetry.Telemetry()
        self._interrupt = Interrupt()
        self._stopping = threading.Event()
        self._given_up = threading.Event()
        self._changed = threading.Condition()
        self._running: set[_Running] = set()
        self._returning: list[threading.Thread] = []
        self._failure: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> Runner:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Run in a thread of its own."""
        self._thread = threading.Thread(target=self.run, name="caudal-runner", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no more jobs, finish what runs within the grace, give back the rest. Returns when that is done."""
        self._ask_to_stop()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def run_until_signal(self) -> None:
        """Run in this thread until SIGTERM or SIGINT, then finish as :meth:`stop` does. For the main thread."""
        # A thread of its own for the lock that stopping takes: the signal may come while this one has it.
        stop = lambda *_: threading.Thread(target=self._ask_to_stop, daemon=True).start()  # noqa: E731
        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.run()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def run(self) -> None:
        """Run in this thread until another one calls :meth:`stop`."""
        _spawn("caudal-leases", self._keep_leases)
        # In a thread of its own: a poll that hangs does not keep the runner from ending.
        polls = _spawn("caudal-polls", self._take_jobs)
        try:
            self._stopping.wait()
        finally:
            self._finish(polls)
        if self._failure is not None:
            raise self._failure

    def _ask_to_stop(self) -> None:
        log.info("stopping")
        self._stopping.set()
        self._interrupt.set()
        with self._changed:
            self._changed.notify_all()

    def _take_jobs(self) -> None:
        try:
            self._poll()
        except BaseException as error:
            self._failure = error
        finally:
            self._stopping.set()

    def _poll(self) -> None:
        backoff = Backoff()
        while (free := self._wait_for_room()) and not self._stopping.is_set():
            asked = time.monotonic()
            try:
                jobs = self._engine.poll(
                    self.worker_id,
                    self._registry.job_types,
                    min(free, JOBS_PER_POLL_MAX),
                    self._lease,
                    self._poll_wait,
                    self._interrupt,
                )
            except UnavailableError as error:
                pause = backoff.next(error.retry_after)
                log.warning("no jobs (%s); asking again in %.1f s", error, pause)
                self._stopping.wait(pause)
                continue
            if jobs or 0 < self._poll_wait <= time.monotonic() - asked or asked + 1.0 <= time.monotonic():
                backoff.reset()
            else:
                # A server that is stopping answers at once, and one that is not asked to wait.
                self._stopping.wait(backoff.next())
            for job in jobs:
                self._begin(job)

    def _wait_for_room(self) -> int:
        with self._changed:
            self._changed.wait_for(lambda: self._stopping.is_set() or len(self._running) < self._max_parallel)
            return self._max_parallel - len(self._running) if not self._stopping.is_set() else 0

    def _begin(self, job: Job) -> None:
        running = _Running(job, time.monotonic() + self._lease, self._progress)
        with self._changed:
            is_late = self._stopping.is_set()
            if not is_late:
                self._running.add(running)
        if is_late:
            self._give_back(job)
        else:
            _spawn(f"caudal-job-{job.id}", self._do, running)

    def _do(self, running: _Running) -> None:
        context = running.context
        try:
            handler = self._registry.find(context.job.type)
            outcome = self._telemetry.observe(context.job, lambda: outcomes.run(handler, context, self._wait))
            self._report(context, outcome)
        except BaseException:
            log.exception("job %s (%s): its end could not be reported", context.job.id, context.job.type)
        finally:
            with self._changed:
                self._running.discard(running)
                self._changed.notify_all()

    def _report(self, context: JobContext, outcome: Outcome) -> None:
        """Said again until it is known to have been heard, or until it does not matter any more.

        What is refused would be refused again and again, and the job come back: people are to see why instead.
        """
        backoff, is_plain = Backoff(), False
        while not self._given_up.is_set():
            try:
                self._say(context.job, outcome)
            except UnavailableError as error:
                log.warning("job %s: its end is not known yet (%s)", context.job.id, error)
                self._given_up.wait(backoff.next(error.retry_after))
            except (NotFoundError, ConflictError) as error:
                log.warning("job %s was no longer ours: %s", context.job.id, error)
                return
            except Exception as error:
                # Not by the server alone: it may not even be possible to write it.
                if is_plain:
                    raise
                is_plain = isinstance(outcome, Failed)
                outcome = _instead(outcome, error)
                log.warning("job %s: its end was refused (%s)", context.job.id, error)
            else:
                return

    def _say(self, job: Job, outcome: Outcome) -> None:
        match outcome:
            case Completed(variables):
                self._engine.complete(self.worker_id, job, variables)
            case Failed(message, retryable, retry_after):
                self._engine.fail(self.worker_id, job, message, retryable=retryable, retry_after=retry_after)
            case Thrown(code, message, variables):
                self._engine.throw_error(self.worker_id, job, code, message, variables)
            case Snoozed(delay):
                self._engine.release(self.worker_id, job, delay)
            case Abandoned(loss):
                log.info("job %s: %s", job.id, loss.value)

    def _keep_leases(self) -> None:
        """Extends all leases three times as often as needed; tells handlers whose lease is gone.

        It does not wait for answers: a lease ends by this clock, whatever the server says or does not.
        """
        next_beat = due = time.monotonic() + self._lease / 3
        while not self._given_up.wait(max(0.0, due - time.monotonic())):
            now = time.monotonic()
            with self._changed:
                held = [running for running in self._running if not running.context.is_lost]
            for running in held:
                if running.held_until <= now:
                    running.context.lose(Loss.LEASE_LOST)
            held = [running for running in held if now < running.held_until]
            if next_beat <= now:
                next_beat = now + self._lease / 3
                if held:
                    _spawn("caudal-beat", self._beat, held)
            due = min([next_beat, *(running.held_until for running in held)])

    def _beat(self, held: list[_Running]) -> None:
        asked = time.monotonic()
        try:
            standings = self._engine.heartbeat(self.worker_id, self._lease, [Beat(one.context.job) for one in held])
        except CaudalError as error:
            log.warning("leases could not be extended: %s", error)
            return
        for running, standing in zip(held, standings, strict=True):
            if standing is Standing.HELD:
                running.held_until = asked + self._lease
            else:
                self._lose(running, LOSSES[standing])

    def _lose(self, running: _Running, loss: Loss) -> None:
        with self._changed:
            # One whose end was reported meanwhile has not lost anything.
            if running not in self._running:
                return
        running.context.lose(loss)

    def _progress(self, running: _Running, progress: Progress) -> None:
        job = running.context.job
        try:
            standing = self._engine.heartbeat(self.worker_id, self._lease, [Beat(job, progress)])[0]
        except CaudalError as error:
            log.warning("job %s: progress could not be said: %s", job.id, error)
            return
        if standing is not Standing.HELD:
            self._lose(running, LOSSES[standing])

    def _wait(self, coroutine: Any, context: JobContext) -> Any:
        """Runs a coroutine on the loop that all async handlers share; cancels it when its job is lost."""
        with self._changed:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                _spawn("caudal-async", _run, self._loop)
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        context.on_lost(future.cancel)  # type: ignore[arg-type]
        return future.result()

    def _finish(self, polls: threading.Thread) -> None:
        self._stopping.set()
        self._interrupt.set()
        with self._changed:
            self._changed.notify_all()
            in_time = self._changed.wait_for(lambda: not self._running, timeout=self._grace)
            left = list(self._running)
        self._given_up.set()
        if not in_time:
            log.warning("%d handlers did not finish within %g s", len(left), self._grace)
        deadline = time.monotonic() + LEAVE_SECONDS_MAX
        for running in left:
            running.context.lose(Loss.SHUTDOWN)
            self._give_back(running.context.job)
        # What it brings after that is given back as well.
        _join(polls, deadline)
        for thread in self._returning:
            _join(thread, deadline)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
        if self._owns_engine:
            _join(_spawn("caudal-close", self._engine.close), deadline)

    def _give_back(self, job: Job) -> None:
        """In a thread of its own, for all at once."""

        def release() -> None:
            try:
                retry(lambda: self._engine.release(self.worker_id, job), LEAVE_SECONDS_MAX)
            except Exception as error:
                log.warning("job %s could not be given back (%s): it is free when its lease ends", job.id, error)

        self._returning.append(_spawn("caudal-return", release))


def _instead(outcome: Outcome, error: Exception) -> Failed:
    """What is said when the server does not take an end for good."""
    reason = error.message if isinstance(error, ApiError) else f"{type(error).__name__}: {error}"
    match outcome:
        case Failed(message, retryable):
            # The text of an exception may have halves of characters in it, and no server takes U+0000.
            text = message[:MESSAGE_CHARS_MAX].encode(errors="replace").decode().replace("\0", "\ufffd")
            return Failed(text, retryable)
        case Thrown():
            what = "BPMN error"
        case Snoozed():
            what = "snooze"
        case _:
            what = "result"
    return Failed(f"the {what} was refused: {reason}", retryable=False)


def _spawn(name: str, target: Callable[..., None], *arguments: Any) -> threading.Thread:
    # A handler that does not end must not keep the program from ending.
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    thread.start()
    return thread


def _join(thread: threading.Thread, deadline: float) -> None:
    thread.join(max(0.0, deadline - time.monotonic()))


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        # Those that were cancelled last hear of it.
        loop.run_until_complete(asyncio.sleep(0))
    finally:
        loop.close()
