"""The one interface between a runner and a server. Transports stand behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Protocol

from caudal.address import DEFAULT_ADDRESS, shown


@dataclass(frozen=True)
class Progress:
    """How far a handler has come. ``data`` is for whoever goes on from there."""

    percent: int | None = None
    message: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """Work that is leased to this worker."""

    id: str
    type: str
    variables: Mapping[str, Any]
    instance_id: str = ""
    step_id: str = ""
    step_execution_id: str = ""
    retries_remaining: int = 0
    lock_expires_at: datetime | None = None
    lease: int = 0
    """The number of the lease. What is said for an older one is refused."""
    progress: Progress | None = None
    """What an earlier attempt said last."""
    trace_context: Mapping[str, str] = field(default_factory=dict)
    """``traceparent`` and ``tracestate`` of whoever started it."""


class Standing(Enum):
    """What became of a lease."""

    HELD = "HELD"
    LOST = "LOST"
    CANCELLED = "CANCELLED"
    COMPLETED = "COMPLETED"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class Beat:
    """A sign of life for one job."""

    job: Job
    progress: Progress | None = None


class Interrupt:
    """Lets another thread end the polls of one runner; one that begins later ends at once."""

    def __init__(self) -> None:
        self.is_set = False
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Meanwhile :meth:`set` calls ``end``; at once, if it was called before."""
        with self._lock:
            self._end = end
            if self.is_set:
                end()
        try:
            yield
        finally:
            with self._lock:
                self._end = None

    def set(self) -> None:
        """End the poll that waits."""
        with self._lock:
            self.is_set = True
            if self._end is not None:
                self._end()


class EngineClient(Protocol):
    """What a runner asks of a server. Runners may share it.

    Every method raises :class:`~caudal.errors.UnavailableError` when the same call may work later, and
    :class:`~caudal.errors.ApiError` when it never will. All but ``poll`` may be repeated.
    """

    def poll(
        self,
        worker_id: str,
        job_types: Sequence[str],
        max_jobs: int,
        lease: float,
        wait: float,
        interrupt: Interrupt | None = None,
    ) -> list[Job]:
        """Lease up to ``max_jobs`` for ``lease`` seconds, waiting ``wait`` seconds for the first.

        When the interrupt is set it ends at once, with nothing.
        """
        ...

    def complete(self, worker_id: str, job: Job, variables: Mapping[str, Any]) -> None:
        """The job is done."""
        ...

    def fail(
        self, worker_id: str, job: Job, message: str, *, retryable: bool, retry_after: timedelta | None = None
    ) -> None:
        """The job could not be done."""
        ...

    def throw_error(self, worker_id: str, job: Job, code: str, message: str, variables: Mapping[str, Any]) -> None:
        """Throw an error in the job's BPMN process, unless somebody else has the job by now."""
        ...

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        """Extend leases by ``lease`` seconds from now; say for each job what became of it, in the same order."""
        ...

    def release(self, worker_id: str, job: Job, delay: timedelta | None = None) -> None:
        """Give a job back, or put it off. No retry is used up."""
        ...

    def close(self) -> None:
        """Close connections."""
        ...


def connect(address: str = DEFAULT_ADDRESS, **options: Any) -> EngineClient:
    """A transport by the address; by none it is ``http://127.0.0.1:8080``. All take a ``token``.

    ``http(s)://`` is REST, ``grpc(s)://`` is gRPC (needs ``caudal-client[grpc]``).
    ``kafka://BROKER,BROKER?engine=http://SERVER`` is Kafka (needs ``caudal-client[kafka]``); see
    :func:`caudal.kafka_engine.by_address`.
    """
    address = address or DEFAULT_ADDRESS
    scheme = address.partition("://")[0]
    if scheme in ("http", "https"):
        from caudal.rest import RestEngine

        return RestEngine(address, **options)
    if scheme in ("grpc", "grpcs"):
        from caudal.grpc_engine import GrpcEngine

        return GrpcEngine(address, **options)
    if scheme == "kafka":
        from caudal.kafka_engine import by_address

        return by_address(address, **options)
    raise ValueError(f"'{shown(address)}' must begin with http://, https://, grpc://, grpcs:// or kafka://")
