"""The REST transport of a runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from caudal.engine import Beat, Interrupt, Job, Progress, Standing
from caudal.errors import UnavailableError
from caudal.http import Http, parse_time

JOBS_PER_REQUEST_MAX = 1000


class RestEngine:
    """An :class:`~caudal.engine.EngineClient` over ``/v1``."""

    def __init__(self, address: str, **options: Any) -> None:
        self._http = Http(address, **options)

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
        body = {
            "workerId": worker_id,
            "jobTypes": list(job_types),
            "maxJobs": max_jobs,
            "leaseSeconds": round(lease),
            "waitSeconds": round(wait),
        }
        try:
            answer = self._http.call("POST", "/v1/jobs/poll", body, timeout=wait + 15, interrupt=interrupt)
        except UnavailableError:
            if interrupt is not None and interrupt.is_set:
                return []
            raise
        return [_job(item) for item in answer["jobs"]]

    def complete(self, worker_id: str, job: Job, variables: Mapping[str, Any]) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._say(job, "complete", {**_holder(worker_id, job), "variables": dict(variables)})

    def fail(
        self, worker_id: str, job: Job, message: str, *, retryable: bool, retry_after: timedelta | None = None
    ) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        body = {**_holder(worker_id, job), "retryable": retryable, "errorMessage": message}
        if retry_after is not None:
            body["retryAfter"] = _duration(retry_after)
        self._say(job, "fail", body)

    def throw_error(self, worker_id: str, job: Job, code: str, message: str, variables: Mapping[str, Any]) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        error = {"errorCode": code, "errorMessage": message, "variables": dict(variables)}
        self._say(job, "error", {**_holder(worker_id, job), **error})

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        """See :class:`~caudal.engine.EngineClient`."""
        standings: list[Standing] = []
        for at in range(0, len(beats), JOBS_PER_REQUEST_MAX):
            jobs = [_beat(beat) for beat in beats[at : at + JOBS_PER_REQUEST_MAX]]
            body = {"workerId": worker_id, "leaseSeconds": round(lease), "jobs": jobs}
            answer = self._http.call("POST", "/v1/jobs/heartbeat", body)
            standings.extend(Standing(item["status"]) for item in answer["jobs"])
        return standings

    def release(self, worker_id: str, job: Job, delay: timedelta | None = None) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        if delay is None:
            self._say(job, "release", _holder(worker_id, job))
        else:
            self._say(job, "snooze", {**_holder(worker_id, job), "duration": _duration(delay)})

    def close(self) -> None:
        """See :class:`~caudal.engine.EngineClient`."""
        self._http.close()

    def _say(self, job: Job, what: str, body: Mapping[str, Any]) -> None:
        self._http.call("POST", f"/v1/jobs/{quote(job.id, safe='')}/{what}", body)


def _holder(worker_id: str, job: Job) -> dict[str, Any]:
    return {"workerId": worker_id, **({"lease": job.lease} if job.lease else {})}


def _beat(beat: Beat) -> dict[str, Any]:
    body: dict[str, Any] = {"jobId": beat.job.id, **({"lease": beat.job.lease} if beat.job.lease else {})}
    if beat.progress is not None:
        given = {"percent": beat.progress.percent, "message": beat.progress.message, "data": dict(beat.progress.data)}
        body["progress"] = {name: value for name, value in given.items() if value is not None}
    return body


def progress_of(said: Mapping[str, Any] | None) -> Progress | None:
    """What an earlier attempt said, as the server writes it."""
    if said is None:
        return None
    return Progress(percent=said.get("percent"), message=said.get("message"), data=said.get("data") or {})


def _job(item: Mapping[str, Any]) -> Job:
    return Job(
        id=item["id"],
        type=item["jobType"],
        variables=item["variables"],
        instance_id=item["instanceId"],
        step_id=item["stepId"],
        step_execution_id=item["stepExecutionId"],
        retries_remaining=item["retriesRemaining"],
        lock_expires_at=parse_time(item["lockExpiresAt"]),
        lease=item.get("lease") or 0,
        progress=progress_of(item.get("progress")),
        trace_context=item.get("traceContext") or {},
    )


def _duration(delay: timedelta) -> str:
    return f"PT{delay.total_seconds():.3f}S"
