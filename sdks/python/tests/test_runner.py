"""The runner with an engine in memory: what it asks, what it says, and how often."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from unittest import mock

from caudal import (
    ApiError,
    Beat,
    BpmnError,
    ConflictError,
    Interrupt,
    Job,
    JobContext,
    Loss,
    NonRetryableError,
    Registry,
    RetryableError,
    Runner,
    Snooze,
    Standing,
    UnavailableError,
)


class Engine:
    """Hands out its jobs once and notes what is said. Each answer may be replaced by a failure, the next one first."""

    def __init__(self, *jobs: Job) -> None:
        self.jobs = list(jobs)
        self.said: list[tuple[Any, ...]] = []
        self.failures: list[Exception] = []
        self.standing = Standing.HELD
        self.changed = threading.Condition()
        self.polled = threading.Event()

    def poll(
        self,
        worker_id: str,
        job_types: Sequence[str],
        max_jobs: int,
        lease: float,
        wait: float,
        interrupt: Interrupt | None = None,
    ) -> list[Job]:
        self.polled.set()
        taken, self.jobs = self.jobs[:max_jobs], self.jobs[max_jobs:]
        if not taken:
            until(interrupt, wait)
        return taken

    def say(self, *what: Any) -> None:
        with self.changed:
            self.said.append(what)
            self.changed.notify_all()
            if self.failures:
                raise self.failures.pop(0)

    def complete(self, worker_id: str, job: Job, variables: Mapping[str, Any]) -> None:
        self.say("complete", job.id, variables)

    def fail(
        self, worker_id: str, job: Job, message: str, *, retryable: bool, retry_after: timedelta | None = None
    ) -> None:
        self.say("fail", message, retryable, retry_after)

    def throw_error(self, worker_id: str, job: Job, code: str, message: str, variables: Mapping[str, Any]) -> None:
        self.say("throw", code, message, variables)

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        return [self.standing for _ in beats]

    def release(self, worker_id: str, job: Job, delay: timedelta | None = None) -> None:
        self.say("release", job.id, delay)

    def close(self) -> None:
        raise AssertionError("the engine belongs to whoever made it")

    def wait_said(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.said) >= count, timeout=30), self.said


def until(interrupt: Interrupt | None, wait: float) -> None:
    assert interrupt is not None
    stopped = threading.Event()
    with interrupt.ending(stopped.set):
        stopped.wait(wait)


class Late(Engine):
    """Has jobs only when it is too late."""

    def poll(self, *arguments: Any) -> list[Job]:
        self.polled.set()
        until(arguments[-1], 600)
        return [Job("7", "work", {}), Job("8", "work", {})]


def work(handler: Callable[..., Any], *failures: Exception, says: int = 1, **options: Any) -> list[tuple[Any, ...]]:
    engine, registry = Engine(Job("1", "work", {"n": 1})), Registry()
    engine.failures = list(failures)
    registry.register("work", handler)
    with Runner(registry, engine, **options):
        engine.wait_said(says)
    return engine.said


def raising(error: Exception) -> Callable[[JobContext], None]:
    def handler(context: JobContext) -> None:
        raise error

    return handler


def stubborn() -> None:
    """A program whose handlers wait for ever, and which is asked to leave when they do."""
    registry, begun = Registry(), threading.Barrier(2, lambda: os.kill(os.getpid(), signal.SIGTERM))

    @registry.handler("work")
    def work(context: JobContext) -> None:
        begun.wait()
        threading.Event().wait()

    @registry.handler("other")
    async def other(context: JobContext) -> None:
        begun.wait()
        threading.Event().wait()

    Runner(registry, Engine(Job("1", "work", {}), Job("2", "other", {})), grace=0.01).run_until_signal()
    print("left")


class Reports(unittest.TestCase):
    def test_every_end_of_a_handler(self) -> None:
        after = timedelta(seconds=5)
        for handler, expected in (
            (lambda context: {"m": context.variables["n"] + 1}, ("complete", "1", {"m": 2})),
            (lambda context: None, ("complete", "1", {})),
            (lambda context: 5, ("fail", "a handler must return an object of variables, not a int", False, None)),
            (raising(ValueError("odd")), ("fail", "odd", True, None)),
            (raising(ValueError()), ("fail", "ValueError", True, None)),
            (raising(RetryableError("busy", after)), ("fail", "busy", True, after)),
            (raising(NonRetryableError("never")), ("fail", "never", False, None)),
            (raising(BpmnError("E", "no", {"a": 1})), ("throw", "E", "no", {"a": 1})),
            (raising(Snooze(after)), ("release", "1", after)),
        ):
            self.assertEqual(work(handler), [expected])

    def test_an_end_is_said_until_it_is_known(self) -> None:
        done: tuple[Any, ...] = ("complete", "1", {})
        away = UnavailableError("away")
        self.assertEqual(work(lambda context: None, away, away, says=3), [done] * 3)
        self.assertEqual(work(lambda context: None, ConflictError(409, "", "gone")), [done])

    def test_an_end_that_is_refused_is_a_failure_for_people(self) -> None:
        refused = ApiError(400, "BAD_REQUEST", "not so")
        after = timedelta(days=4000)
        for handler, reason, words in (
            (lambda context: None, ApiError(413, "TOO_LARGE", "too large"), "the result was refused: too large"),
            (lambda context: None, ValueError("nan"), "the result was refused: ValueError: nan"),
            (raising(Snooze(after)), refused, "the snooze was refused: not so"),
            (raising(BpmnError("")), refused, "the BPMN error was refused: not so"),
        ):
            self.assertEqual(work(handler, reason, says=2)[1:], [("fail", words, False, None)])

    def test_a_failure_that_is_refused_is_said_once_more_in_plain_words(self) -> None:
        refused = ApiError(400, "BAD_REQUEST", "not so")
        failing, before = raising(RetryableError("\ud800\0" + "x" * 20_000, timedelta(-1))), timedelta(-1)
        with self.assertLogs("caudal"):
            first, second = work(failing, refused, says=2)
        self.assertEqual(first[2:], (True, before))
        self.assertEqual(second, ("fail", "?\ufffd" + "x" * 9_998, True, None))
        for handler, says in ((failing, 2), (lambda context: None, 3)):
            with self.assertLogs("caudal", "ERROR") as logged:
                self.assertEqual(len(work(handler, *[refused] * says, says=says)), says)
            self.assertIn("could not be reported", logged.output[0])

    def test_what_cannot_be_written_is_not_tried_again(self) -> None:
        circle: dict[str, Any] = {}
        circle["again"] = circle
        for handler in (lambda context: circle, raising(BpmnError("E", "no", {"a": object()}))):
            [(word, _, retryable, _)] = work(handler)
            self.assertEqual((word, retryable), ("fail", False))

    def test_a_handler_that_lost_its_job_says_nothing(self) -> None:
        engine, registry, lost = Engine(Job("1", "work", {})), Registry(), threading.Event()
        engine.standing = Standing.CANCELLED

        @registry.handler("work")
        async def handler(context: JobContext) -> None:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost.set()
                raise

        with Runner(registry, engine, lease=6):
            self.assertTrue(lost.wait(30))
        self.assertEqual(engine.said, [])

    def test_a_handler_is_told_when_its_lease_must_be_over_though_nobody_answers(self) -> None:
        engine, registry, told = Engine(Job("1", "work", {})), Registry(), threading.Event()
        answered = threading.Event()
        engine.heartbeat = lambda *_: answered.wait(60) and []  # type: ignore[method-assign,assignment]

        @registry.handler("work")
        def handler(context: JobContext) -> None:
            if context.wait_lost(30) and context.loss is Loss.LEASE_LOST:
                told.set()

        with Runner(registry, engine, lease=0.03):
            self.assertTrue(told.wait(40))
        answered.set()
        self.assertEqual(engine.said, [])

    def test_what_does_not_finish_in_time_is_given_back(self) -> None:
        engine, registry, begun = Engine(Job("1", "work", {})), Registry(), threading.Event()

        @registry.handler("work")
        def handler(context: JobContext) -> None:
            begun.set()
            context.wait_lost()

        with Runner(registry, engine, grace=0.01):
            self.assertTrue(begun.wait(30))
        self.assertEqual(engine.said, [("release", "1", None)])

    def test_an_async_handler_is_told_that_its_time_is_over(self) -> None:
        engine, registry, begun, told = Engine(Job("1", "work", {})), Registry(), threading.Event(), threading.Event()

        @registry.handler("work")
        async def handler(context: JobContext) -> None:
            begun.set()
            try:
                await asyncio.sleep(600)
            finally:
                told.set()

        with Runner(registry, engine, grace=0.01):
            self.assertTrue(begun.wait(30))
        self.assertTrue(told.wait(30))

    def test_all_are_given_back_at_once(self) -> None:
        jobs = [Job(str(number), "work", {}) for number in range(8)]
        engine, registry, all_begun = Engine(*jobs), Registry(), threading.Barrier(9)
        together, returned = threading.Barrier(8), []

        def release(worker_id: str, job: Job, delay: timedelta | None = None) -> None:
            together.wait(30)
            returned.append(job.id)

        engine.release = release  # type: ignore[method-assign]

        @registry.handler("work")
        def handler(context: JobContext) -> None:
            all_begun.wait(30)
            context.wait_lost()

        with mock.patch("caudal.runner.LEAVE_SECONDS_MAX", 60), Runner(registry, engine, grace=0.01):
            all_begun.wait(30)
        self.assertEqual(len(returned), 8)

    def test_a_runner_ends_though_nobody_answers_and_a_handler_does_not_listen(self) -> None:
        engine, registry, begun, never = Engine(Job("1", "work", {})), Registry(), threading.Event(), threading.Event()
        engine.release = lambda *_: never.wait() and None  # type: ignore[method-assign,assignment]
        polling = threading.Event()

        def poll(*_: Any) -> list[Job]:
            if engine.jobs:
                return [engine.jobs.pop()]
            polling.set()
            never.wait()
            return []

        engine.poll = poll  # type: ignore[method-assign,assignment]

        @registry.handler("work")
        def handler(context: JobContext) -> None:
            begun.set()
            never.wait()

        with mock.patch("caudal.runner.LEAVE_SECONDS_MAX", 0.1), Runner(registry, engine, grace=0.01):
            self.assertTrue(begun.wait(30) and polling.wait(30))
        never.set()

    def test_a_program_exits_though_its_handlers_do_not_listen(self) -> None:
        script = "from tests.test_runner import stubborn; stubborn()"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout.split()), (0, [b"left"]), done.stderr)

    def test_jobs_that_come_too_late_are_given_back(self) -> None:
        engine, registry = Late(), Registry()
        registry.register("work", raising(AssertionError("it was begun")))
        with Runner(registry, engine):
            self.assertTrue(engine.polled.wait(30))
        self.assertEqual(sorted(engine.said), [("release", "7", None), ("release", "8", None)])


class Polls(unittest.TestCase):
    def test_polls_that_do_not_wait_come_less_and_less_often(self) -> None:
        engine, registry, polls = Engine(), Registry(), []
        registry.register("work", lambda context: None)
        engine.poll = lambda *_: polls.append(1) or []  # type: ignore[method-assign,func-returns-value]
        with Runner(registry, engine, poll_wait=0):
            # Without a pause there would be thousands; a slow machine has fewer.
            time.sleep(0.3)
        self.assertLess(len(polls), 10)

    def test_a_refusal_ends_the_runner_and_an_absence_does_not(self) -> None:
        engine, registry, answers = Engine(), Registry(), [UnavailableError("away"), ApiError(401, "", "who are you?")]
        registry.register("work", lambda context: None)

        def poll(*_: Any) -> list[Job]:
            raise answers.pop(0)

        engine.poll = poll  # type: ignore[method-assign,assignment]
        with self.assertRaises(ApiError):
            Runner(registry, engine).run()
        self.assertEqual(answers, [])


class Handlers(unittest.TestCase):
    def test_handlers_that_cannot_be_called_are_refused(self) -> None:
        registry = Registry()

        def too_many(a: int, b: int, c: int) -> None: ...
        def vague(*everything: int) -> None: ...

        for function in (too_many, vague, lambda: None):
            with self.assertRaises(TypeError):
                registry.register("x", function)
        registry.register("x", lambda context: None)
        with self.assertRaises(ValueError):
            registry.register("x", lambda context: None)
        with self.assertRaises(ValueError):
            Runner(Registry(), Engine())
