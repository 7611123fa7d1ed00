"""What a handler knows of its job, and what it can say while it runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from caudal.engine import Job, Progress
from caudal.typed import decode

T = TypeVar("T")

log = logging.getLogger("caudal")


class Loss(Enum):
    """Why a handler should stop."""

    LEASE_LOST = "the lease was lost"
    CANCELLED = "the job was cancelled"
    SHUTDOWN = "the runner is stopping"


class JobContext:
    """Given to a handler beside its variables. Safe to use from any thread."""

    def __init__(self, job: Job, report: Callable[[Progress], None] | None = None) -> None:
        self.job = job
        self._report = report
        self._lost = threading.Event()
        self._loss: Loss | None = None
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    @property
    def variables(self) -> Mapping[str, Any]:
        """The job's variables as they came."""
        return self.job.variables

    @property
    def loss(self) -> Loss | None:
        """Why nobody waits for the result any more, if so."""
        return self._loss

    @property
    def is_lost(self) -> bool:
        """Whether to stop: what the handler returns will be thrown away."""
        return self._lost.is_set()

    def wait_lost(self, timeout: float | None = None) -> bool:
        """Wait at most ``timeout`` seconds for a reason to stop; tell whether there is one. A sleep that ends early."""
        return self._lost.wait(timeout)

    def decode(self, kind: type[T]) -> T:
        """The variables as a dataclass, a pydantic model or another type."""
        result: T = decode(kind, self.job.variables)
        return result

    def progress(
        self, percent: int | None = None, message: str | None = None, data: Mapping[str, Any] | None = None
    ) -> None:
        """Say how far it has come; ``data`` is in ``job.progress`` of the next attempt, should there be one."""
        if self._report is not None:
            self._report(Progress(percent, message, dict(data or {})))

    def on_lost(self, listener: Callable[[], None]) -> None:
        """Call ``listener`` when there is a reason to stop, at once if there is one already."""
        with self._lock:
            if self._loss is None:
                self._listeners.append(listener)
                return
        listener()

    def lose(self, loss: Loss) -> None:
        """For runners and tests: tell the handler to stop."""
        with self._lock:
            if self._loss is not None:
                return
            self._loss = loss
            listeners, self._listeners = self._listeners, []
        self._lost.set()
        for listener in listeners:
            try:
                listener()
            except Exception:
                log.exception("job %s: a listener failed", self.job.id)
