"""The gRPC transport of a runner. Needs ``pip install caudal-client[grpc]``.

Numbers are doubles on this wire. Integers beyond 2^53 come as floats, without their last digits, which no handler that
asks for an ``int`` is given; results with an integer that no double holds are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta, timezone
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct, Value

from caudal.address import parse, sent_along
from caudal.engine import Beat, Interrupt, Job, Progress, Standing
from caudal.errors import ApiError, ConflictError, NotFoundError, UnavailableError
from caudal.wire import worker_pb2

INTEGER_MAX = 2**53
"""From here on not every integer is a double."""
MESSAGE_BYTES_MAX = 64 * 1024 * 1024
CALL_SECONDS_MAX = 30.0
BEATS_PER_REQUEST_MAX = 1000
RECONNECT_MILLIS_MAX = 5_000
OPTIONS = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.keepalive_permit_without_calls", 1),
    # A poll that waits sends nothing for long: pings go on.
    ("grpc.http2.max_pings_without_data", 0),
    # The first is also how long an attempt to connect may take.
    ("grpc.min_reconnect_backoff_ms", RECONNECT_MILLIS_MAX),
    ("grpc.max_reconnect_backoff_ms", RECONNECT_MILLIS_MAX),
)
AGAIN = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.DATA_LOSS,
)
CONFLICTS = (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED, grpc.StatusCode.ALREADY_EXISTS)
STATUS = {
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.OUT_OF_RANGE: 413,
    grpc.StatusCode.UNIMPLEMENTED: 501,
}
"""What REST would have said; 400 of all others."""
SENT_TOO_LARGE = "Sent message larger than max"
"""What this library itself says with RESOURCE_EXHAUSTED: no server is busy, so it would be the same again."""


class GrpcEngine:
    """An :class:`~caudal.engine.EngineClient` over ``workflow.v1.WorkflowEngine``."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        credentials: grpc.ChannelCredentials | None = None,
    ) -> None:
        parts = parse(address, ("grpc", "grpcs"))
        if parts.path.strip("/"):
            raise ValueError(f"'{address}' has a path, which gRPC has no use for")
        self._metadata = [(name.lower(), value) for name, value in sent_along(token, headers).items()]
        if parts.scheme == "grpcs":
            made = credentials or grpc.ssl_channel_credentials()
            self._channel = grpc.secure_channel(parts.netloc, made, OPTIONS)
        else:
            self._channel = grpc.insecure_channel(parts.netloc, OPTIONS)

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
        request = worker_pb2.PollJobsRequest(
            worker_id=worker_id,
            job_types=job_types,
            max_jobs=max_jobs,
            lease_seconds=round(lease),
            wait_seconds=round(wait),
        )
        method = self._method("PollJobs", worker_pb2.PollJobsResponse)
        call = method.future(request.SerializeToString(), timeout=wait + 15, metadata=self._metadata)
        try:
            with (interrupt or Interrupt()).ending(call.cancel):
                return [_job(job) for job in call.result().jobs]
        except grpc.FutureCancelledError:
            return []
        except grpc.RpcError as error:
            raise _failure(error) from error

    def complete(self, worker_id: str, job: Job, variables: Mapping[str, Any]) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        request = worker_pb2.CompleteJobRequest(
            job_id=job.id, worker_id=worker_id, variables_to_set=_struct(variables), lease=job.lease
        )
        self._call("CompleteJob", request, worker_pb2.CompleteJobResponse)

    def fail(
        self, worker_id: str, job: Job, message: str, *, retryable: bool, retry_after: timedelta | None = None
    ) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        request = worker_pb2.FailJobRequest(
            job_id=job.id, worker_id=worker_id, retryable=retryable, error_message=message, lease=job.lease
        )
        if retry_after is not None:
            request.retry_after_millis = _millis(retry_after)
        self._call("FailJob", request, worker_pb2.FailJobResponse)

    def throw_error(self, worker_id: str, job: Job, code: str, message: str, variables: Mapping[str, Any]) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        request = worker_pb2.ThrowErrorRequest(
            job_id=job.id,
            worker_id=worker_id,
            lease=job.lease,
            error_code=code,
            error_message=message,
            variables=_struct(variables),
        )
        self._call("ThrowError", request, worker_pb2.ThrowErrorResponse)

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        """See :class:`~caudal.engine.EngineClient`."""
        standings: list[Standing] = []
        for at in range(0, len(beats), BEATS_PER_REQUEST_MAX):
            jobs = [_beat(worker_id, lease, beat) for beat in beats[at : at + BEATS_PER_REQUEST_MAX]]
            request = worker_pb2.HeartbeatsRequest(jobs=jobs)
            answer = self._call("Heartbeats", request, worker_pb2.HeartbeatsResponse)
            standings.extend(Standing(one.status) for one in answer.jobs)
        return standings

    def release(self, worker_id: str, job: Job, delay: timedelta | None = None) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        # 0 gives it back.
        millis = 0 if delay is None else _millis(delay) or 1
        request = worker_pb2.ReleaseJobRequest(job_id=job.id, worker_id=worker_id, lease=job.lease, delay_millis=millis)
        self._call("ReleaseJob", request, worker_pb2.ReleaseJobResponse)

    def close(self) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._channel.close()

    def _call(self, name: str, request: Any, answer: Any) -> Any:
        # What cannot be written is no fault of the server, as gRPC would have it if it wrote this.
        content = request.SerializeToString()
        try:
            return self._method(name, answer)(content, timeout=CALL_SECONDS_MAX, metadata=self._metadata)
        except grpc.RpcError as error:
            raise _failure(error) from error

    def _method(self, name: str, answer: Any) -> Any:
        return self._channel.unary_unary(f"/workflow.v1.WorkflowEngine/{name}", response_deserializer=answer.FromString)


