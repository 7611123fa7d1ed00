"""Handlers by job type."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from caudal.context import JobContext
from caudal.typed import decode

Function = TypeVar("Function", bound=Callable[..., Any])


class Handler:
    """A function, and what its parameters ask for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.is_async = inspect.iscoroutinefunction(function)
        hints = typing.get_type_hints(function)
        self._parameters: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f"{function.__name__}: *{name} says nothing about what a handler needs")
            self._parameters[name] = hints.get(name, JobContext)
        if not 0 < len(self._parameters) <= 2:
            raise TypeError(f"{function.__name__} must take the variables, the JobContext, or both")

    def call(self, context: JobContext) -> Any | Awaitable[Any]:
        """Its result, or a coroutine that gives it."""
        arguments = {
            name: context if kind is JobContext else decode(kind, context.variables)
            for name, kind in self._parameters.items()
        }
        return self._function(**arguments)


class Registry:
    """Handlers by job type. A runner takes one.

    A handler has a parameter for its variables, annotated with their type, or one for the :class:`JobContext`
    (annotated so, or not at all), or both, in any order. It may be ``async``. What it returns is merged into the
    variables of the instance.
    """

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}

    def handler(self, job_type: str) -> Callable[[Function], Function]:
        """Decorate a function with the type of the jobs it does."""

        def register(function: Function) -> Function:
            self.register(job_type, function)
            return function

        return register

    def register(self, job_type: str, function: Callable[..., Any]) -> None:
        """The same without a decorator."""
        if job_type in self._handlers:
            raise ValueError(f"there is a handler for '{job_type}' already")
        self._handlers[job_type] = Handler(function)

    def find(self, job_type: str) -> Handler:
        """The handler of a job type."""
        return self._handlers[job_type]

    @property
    def job_types(self) -> list[str]:
        """The types there are handlers for."""
        return list(self._handlers)
