from __future__ import annotations

import unittest
from datetime import timedelta

from caudal import JobContext, Registry, Snooze
from caudal.outcome import Completed, Snoozed
from caudal.testing import FakeContext, run_job


class Kit(unittest.TestCase):
    def test_a_handler_runs_without_a_server(self) -> None:
        registry = Registry()

        @registry.handler("later")
        def later(context: JobContext) -> None:
            raise Snooze(timedelta(hours=1))

        @registry.handler("double")
        async def double(variables: dict[str, int]) -> dict[str, int]:
            return {"n": variables["n"] * 2}

        self.assertEqual(run_job(registry, "double", {"n": 2}), Completed({"n": 4}))
        self.assertEqual(run_job(registry, "later"), Snoozed(timedelta(hours=1)))

    def test_what_a_handler_says_is_noted(self) -> None:
        context = FakeContext({"a": 1})
        context.progress(50, "half", {"page": 2})
        self.assertEqual([one.percent for one in context.said], [50])
