"""The runner with an engine in memory: what it asks, what it says, and how often."""

from __future__ import annotations

import threading
import time
import unittest
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from caudal import (
    ApiError,
    Beat,
    BpmnError,
    ConflictError,
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
        self.stopped = threading.Event()

    def poll(self, worker_id: str, job_types: Sequence[str], max_jobs: int, lease: float, wait: float) -> list[Job]:
        taken, self.jobs = self.jobs[:max_jobs], self.jobs[max_jobs:]
        if not taken:
            self.stopped.wait(wait)
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

    def stop_polling(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        raise AssertionError("the engine belongs to whoever made it")

    def wait_said(self, count: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.said) >= count, timeout=30), self.said


class Late(Engine):
    """Has a job only when it is too late."""

    asked = threading.Event()

    def poll(self, *_: Any) -> list[Job]:
        self.asked.set()
        self.stopped.wait()
        return [Job("7", "work", {})]


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

    def test_a_result_that_is_refused_is_a_failure_for_people(self) -> None:
        said = work(lambda context: None, ApiError(413, "TOO_LARGE", "too large"), says=2)
        self.assertEqual(said[1], ("fail", "the result was refused: too large", False, None))

    def test_a_handler_that_lost_its_job_says_nothing(self) -> None:
        engine, registry, lost = Engine(Job("1", "work", {})), Registry(), threading.Event()
        engine.standing = Standing.CANCELLED

        @registry.handler("work")
        async def handler(context: JobContext) -> None:
            import asyncio

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

    def test_a_job_that_comes_too_late_is_given_back(self) -> None:
        engine, registry = Late(), Registry()
        registry.register("work", raising(AssertionError("it was begun")))
        with Runner(registry, engine):
            self.assertTrue(engine.asked.wait(30))
        self.assertEqual(engine.said, [("release", "7", None)])


class Polls(unittest.TestCase):
    def test_polls_that_do_not_wait_come_less_and_less_often(self) -> None:
        engine, registry, polls = Engine(), Registry(), []
        registry.register("work", lambda context: None)
        engine.poll = lambda *_: polls.append(1) or []  # type: ignore[method-assign,func-returns-value]
        with Runner(registry, engine, poll_wait=0):
            # Without a pause there would be thousands; a slow machine has fewer.
            time.sleep(0.3)
        self.assertLess(len(polls), 10)


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
