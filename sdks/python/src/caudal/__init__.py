"""Workers and clients for Caudal: JSON workflows, BPMN processes, direct executions and queues.

Begin with :class:`Registry`, :class:`Runner` and :class:`Client`; handlers get a :class:`JobContext` and raise
:class:`NonRetryableError`, :class:`BpmnError` or :class:`Snooze`. Tests use :mod:`caudal.testing`.
"""

from caudal.client import Client
from caudal.context import JobContext, Loss
from caudal.engine import Beat, EngineClient, Interrupt, Job, Progress, Standing, connect
from caudal.errors import (
    ApiError,
    BpmnError,
    CaudalError,
    ConflictError,
    NonRetryableError,
    NotFoundError,
    RetryableError,
    Snooze,
    UnavailableError,
    WaitTimeoutError,
)
from caudal.models import Deployed, Execution, ExecutionState, Instance, Page, Started, Status, StepExecution, Submit
from caudal.registry import Registry
from caudal.runner import Runner

__all__ = [
    "ApiError",
    "Beat",
    "BpmnError",
    "CaudalError",
    "Client",
    "ConflictError",
    "Deployed",
    "EngineClient",
    "Execution",
    "ExecutionState",
    "Instance",
    "Interrupt",
    "Job",
    "JobContext",
    "Loss",
    "NonRetryableError",
    "NotFoundError",
    "Page",
    "Progress",
    "Registry",
    "RetryableError",
    "Runner",
    "Snooze",
    "Standing",
    "Started",
    "Status",
    "StepExecution",
    "Submit",
    "UnavailableError",
    "WaitTimeoutError",
    "connect",
]

__version__ = "0.1.0"
