"""The Kafka transport of a runner, for a server with ``dispatch = "kafka_outbox"``.

Needs ``pip install caudal-client[kafka]``.
Jobs are heard of on Kafka; how they ended is said to the server, over REST or gRPC.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from google.protobuf.message import DecodeError

from caudal.engine import Beat, EngineClient, Job, Standing, connect
from caudal.errors import CaudalError, UnavailableError
from caudal.rest import progress_of
from caudal.wire.dispatch_pb2 import JobDispatchEvent

log = logging.getLogger("caudal")

STOP_WITHIN = 0.25
"""Seconds until a poll that waits has heard that it is to stop."""

# Rebalancing is done by a thread of the client's own. A runner asks for jobs when it has room, however long that takes.
ASKED_WITHIN_MILLIS = 24 * 60 * 60 * 1000


class KafkaEngine:
    """An :class:`~caudal.engine.EngineClient` that hears of jobs on Kafka.

    A job that came to a worker which was killed is announced again when its lease is over, so nothing is lost; it may
    come twice, and its first completion counts.

    :param brokers: where to begin, such as ``kafka-1:9092,kafka-2:9092``.
    :param engine: the server to which it is said how jobs ended: an address, or a transport, which is closed with this.
    :param group: workers of one group share the jobs. Those of another group get all of them as well.
    :param topic_prefix: as the server's ``kafka.topic_prefix``.
    :param config: further settings of ``confluent_kafka``, such as ``security.protocol``.
    """

    def __init__(
        self,
        brokers: str,
        engine: str | EngineClient,
        *,
        group: str = "caudal-workers",
        topic_prefix: str = "workflow.jobs.",
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self._engine: EngineClient = connect(engine) if isinstance(engine, str) else engine
        self._prefix = topic_prefix
        settings = {
            "bootstrap.servers": brokers,
            "group.id": group,
            "partition.assignment.strategy": "cooperative-sticky",
            "auto.offset.reset": "earliest",
            "max.poll.interval.ms": ASKED_WITHIN_MILLIS,
            "topic.metadata.refresh.interval.ms": 30_000,
            **(config or {}),
        }
        self._consumer = Consumer(settings)
        self._subscribed: list[str] = []
        self._heard: list[Job] = []
        self._worker_id = ""
        self._stopped = threading.Event()
        # The client must not be closed while it is asked.
        self._lock = threading.Lock()

    def poll(self, worker_id: str, job_types: Sequence[str], max_jobs: int, lease: float, wait: float) -> list[Job]:
        """See :class:`~caudal.engine.EngineClient`."""
        self._worker_id = worker_id
        with self._lock:
            self._hear(job_types, max_jobs, wait)
        if not self._heard:
            return []
        # The announcement may be old: the job is over, or its lease nearly.
        standings = self._engine.heartbeat(worker_id, lease, [Beat(job) for job in self._heard])
        heard, self._heard = self._heard, []
        return [job for job, standing in zip(heard, standings, strict=True) if standing is Standing.HELD]

    def complete(self, worker_id: str, job: Job, variables: Mapping[str, Any]) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._engine.complete(worker_id, job, variables)

    def fail(
        self, worker_id: str, job: Job, message: str, *, retryable: bool, retry_after: timedelta | None = None
    ) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._engine.fail(worker_id, job, message, retryable=retryable, retry_after=retry_after)

    def throw_error(self, worker_id: str, job: Job, code: str, message: str, variables: Mapping[str, Any]) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._engine.throw_error(worker_id, job, code, message, variables)

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        """See :class:`~caudal.engine.EngineClient`."""
        return self._engine.heartbeat(worker_id, lease, beats)

    def release(self, worker_id: str, job: Job, delay: timedelta | None = None) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._engine.release(worker_id, job, delay)

    def stop_polling(self) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._stopped.set()

    def close(self) -> None:
        """Leave the group, give back what was heard of and not begun, and close the transport to the server."""
        self._stopped.set()
        with self._lock:
            self._consumer.close()
        for job in self._heard:
            # It is free when its lease ends, else.
            with contextlib.suppress(CaudalError):
                self._engine.release(self._worker_id, job)
        self._engine.close()

    def _hear(self, job_types: Sequence[str], max_jobs: int, wait: float) -> None:
        """Hears of jobs, unless there are some that the server could not be asked about before."""
        if self._subscribed != list(job_types):
            self._subscribed = list(job_types)
            self._consumer.subscribe([self._prefix + job_type for job_type in job_types])
        deadline = time.monotonic() + wait
        while not self._heard and not self._stopped.is_set() and time.monotonic() < deadline:
            first = self._consumer.poll(STOP_WITHIN)
            if first is not None:
                others = self._consumer.consume(max_jobs - 1, 0) if max_jobs > 1 else []
                jobs = (_job(message) for message in (first, *others) if _is_good(message))
                self._heard = [job for job in jobs if job is not None]


def by_address(address: str, **options: Any) -> KafkaEngine:
    """The transport of ``kafka://BROKER,BROKER?engine=http://SERVER``.

    ``group`` and ``topic_prefix`` may be given too, and any setting of ``confluent_kafka``. The options are those of
    the transport to the server: ``token`` and the like.
    """
    parts = urlsplit(address)
    given = dict(parse_qsl(parts.query, strict_parsing=True))
    if "engine" not in given:
        raise ValueError(f"'{address}' does not say where the server is: ?engine=http://…")
    engine = connect(given.pop("engine"), **options)
    named = {name: given.pop(name) for name in ("group", "topic_prefix") if name in given}
    return KafkaEngine(parts.netloc, engine, config=given, **named)


def _is_good(message: Message) -> bool:
    error = message.error()
    # The topic of a type is made by people, perhaps later.
    if error is None or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return error is None
    raise UnavailableError(str(error)) from KafkaException(error)


def _job(message: Message) -> Job | None:
    try:
        event = JobDispatchEvent.FromString(message.value() or b"")
        variables = json.loads(event.job_payload)
        said, trace = (json.loads(content) if content else None for content in (event.progress, event.trace_context))
    except (DecodeError, ValueError) as error:
        # It would be the same again and again.
        log.warning("%s at %s: no announcement of a job: %s", message.topic(), message.offset(), error)
        return None
    return Job(
        id=event.job_id,
        type=event.job_type,
        variables=variables,
        instance_id=event.instance_id,
        step_id=event.step_id,
        step_execution_id=event.step_execution_id,
        retries_remaining=event.retries_remaining,
        lease=event.lease,
        progress=progress_of(said),
        trace_context=trace or {},
    )
