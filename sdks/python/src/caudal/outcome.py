"""What a handler's end means for its job."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from caudal.context import JobContext, Loss
from caudal.errors import BpmnError, NonRetryableError, RetryableError, Snooze
from caudal.registry import Handler
from caudal.typed import encode_variables

log = logging.getLogger("caudal")


@dataclass(frozen=True)
class Completed:
    """The job is done."""

    variables: dict[str, Any]


@dataclass(frozen=True)
class Failed:
    """It could not be done."""

    message: str
    retryable: bool
    retry_after: timedelta | None = None


@dataclass(frozen=True)
class Thrown:
    """An error for the BPMN process."""

    code: str
    message: str
    variables: dict[str, Any]


@dataclass(frozen=True)
class Snoozed:
    """Not now."""

    delay: timedelta


@dataclass(frozen=True)
class Abandoned:
    """Nobody waits for it any more."""

    loss: Loss


Outcome = Completed | Failed | Thrown | Snoozed | Abandoned


def run(
    handler: Handler, context: JobContext, wait: Callable[[Awaitable[Any], JobContext], Any] | None = None
) -> Outcome:
    """Call the handler; ``wait`` runs a coroutine to its end, for async ones."""
    try:
        result = handler.call(context)
        if handler.is_async:
            result = (wait or _wait)(result, context)
        outcome: Outcome = Completed(encode_variables(result))
    except (CancelledError, asyncio.CancelledError):
        outcome = Failed("the handler was cancelled", retryable=True)
    except Exception as error:
        outcome = _of(error)
        if isinstance(outcome, Failed) and context.loss is None:
            log.warning("job %s (%s) failed", context.job.id, context.job.type, exc_info=error)
    return Abandoned(context.loss) if context.loss is not None else outcome


def _of(error: Exception) -> Outcome:
    if isinstance(error, BpmnError):
        return _thrown(error)
    if isinstance(error, Snooze):
        return Snoozed(error.delay)
    if isinstance(error, NonRetryableError):
        return Failed(str(error), retryable=False)
    if isinstance(error, RetryableError):
        return Failed(str(error), retryable=True, retry_after=error.retry_after)
    return Failed(str(error) or type(error).__name__, retryable=True)


def _thrown(error: BpmnError) -> Outcome:
    try:
        return Thrown(error.code, error.message, encode_variables(error.variables))
    except NonRetryableError as reason:
        return Failed(f"the BPMN error '{error.code}' cannot be thrown: {reason}", retryable=False)


def _wait(coroutine: Any, _context: JobContext) -> Any:
    return asyncio.run(coroutine)