def _beat(worker_id: str, lease: float, beat: Beat) -> worker_pb2.HeartbeatRequest:
    request = worker_pb2.HeartbeatRequest(
        job_id=beat.job.id, worker_id=worker_id, lease=beat.job.lease, lease_seconds=round(lease)
    )
    if beat.progress is not None:
        if beat.progress.percent is not None:
            request.percent = beat.progress.percent
        if beat.progress.message is not None:
            request.message = beat.progress.message
        request.data.CopyFrom(_struct(beat.progress.data))
    return request


def _job(job: worker_pb2.Job) -> Job:
    progress = None
    if job.HasField("progress"):
        said = _plain(job.progress)
        progress = Progress(said.get("percent"), said.get("message"), said.get("data") or {})
    return Job(
        id=job.id,
        type=job.job_type,
        variables=_plain(job.variables),
        instance_id=job.instance_id,
        step_id=job.step_id,
        step_execution_id=job.step_execution_id,
        retries_remaining=job.retries_remaining,
        lock_expires_at=job.lock_expires_at.ToDatetime(timezone.utc),
        lease=job.lease,
        progress=progress,
        trace_context=dict(job.trace_context),
    )


def _struct(variables: Mapping[str, Any]) -> Struct:
    for value in variables.values():
        _check(value)
    return json_format.ParseDict(dict(variables), Struct())


def _check(value: Any) -> None:
    """Refuse what would arrive as another number."""
    if isinstance(value, int):
        if abs(value) >= INTEGER_MAX and value != _double(value):
            message = f"{value} is no double, as numbers are over gRPC: use REST, or write it as text"
            raise ApiError(400, grpc.StatusCode.INVALID_ARGUMENT.name, message)
    elif isinstance(value, Mapping):
        for item in value.values():
            _check(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check(item)


def _double(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _plain(struct: Struct) -> dict[str, Any]:
    return {name: _value(value) for name, value in struct.fields.items()}


def _value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "number_value":
            number = value.number_value
            # As REST has it: what was written without a point comes without one.
            return int(number) if number.is_integer() and abs(number) < INTEGER_MAX else number
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "struct_value":
            return _plain(value.struct_value)
        case "list_value":
            return [_value(item) for item in value.list_value.values]
        case _:
            return None


def _millis(delay: timedelta) -> int:
    return round(delay.total_seconds() * 1000)


def _failure(error: Any) -> Exception:
    code, details = error.code(), error.details() or ""
    if code in AGAIN and SENT_TOO_LARGE not in details:
        return UnavailableError(f"{details} ({code.name})")
    status, kind = STATUS.get(code, 400), ApiError
    if code is grpc.StatusCode.NOT_FOUND:
        status, kind = 404, NotFoundError
    elif code in CONFLICTS:
        status, kind = 409, ConflictError
    return kind(status, code.name, details)
