"""What workers do every day."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

from opentelemetry import trace

from caudal import (
    BpmnError,
    ConflictError,
    ExecutionState,
    JobContext,
    NonRetryableError,
    Registry,
    Snooze,
    Status,
    Submit,
)
from scenarios.world import (
    FOLDER,
    WITHIN,
    Server,
    document,
    equal,
    runner,
    scenario,
    spans,
    start_work,
    until,
)


@scenario("happy path")
def happy_path() -> None:
    registry = Registry()

    @registry.handler("work")
    def work(variables: dict[str, Any], context: JobContext) -> dict[str, Any]:
        equal(context.job.step_id, "do")
        return {"sum": variables["a"] + variables["b"]}

    with Server() as server, server.client() as client, runner(server, registry):
        instance = client.wait(start_work(client, {"a": 1, "b": 2}), WITHIN)
    equal(instance.status, Status.COMPLETED)
    equal(instance.variables, {"a": 1, "b": 2, "sum": 3})


@dataclass
class Line:
    article: str
    count: int


@dataclass
class Order:
    customer: str
    placed: datetime
    lines: list[Line]
    note: str | None = None


@dataclass
class Bill:
    pieces: int
    lines: list[Line] = field(default_factory=list)


@scenario("typed variables")
def typed_variables() -> None:
    registry = Registry()
    placed = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)

    @registry.handler("work")
    async def work(order: Order) -> Bill:
        equal((order.placed, order.note), (placed, None))
        return Bill(sum(line.count for line in order.lines), order.lines)

    lines = [{"article": "pen", "count": 2}, {"article": "ink", "count": 3}]
    with Server() as server, server.client() as client, runner(server, registry):
        good = client.wait(start_work(client, Order("ann", placed, [Line("pen", 2), Line("ink", 3)])), WITHIN)
        bad = client.wait(client.start("work", {"customer": "bob", "placed": 5, "lines": []}).id, WITHIN)
    equal((good.variables["pieces"], good.variables["lines"]), (5, lines))
    equal(bad.status, Status.FAILED)
    assert "variables.placed" in (bad.failure_reason or ""), bad.failure_reason


@scenario("retries")
def retries() -> None:
    registry, left = Registry(), []

    @registry.handler("work")
    def work(context: JobContext) -> None:
        left.append(context.job.retries_remaining)
        if len(left) < 3:
            raise RuntimeError("the bureau is closed")

    with Server() as server, server.client() as client, runner(server, registry):
        instance = client.wait(start_work(client), WITHIN)
        attempts = [(one.attempt_number, one.status) for one in client.history(instance.id) if one.step_id == "do"]
    equal(left, [3, 2, 1])
    equal(attempts, [(1, "FAILED"), (2, "FAILED"), (3, "COMPLETED")])


@scenario("non-retryable")
def non_retryable() -> None:
    registry = Registry()

    @registry.handler("work")
    def work(context: JobContext) -> None:
        raise NonRetryableError("no such account")

    with Server() as server, server.client() as client, runner(server, registry):
        instance = client.wait(start_work(client), WITHIN)
    equal(instance.status, Status.FAILED)
    equal(instance.failure_reason, "NotRetryable: step 'do': no such account")


@scenario("parallelism")
def parallelism() -> None:
    registry, lock = Registry(), threading.Lock()
    now, most, full = 0, 0, threading.Event()

    @registry.handler("work")
    def work(context: JobContext) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
            if now == 3:
                full.set()
        assert full.wait(WITHIN)
        with lock:
            now -= 1

    with Server() as server, server.client() as client, runner(server, registry, max_parallel=3):
        for execution in client.submit_all("work", [Submit({})] * 12):
            equal(client.wait_execution(execution, WITHIN).state, ExecutionState.COMPLETED)
    equal(most, 3)


@scenario("snooze")
def snooze() -> None:
    registry, left = Registry(), []

    @registry.handler("work")
    def work(context: JobContext) -> None:
        left.append(context.job.retries_remaining)
        if len(left) == 1:
            raise Snooze(timedelta(hours=1))

    with Server() as server, server.client() as client, runner(server, registry):
        execution = client.submit("work")
        until(lambda: len(left) == 1, "the handler is called")
        until(lambda: client.execution(execution).state is ExecutionState.WAITING, "it is put off")
        server.advance(timedelta(minutes=59))
        equal(client.execution(execution).state, ExecutionState.WAITING)
        server.advance(timedelta(minutes=2))
        equal(client.wait_execution(execution, WITHIN).state, ExecutionState.COMPLETED)
    equal(left, [2, 2])


@scenario("large variables")
def large_variables() -> None:
    registry, text = Registry(), "x" * 3_000_000

    @registry.handler("work")
    def work(context: JobContext) -> dict[str, Any]:
        return {"text": None, "copy": context.variables["text"]}

    with Server() as server, server.client() as client, runner(server, registry):
        instance = client.wait(start_work(client, {"text": text}), WITHIN)
    assert instance.variables["copy"] == text, len(instance.variables["copy"])


@scenario("unicode")
def unicode_texts() -> None:
    echo("unicode.json")


@scenario("numbers beyond 2^53")
def numbers() -> None:
    echo("numbers.json")


def echo(name: str) -> None:
    registry, given = Registry(), document(name)

    @registry.handler("work")
    def work(variables: dict[str, Any]) -> dict[str, Any]:
        equal(variables, given)
        return {"copy": variables}

    with Server() as server, server.client() as client, runner(server, registry):
        instance = client.wait(start_work(client, given), WITHIN)
    equal(instance.failure_reason, None)
    equal(instance.variables, {**given, "copy": given})


@scenario("bpmn")
def bpmn() -> None:
    registry = Registry()

    @registry.handler("charge-card")
    def charge(context: JobContext) -> None:
        raise BpmnError("DECLINED", "the card was declined", {"reason": "limit"})

    with Server() as server, server.client() as client, runner(server, registry):
        equal([one.id for one in client.deploy(FOLDER / "charge.bpmn")], ["charge"])
        client.publish("customer-called", "ann", {"settled": True})
        instance = client.start_and_wait("charge", {"customer": "ann"}, timeout=WITHIN)
        steps = [one.step_id for one in client.history(instance.id)]
    equal(instance.status, Status.COMPLETED)
    equal((instance.variables.get("settled"), "settled" in steps, "paid" in steps), (True, True, False))


@scenario("people and signals")
def people_and_signals() -> None:
    with Server() as server, server.client() as client:
        equal([one.version for one in client.deploy(FOLDER / "talk.json", FOLDER / "talk.json")], [1, 2])
        instance = client.start("talk", business_key="b-1").id
        equal(client.instance(instance).current_step_ids, ["review"])
        try:
            client.signal(instance, "paid", {"sum": 1})
            raise AssertionError("a signal that comes too early was accepted")
        except ConflictError:
            client.signal(instance, "paid", {"sum": 2}, buffer=True)
        client.complete_user_task(instance, "review", {"approved": True}, completed_by="anna")
        done = client.wait(instance, WITHIN)
        equal(done.variables, {"approved": True, "sum": 2})
        equal(client.cancel(client.start("talk").id).status, Status.CANCELLED)
        equal([one.id for one in client.instances(business_key="b-1").items], [instance])
        equal(client.instances(definition_id="talk", status=Status.CANCELLED).total, 1)
        equal([one.id for one in client.definitions("talk").items], ["talk"])
        equal(client.definition("talk")["steps"], document("talk.json")["steps"])
        equal([one.step_id for one in client.history(instance)], ["review", "paid", "end"])
        client.deploy(FOLDER / "approval.bpmn")
        process = client.start("approval").id
        client.complete_user_task(process, "approve", {"approved": True}, completed_by="anna")
        equal(client.wait(process, WITHIN).variables, {"approved": True})


@scenario("start once")
def start_once() -> None:
    registry = Registry()

    @registry.handler("work")
    def work(context: JobContext) -> dict[str, Any]:
        return {"result": 7}

    with Server() as server, server.client() as client, runner(server, registry):
        client.deploy(FOLDER / "work.json")
        first, again = (client.start("work", {"n": 1}, idempotency_key="order-1") for _ in range(2))
        equal(again, first)
        equal(client.start_and_wait("work", idempotency_key="order-2", timeout=WITHIN).variables["result"], 7)
        equal(client.instances(definition_id="work").total, 2)


@scenario("executions")
def executions() -> None:
    registry = Registry()

    @registry.handler("work")
    async def work(variables: dict[str, int]) -> dict[str, int]:
        return {"square": variables["n"] ** 2}

    with Server() as server, server.client() as client, runner(server, registry):
        ids = client.submit_all("work", (Submit({"n": n}) for n in range(100)), idempotency_key="k")
        equal(client.submit_all("work", (Submit({"n": n}) for n in range(100)), idempotency_key="k"), ids)
        results = [client.wait_execution(execution, WITHIN).result for execution in ids]
    equal(results, [{"square": n**2} for n in range(100)])


@scenario("trace")
def trace_context() -> None:
    registry, seen = Registry(), []

    @registry.handler("work")
    async def work(context: JobContext) -> None:
        seen.append(trace.get_current_span().get_span_context().span_id)

    finished = spans()
    with Server() as server, server.client() as client, runner(server, registry):
        with trace.get_tracer("scenarios").start_as_current_span("order") as order:
            instance = start_work(client)
            execution = client.submit("work")
        client.wait(instance, WITHIN)
        client.wait_execution(execution, WITHIN)
    above = order.get_span_context()
    below = [span for span in finished() if span.parent is not None and span.parent.span_id == above.span_id]
    equal([(span.name, span.context.trace_id) for span in below], [("process work", above.trace_id)] * 2)
    equal(sorted(span.context.span_id for span in below), sorted(seen))
