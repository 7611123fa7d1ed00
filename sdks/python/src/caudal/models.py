"""What the client's questions are answered with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeVar

from caudal.http import parse_time
from caudal.typed import decode

T = TypeVar("T")


class Status(Enum):
    """Where an instance is in its life."""

    ACTIVE = "ACTIVE"
    WAITING = "WAITING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_over(self) -> bool:
        """Whether nothing happens any more unless somebody asks for it."""
        return self in (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


class ExecutionState(Enum):
    """Where an execution is in its life."""

    WAITING = "WAITING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some of what was found, and how many there are in all."""

    items: list[T]
    total: int


@dataclass(frozen=True)
class Deployed:
    """A version of a definition."""

    id: str
    version: int
    name: str | None = None


@dataclass(frozen=True)
class Started:
    """An instance that was started."""

    id: str
    definition_id: str
    definition_version: int


@dataclass(frozen=True)
class Instance:
    """One run of a workflow or process."""

    id: str
    definition_id: str
    definition_version: int
    status: Status
    current_step_ids: list[str]
    variables: Mapping[str, Any]
    started_at: datetime
    completed_at: datetime | None
    failure_reason: str | None
    business_key: str | None
    previous_instance_id: str | None

    def decode(self, kind: type[T]) -> T:
        """The variables as a dataclass, a pydantic model or another type."""
        result: T = decode(kind, self.variables)
        return result


@dataclass(frozen=True)
class StepExecution:
    """One attempt at a step."""

    id: str
    step_id: str
    step_type: str
    attempt_number: int
    status: str
    failure_reason: str | None


@dataclass(frozen=True)
class Submit:
    """An execution to be submitted."""

    input: Mapping[str, Any]
    priority: int | None = None
    retries: int | None = None
    run_at: datetime | None = None
    unique_key: str | None = None


@dataclass(frozen=True)
class Execution:
    """A job that belongs to no process."""

    id: str
    action: str
    state: ExecutionState
    input: Mapping[str, Any]
    result: Mapping[str, Any] | None
    error: str | None
    attempts: int
    retries: int


def instance(body: Mapping[str, Any]) -> Instance:
    """As the server writes it."""
    started = parse_time(body["startedAt"])
    assert started is not None
    return Instance(
        id=body["id"],
        definition_id=body["definitionId"],
        definition_version=body["definitionVersion"],
        status=Status(body["status"]),
        current_step_ids=body["currentStepIds"],
        variables=body["variables"],
        started_at=started,
        completed_at=parse_time(body["completedAt"]),
        failure_reason=body["failureReason"],
        business_key=body["businessKey"],
        previous_instance_id=body.get("previousInstanceId"),
    )


def step_execution(body: Mapping[str, Any]) -> StepExecution:
    """As the server writes it."""
    return StepExecution(
        id=body["id"],
        step_id=body["stepId"],
        step_type=body["stepType"],
        attempt_number=body["attemptNumber"],
        status=body["status"],
        failure_reason=body["failureReason"],
    )


def execution(body: Mapping[str, Any]) -> Execution:
    """As the server writes it."""
    return Execution(
        id=body["id"],
        action=body["action"],
        state=ExecutionState(body["state"]),
        input=body["input"],
        result=body["result"],
        error=body["error"],
        attempts=body["attempts"],
        retries=body["retries"],
    )
