"""The gRPC transport of a runner. Needs ``pip install caudal-client[grpc]``.

Numbers are doubles on this wire: integers beyond 2^53 lose digits.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta, timezone
from typing import Any
from urllib.parse import urlsplit

import grpc
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct, Value

from caudal.engine import Beat, Job, Progress, Standing
from caudal.errors import ApiError, ConflictError, NotFoundError, UnavailableError
from caudal.wire import gateway_pb2, worker_pb2

MESSAGE_BYTES_MAX = 64 * 1024 * 1024
CALL_SECONDS_MAX = 30.0
AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.DEADLINE_EXCEEDED)
CONFLICTS = (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED, grpc.StatusCode.ALREADY_EXISTS)


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
        parts = urlsplit(address)
        options = [("grpc.max_receive_message_length", MESSAGE_BYTES_MAX), ("grpc.max_reconnect_backoff_ms", 5000)]
        if parts.scheme == "grpcs":
            made = credentials or grpc.ssl_channel_credentials()
            self._channel = grpc.secure_channel(parts.netloc, made, options)
        else:
            self._channel = grpc.insecure_channel(parts.netloc, options)
        self._metadata = [(name.lower(), value) for name, value in (headers or {}).items()]
        if token is not None:
            self._metadata.append(("authorization", f"Bearer {token}"))
        self._lock = threading.Lock()
        self._waiting: grpc.Future[Any] | None = None
        self._stopped = False

    def poll(self, worker_id: str, job_types: Sequence[str], max_jobs: int, lease: float, wait: float) -> list[Job]:
        """See :class:`~caudal.engine.EngineClient`."""
        request = worker_pb2.PollJobsRequest(
            worker_id=worker_id,
            job_types=job_types,
            max_jobs=max_jobs,
            lease_seconds=round(lease),
            wait_seconds=round(wait),
        )
        method = self._method("PollJobs", worker_pb2.PollJobsResponse)
        with self._lock:
            if self._stopped:
                return []
            self._waiting = call = method.future(request, timeout=wait + 15, metadata=self._metadata)
        try:
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
        request = gateway_pb2.ThrowErrorRequest(
            jobKey=int(job.id), errorCode=code, errorMessage=message, variables=json.dumps(dict(variables))
        )
        self._call("ThrowError", request, gateway_pb2.ThrowErrorResponse, "gateway_protocol.Gateway")

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        """See :class:`~caudal.engine.EngineClient`."""
        return [self._beat(worker_id, lease, beat) for beat in beats]

    def release(self, worker_id: str, job: Job, delay: timedelta | None = None) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        millis = 0 if delay is None else max(1, _millis(delay))
        request = worker_pb2.ReleaseJobRequest(job_id=job.id, worker_id=worker_id, lease=job.lease, delay_millis=millis)
        self._call("ReleaseJob", request, worker_pb2.ReleaseJobResponse)

    def stop_polling(self) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        with self._lock:
            self._stopped = True
            if self._waiting is not None:
                self._waiting.cancel()

    def close(self) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._channel.close()

    def _beat(self, worker_id: str, lease: float, beat: Beat) -> Standing:
        request = worker_pb2.HeartbeatRequest(
            job_id=beat.job.id, worker_id=worker_id, lease=beat.job.lease, lease_seconds=round(lease)
        )
        if beat.progress is not None:
            if beat.progress.percent is not None:
                request.percent = beat.progress.percent
            if beat.progress.message is not None:
                request.message = beat.progress.message
            request.data.CopyFrom(_struct(beat.progress.data))
        try:
            return Standing(self._call("Heartbeat", request, worker_pb2.HeartbeatResponse).status)
        except NotFoundError:
            return Standing.UNKNOWN

    def _call(self, name: str, request: Any, answer: Any, service: str = "workflow.v1.WorkflowEngine") -> Any:
        try:
            return self._method(name, answer, service)(request, timeout=CALL_SECONDS_MAX, metadata=self._metadata)
        except grpc.RpcError as error:
            raise _failure(error) from error

    def _method(self, name: str, answer: Any, service: str = "workflow.v1.WorkflowEngine") -> Any:
        return self._channel.unary_unary(
            f"/{service}/{name}",
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=answer.FromString,
        )


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
    return json_format.ParseDict(dict(variables), Struct())


def _plain(struct: Struct) -> dict[str, Any]:
    return {name: _value(value) for name, value in struct.fields.items()}


def _value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "number_value":
            number = value.number_value
            # As REST has it: what was written without a point comes without one.
            return int(number) if number.is_integer() and abs(number) < 2**63 else number
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
    if code in AGAIN or code is grpc.StatusCode.CANCELLED:
        return UnavailableError(f"{details} ({code.name})")
    status, kind = 400, ApiError
    if code is grpc.StatusCode.NOT_FOUND:
        status, kind = 404, NotFoundError
    elif code in CONFLICTS:
        status, kind = 409, ConflictError
    return kind(status, code.name, details)
