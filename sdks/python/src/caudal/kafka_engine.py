"""The Kafka transport of a runner, for a server with ``dispatch = "kafka_outbox"``.

Needs ``pip install caudal-client[kafka]``.
Jobs are heard of on Kafka; how they ended is said to the server, over REST or gRPC.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from google.protobuf.message import DecodeError

from caudal.address import shown
from caudal.engine import Beat, EngineClient, Interrupt, Job, Standing, connect
from caudal.errors import ApiError, CaudalError, UnavailableError
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
    come twice, and its first completion counts. Runners that share it must have the same job types.

    :param brokers: where to begin, such as ``kafka-1:9092,kafka-2:9092``.
    :param engine: the server to which it is said how jobs ended: an address, or a transport, which is closed with this.
    :param options: those of the transport to the server, if it is an address: ``token`` and the like.
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
        **options: Any,
    ) -> None:
        if options and not isinstance(engine, str):
            raise ValueError(f"{', '.join(options)}: the transport to the server has its own")
        self._engine: EngineClient = connect(engine, **options) if isinstance(engine, str) else engine
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
        # The client must not be closed while it is asked.
        self._lock = threading.Lock()

    def poll(
        self,
        worker_id: str,
        job_types: Sequence[str],
        max_jobs: int,
        lease: float,
        wait: float,
        interrupt: Interrupt | None = None,
    ) -> list[Job]:
        """See :class:`~caudal.engine.EngineClient`."""
        self._worker_id = worker_id
        heard = self._wait(job_types, max_jobs, wait, interrupt or Interrupt())
        if not heard:
            return []
        # The announcement may be old: the job is over, or its lease nearly.
        try:
            standings = self._engine.heartbeat(worker_id, lease, [Beat(job) for job in heard])
        except CaudalError:
            with self._lock:
                self._heard = heard + self._heard
            raise
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

    def close(self) -> None:
        """Leave the group, give back what was heard of and not begun, and close the transport to the server."""
        with self._lock:
            self._consumer.close()
        # They are free when their leases end, if the server is away.
        with contextlib.suppress(UnavailableError):
            for job in self._heard:
                with contextlib.suppress(ApiError):
                    self._engine.release(self._worker_id, job)
        self._engine.close()

    def _wait(self, job_types: Sequence[str], max_jobs: int, wait: float, interrupt: Interrupt) -> list[Job]:
        """Asks once at least: what is there is heard without waiting."""
        deadline = time.monotonic() + wait
        while not interrupt.is_set:
            with self._lock:
                left = max(0.0, deadline - time.monotonic())
                heard = self._hear(job_types, max_jobs, min(STOP_WITHIN, left))
            if heard or not left:
                return heard
        return []

    def _hear(self, job_types: Sequence[str], max_jobs: int, within: float) -> list[Job]:
        """Hears of jobs, unless there are some that the server could not be asked about before."""
        if self._subscribed != list(job_types):
            self._subscribed = list(job_types)
            self._consumer.subscribe([self._prefix + job_type for job_type in job_types])
        first = None if self._heard else self._consumer.poll(within)
        if first is not None:
            others = self._consumer.consume(max_jobs - 1, 0) if max_jobs > 1 else []
            jobs = (_job(message) for message in (first, *others) if _is_good(message))
            self._heard = [job for job in jobs if job is not None]
        heard, self._heard = self._heard[:max_jobs], self._heard[max_jobs:]
        return heard


def by_address(address: str, **options: Any) -> KafkaEngine:
    """The transport of ``kafka://BROKER,BROKER?engine=http://SERVER``.

    ``group`` and ``topic_prefix`` may be given too, and any setting of ``confluent_kafka``. The options are those of
    the transport to the server: ``token`` and the like.
    """
    brokers, _, settings = address.removeprefix("kafka://").partition("?")
    if not re.fullmatch(r"[^\s/@#]+", brokers):
        raise ValueError(f"'{shown(address)}' must name brokers, such as kafka://kafka-1:9092,kafka-2:9092")
    try:
        given = dict(parse_qsl(settings, strict_parsing=True)) if settings else {}
    except ValueError:
        raise ValueError(f"'{shown(address)}' has a setting that is no NAME=VALUE") from None
    if "engine" not in given:
        raise ValueError(f"'{shown(address)}' does not say where the server is: ?engine=http://…")
    named = {name: given.pop(name) for name in ("engine", "group", "topic_prefix") if name in given}
    return KafkaEngine(brokers, **named, config=given, **options)


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
