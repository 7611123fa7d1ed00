"""What can go wrong, by what a caller can do about it; and what handlers raise."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any


class CaudalError(Exception):
    """Anything this package raises."""


class ApiError(CaudalError):
    """The server refused a request."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{message} ({code}, {status})")
        self.status = status
        self.code = code
        self.message = message


class NotFoundError(ApiError):
    """There is no such thing."""


class ConflictError(ApiError):
    """It is there, but in a state in which this cannot be done."""


class UnavailableError(CaudalError):
    """The server is away or busy; the same request may work later."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WaitTimeoutError(CaudalError):
    """What was waited for did not happen in time."""


class NonRetryableError(CaudalError):
    """Raised by a handler: trying again cannot help, whatever retries are left."""


class RetryableError(CaudalError):
    """Raised by a handler: try again, after a while of its choice. Any other exception is retried as well."""

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BpmnError(CaudalError):
    """Raised by a handler: an error that the BPMN process may catch."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.variables = dict(variables or {})


class Snooze(CaudalError):  # noqa: N818  (it is no error)
    """Raised by a handler: not now. The job comes again after the delay, and no retry is used up."""

    def __init__(self, delay: timedelta) -> None:
        super().__init__(f"put off for {delay}")
        self.delay = delay
