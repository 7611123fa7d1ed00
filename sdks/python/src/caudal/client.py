"""Deploys, starts, tells, asks: everything but working on jobs."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from caudal import models, telemetry
from caudal.address import DEFAULT_ADDRESS
from caudal.backoff import retry
from caudal.errors import WaitTimeoutError
from caudal.http import Http
from caudal.models import Deployed, Execution, Instance, Page, Started, Status, StepExecution, Submit
from caudal.typed import encode_variables

T = TypeVar("T")

EXECUTIONS_PER_REQUEST_MAX = 1000


class Client:
    """Talks to a server over REST. Threads may share it.

    Requests are repeated while the server is away or busy, for ``patience`` seconds. What changes something has an
    idempotency key, the same each time, so that it happens once.

    :param address: such as ``https://caudal.example.com``; ``http://127.0.0.1:8080`` without one.
    :param token: sent as a bearer token.
    :param headers: sent with every request, such as an API key.
    :param ssl_context: for authorities and client certificates of your own.
    """

    def __init__(self, address: str = DEFAULT_ADDRESS, *, patience: float = 30.0, **options: Any) -> None:
        self._http = Http(address, **options)
        self._patience = patience

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections."""
        self._http.close()

    def deploy(self, *resources: str | Path | Mapping[str, Any]) -> list[Deployed]:
        """Deploy JSON workflows (as mappings or ``.json`` files), BPMN, DMN and form files."""
        files = [Path(resource) for resource in resources if not isinstance(resource, Mapping)]
        deployed = [self._upload(resource) for resource in resources if isinstance(resource, Mapping)]
        deployed += [self._upload(file.read_bytes()) for file in files if file.suffix == ".json"]
        others = [file for file in files if file.suffix != ".json"]
        return deployed + (self._deploy_files(others) if others else [])

    def definitions(self, keyword: str = "", *, page: int = 0, page_size: int = 20) -> Page[Deployed]:
        """The latest versions of JSON workflows."""
        body = self._get("/v1/definitions", keyword=keyword, page=page, pageSize=page_size)
        return Page([Deployed(item["id"], item["version"], item["name"]) for item in body["items"]], body["total"])

    def definition(self, definition_id: str, version: int | None = None) -> Mapping[str, Any]:
        """A JSON workflow as it was uploaded."""
        path = f"/v1/definitions/{_part(definition_id)}" + (f"/versions/{version}" if version else "")
        body: Mapping[str, Any] = self._get(path)
        return body

    def start(
        self,
        definition_id: str,
        variables: Any = None,
        *,
        version: int | None = None,
        business_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> Started:
        """Start an instance. A start with an idempotency key that was used before is that start again."""
        body = {
            "processDefinitionId": definition_id,
            "processDefinitionVersion": version,
            "variables": encode_variables(variables),
            "businessId": business_key,
        }
        given = {name: value for name, value in body.items() if value is not None}
        answer = self._command("/v2/process-instances", given, key=idempotency_key)
        return Started(answer["processInstanceKey"], answer["processDefinitionId"], answer["processDefinitionVersion"])

    def wait(self, instance_id: str, timeout: float = 30.0) -> Instance:
        """The instance when it is over: completed, failed or cancelled."""
        return self._wait(lambda: self.instance(instance_id), lambda instance: instance.status.is_over, timeout)

    def start_and_wait(
        self, definition_id: str, variables: Any = None, *, timeout: float = 30.0, **start: Any
    ) -> Instance:
        """Start an instance and wait until it is over. Takes what :meth:`start` takes."""
        return self.wait(self.start(definition_id, variables, **start).id, timeout)

    def instance(self, instance_id: str) -> Instance:
        """An instance as it is now."""
        return models.instance(self._get(f"/v1/instances/{_part(instance_id)}"))

    def instances(
        self,
        *,
        definition_id: str = "",
        status: Status | None = None,
        business_key: str = "",
        page: int = 0,
        page_size: int = 20,
    ) -> Page[Instance]:
        """Instances that match, the newest first."""
        word = status.value if status else ""
        filters = {"definitionId": definition_id, "status": word, "businessKey": business_key}
        body = self._get("/v1/instances", **filters, page=page, pageSize=page_size)
        return Page([models.instance(item) for item in body["items"]], body["total"])

    def history(self, instance_id: str) -> list[StepExecution]:
        """Every attempt at every step, in the order in which they began."""
        return [
            models.step_execution(item) for item in self._get(f"/v1/instances/{_part(instance_id)}/history")["items"]
        ]

    def cancel(self, instance_id: str) -> Instance:
        """Cancel an instance."""
        return models.instance(self._command(f"/v1/instances/{_part(instance_id)}/cancel"))

    def retry(self, instance_id: str) -> Instance:
        """Let a failed instance try its failed steps again."""
        return models.instance(self._command(f"/v1/instances/{_part(instance_id)}/retry"))

    def complete_user_task(
        self, instance_id: str, step_id: str, result: Any = None, *, completed_by: str = "", buffer: bool = False
    ) -> None:
        """A person has done a task. With ``buffer`` it is kept if the step is not reached yet."""
        path = f"/v1/instances/{_part(instance_id)}/user-tasks/{_part(step_id)}/complete{_buffer(buffer)}"
        self._command(path, {"completedBy": completed_by, "result": encode_variables(result)})

    def signal(self, instance_id: str, step_id: str, variables: Any = None, *, buffer: bool = False) -> None:
        """Let a WAIT step go on. With ``buffer`` it is kept if the step is not reached yet."""
        path = f"/v1/instances/{_part(instance_id)}/signals/{_part(step_id)}{_buffer(buffer)}"
        self._command(path, encode_variables(variables))

    def publish(
        self,
        name: str,
        correlation_key: str = "",
        variables: Any = None,
        *,
        time_to_live: timedelta = timedelta(hours=1),
        message_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """Publish a message to whoever waits for it now or while it lives."""
        body: dict[str, Any] = {
            "name": name,
            "correlationKey": correlation_key,
            "variables": encode_variables(variables),
        }
        body["timeToLive"] = round(time_to_live.total_seconds() * 1000)
        if message_id is not None:
            body["messageId"] = message_id
        self._command("/v2/messages/publication", body, key=idempotency_key)

    def broadcast_signal(self, name: str, variables: Any = None, *, idempotency_key: str | None = None) -> None:
        """Broadcast a BPMN signal to all that wait for it now, and start what starts with it."""
        body = {"signalName": name, "variables": encode_variables(variables)}
        self._command("/v2/signals/broadcast", body, key=idempotency_key)

    def submit(self, action: str, input: Any = None, *, idempotency_key: str | None = None, **options: Any) -> str:  # noqa: A002
        """Submit one execution; its id. Takes what :class:`~caudal.models.Submit` takes."""
        return self.submit_all(action, [Submit(encode_variables(input), **options)], idempotency_key=idempotency_key)[0]

    def submit_all(self, action: str, executions: Iterable[Submit], *, idempotency_key: str | None = None) -> list[str]:
        """Submit many; their ids in the same order. Each thousand is taken as a whole or not at all."""
        given = [_submit(one) for one in executions]
        ids: list[str] = []
        for at in range(0, len(given), EXECUTIONS_PER_REQUEST_MAX):
            body = {"executions": given[at : at + EXECUTIONS_PER_REQUEST_MAX]}
            key = idempotency_key and f"{idempotency_key}-{at}"
            answer = self._command(f"/v1/actions/{_part(action)}/executions/bulk", body, key=key)
            ids += [item["id"] for item in answer["executions"]]
        return ids

    def execution(self, execution_id: str) -> Execution:
        """An execution as it is now."""
        return models.execution(self._get(f"/v1/executions/{_part(execution_id)}"))

    def wait_execution(self, execution_id: str, timeout: float = 30.0) -> Execution:
        """The execution when it is over."""
        over = (models.ExecutionState.COMPLETED, models.ExecutionState.FAILED, models.ExecutionState.CANCELLED)
        return self._wait(lambda: self.execution(execution_id), lambda one: one.state in over, timeout)

    def cancel_execution(self, execution_id: str) -> None:
        """Cancel an execution that waits, runs or has failed."""
        self._command(f"/v1/executions/{_part(execution_id)}/cancel")

    def _upload(self, document: Mapping[str, Any] | bytes) -> Deployed:
        content = ("application/json", document) if isinstance(document, bytes) else None
        answer = self._command("/v1/definitions", None if content else document, content=content)
        return Deployed(answer["id"], answer["version"], answer["name"])

    def _deploy_files(self, files: list[Path]) -> list[Deployed]:
        boundary = uuid.uuid4().hex
        parts = b"".join(_multipart(boundary, file.name, file.read_bytes()) for file in files)
        content = (f"multipart/form-data; boundary={boundary}", parts + f"--{boundary}--\r\n".encode())
        answer = self._command("/v2/deployments", content=content)
        found = [item["processDefinition"] for item in answer["deployments"] if item.get("processDefinition")]
        return [Deployed(item["processDefinitionId"], item["processDefinitionVersion"]) for item in found]

    def _get(self, path: str, **query: Any) -> Any:
        given = {name: value for name, value in query.items() if value != ""}
        target = path + (f"?{urlencode(given)}" if given else "")
        return retry(lambda: self._http.call("GET", target), self._patience)

    def _command(
        self, path: str, body: object = None, *, key: str | None = None, content: tuple[str, bytes] | None = None
    ) -> Any:
        # Not even a refusal for want of room is kept with the key: it may be the same each time.
        headers = {"Idempotency-Key": key or str(uuid.uuid4()), **telemetry.current()}
        return retry(lambda: self._http.call("POST", path, body, headers=headers, content=content), self._patience)

    def _wait(self, look: Callable[[], T], is_over: Callable[[T], bool], timeout: float) -> T:
        deadline, pause = time.monotonic() + timeout, 0.01
        while not is_over(seen := look()):
            if deadline < time.monotonic() + pause:
                raise WaitTimeoutError(f"not over after {timeout:g} s: {seen}")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.5)
        return seen


def _part(text: str) -> str:
    return quote(text, safe="")


def _buffer(buffer: bool) -> str:
    return "?buffer=true" if buffer else ""


def _multipart(boundary: str, name: str, content: bytes) -> bytes:
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="resources"; filename="{name}"\r\n\r\n'
    return head.encode() + content + b"\r\n"


def _submit(one: Submit) -> dict[str, Any]:
    body = {
        "input": encode_variables(one.input),
        "priority": one.priority,
        "retries": one.retries,
        "runAt": one.run_at and _utc(one.run_at),
        "uniqueKey": one.unique_key,
    }
    return {name: value for name, value in body.items() if value is not None}


def _utc(moment: datetime) -> str:
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
