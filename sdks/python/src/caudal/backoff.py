"""How long to wait before asking again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from caudal.errors import UnavailableError

T = TypeVar("T")


class Backoff:
    """Waits that double up to a bound, each a random part of it, so that many clients do not come back at once."""

    def __init__(self, first: float = 0.1, longest: float = 10.0) -> None:
        self._first = first
        self._longest = longest
        self._failures = 0

    def reset(self) -> None:
        """It worked."""
        self._failures = 0

    def next(self, retry_after: float | None = None) -> float:
        """Seconds to wait after one more failure; never less than the server asked for."""
        bound = min(self._longest, self._first * 2 ** min(self._failures, 30))
        self._failures += 1
        return max(random.uniform(bound / 2, bound), retry_after or 0.0)


def retry(call: Callable[[], T], within: float) -> T:
    """Call until it answers, or until another wait would end after ``within`` seconds."""
    backoff = Backoff()
    deadline = time.monotonic() + within
    while True:
        try:
            return call()
        except UnavailableError as error:
            pause = backoff.next(error.retry_after)
            if deadline < time.monotonic() + pause:
                raise
            time.sleep(pause)
