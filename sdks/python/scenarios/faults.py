"""What workers survive."""

from __future__ import annotations

import signal
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

from caudal import BpmnError, ExecutionState, JobContext, Loss, Registry, Snooze, Status
from scenarios.worker import Process
from scenarios.world import FOLDER, TRANSPORT, WITHIN, Server, equal, metric, runner, scenario, start_work, until

REFUSED = 'caudal_commands_total{kind="submit",outcome="rejected"}'
POLLED = "job_poll_latency_seconds_count"
# Neither ends by itself while a scenario is played, nor is it extended.
LONG = 600


@scenario("long handler")
def long_handler() -> None:
    registry, calls = Registry(), []

    @registry.handler("work")
    def work(context: JobContext) -> dict[str, Any]:
        calls.append(context.job.id)
        return {"lost": context.wait_lost(6.5)}

    # Two runners: a job whose lease ended would go to the other.
    with (
        Server() as server,
        server.client() as client,
        runner(server, registry, lease=5),
        runner(server, registry, lease=5),
    ):
        instance = client.wait(start_work(client), WITHIN)
    equal((instance.variables, len(calls)), ({"lost": False}, 1))


def lose(take_away: Callable[[Server, str], None], after: Callable[[Any, str], None]) -> Loss | None:
    """Runs a handler, takes its job away, and waits until it knows."""
    registry, begun, losses = Registry(), threading.Event(), []

    @registry.handler("work")
    def work(context: JobContext) -> dict[str, Any]:
        begun.set()
        context.wait_lost(WITHIN)
        losses.append(context.loss)
        return {"by": "loser"}

    with Server() as server, server.client() as client:
        with runner(server, registry, lease=5, max_parallel=1):
            instance = start_work(client)
            assert begun.wait(WITHIN)
            take_away(server, instance)
            until(lambda: losses, "the handler is told")
        after(client, instance)
    return losses[0]


@scenario("lost lease")
def lost_lease() -> None:
    def take_away(server: Server, instance: str) -> None:
        registry, taken = Registry(), threading.Event()

        @registry.handler("work")
        def work(_: JobContext) -> dict[str, Any]:
            taken.set()
            return {"by": "winner"}

        def move() -> bool:
            # The loser may extend its lease just as the clock moves.
            if not taken.is_set():
                server.advance(timedelta(seconds=30))
            return taken.is_set()

        with runner(server, registry, group="winner", lease=LONG), server.client() as client:
            until(move, "the winner has the job")
            client.wait(instance, WITHIN)

    def after(client: Any, instance: str) -> None:
        equal(client.instance(instance).variables, {"by": "winner"})

    equal(lose(take_away, after), Loss.LEASE_LOST)


def gated(job_type: str, end: Callable[[], Any]) -> tuple[Registry, threading.Event, threading.Event]:
    """A handler that begins, and ends as told when it may, whatever it hears meanwhile."""
    registry, begun, gate = Registry(), threading.Event(), threading.Event()

    @registry.handler(job_type)
    def work(context: JobContext) -> Any:
        begun.set()
        assert gate.wait(WITHIN)
        return end()

    return registry, begun, gate


@scenario("lost lease and a BPMN error")
def lost_lease_and_a_bpmn_error() -> None:
    def decline() -> None:
        raise BpmnError("DECLINED", "the card was declined")

    losing, lost, too_late = gated("charge-card", decline)
    winning, taken, paid = gated("charge-card", lambda: {"by": "winner"})
    with Server() as server, server.client() as client:
        client.deploy(FOLDER / "charge.bpmn")
        # It hears nothing of the loss before it throws.
        with runner(server, losing, lease=LONG, max_parallel=1, grace=WITHIN) as loser:
            instance = client.start("charge", {"customer": "ann"}).id
            assert lost.wait(WITHIN)
            server.advance(timedelta(seconds=LONG + 1))
            with runner(server, winning, group="winner", lease=LONG, grace=WITHIN):
                assert taken.wait(WITHIN)
                too_late.set()
                # It is stopped when the server has answered.
                loser.stop()
                paid.set()
                done = client.wait(instance, WITHIN)
        steps = [one.step_id for one in client.history(instance)]
    equal((done.status, done.variables.get("by")), (Status.COMPLETED, "winner"))
    equal(("paid" in steps, "settled" in steps), (True, False))


@scenario("cancelled job")
def cancelled_job() -> None:
    def take_away(server: Server, instance: str) -> None:
        with server.client() as client:
            client.cancel(instance)

    def after(client: Any, instance: str) -> None:
        equal(client.instance(instance).variables, {})

    equal(lose(take_away, after), Loss.CANCELLED)


@scenario("progress")
def progress() -> None:
    registry, seen = Registry(), []

    @registry.handler("work")
    def work(context: JobContext) -> None:
        seen.append(context.job.progress and (context.job.progress.percent, context.job.progress.data["page"]))
        if len(seen) == 1:
            context.progress(40, "page 4 of 10", {"page": 4})
            raise RuntimeError("the printer is out of paper")

    with Server() as server, server.client() as client, runner(server, registry):
        equal(client.wait(start_work(client), WITHIN).status, Status.COMPLETED)
    equal(seen, [None, (40, 4)])


@scenario("worker killed")
def worker_killed() -> None:
    registry = Registry()
    registry.register("work", lambda context: {"by": "other"})
    with Server() as server, server.client() as client, tempfile.TemporaryDirectory() as folder:
        instance = start_work(client)
        worker = Process(server, Path(folder))
        worker.wait_said("begun", 1)
        worker.process.kill()
        worker.process.wait()
        server.advance(timedelta(seconds=61))
        with runner(server, registry):
            equal(client.wait(instance, WITHIN).variables, {"by": "other"})


@scenario("server restarted")
def server_restarted() -> None:
    registry, begun, gate = Registry(), threading.Event(), threading.Event()

    @registry.handler("work")
    def work(context: JobContext) -> dict[str, Any]:
        begun.set()
        assert gate.wait(WITHIN)
        return {"done": True}

    with (
        tempfile.TemporaryDirectory() as folder,
        Server(store=f"sqlite:{folder}") as server,
        server.client() as client,
        runner(server, registry),
    ):
        instance = start_work(client)
        assert begun.wait(WITHIN)
        server.kill()
        # Its end is reported to nobody at first.
        gate.set()
        server.start()
        done = client.wait(instance, WITHIN)
        equal((done.status, done.variables), (Status.COMPLETED, {"done": True}))
        equal([one.attempt_number for one in client.history(instance) if one.step_id == "do"], [1])
        equal(client.start_and_wait("work", timeout=WITHIN).status, Status.COMPLETED)


@scenario("drain")
def drain() -> None:
    with Server() as server, server.client() as client, tempfile.TemporaryDirectory() as folder:
        executions = [client.submit("work") for _ in range(3)]
        worker = Process(server, Path(folder))
        worker.wait_said("begun", 2)
        worker.process.send_signal(signal.SIGTERM)
        worker.wait_said("stopping", 1)
        worker.gate.touch()
        equal(worker.process.wait(WITHIN), 0)
        states = [client.execution(execution).state for execution in executions]
    # What was announced on Kafka, and heard by nobody, counts as running.
    left = ExecutionState.RUNNING if TRANSPORT == "kafka" else ExecutionState.WAITING
    equal(sorted(states, key=lambda state: state.value), [ExecutionState.COMPLETED, ExecutionState.COMPLETED, left])


@scenario("grace runs out")
def grace_runs_out() -> None:
    registry, other, begun, told, never = (
        Registry(),
        Registry(),
        threading.Event(),
        threading.Event(),
        threading.Event(),
    )

    @registry.handler("work")
    def work(context: JobContext) -> None:
        begun.set()
        if context.wait_lost(WITHIN) and context.loss is Loss.SHUTDOWN:
            told.set()
        never.wait()

    other.register("work", lambda context: {"by": "other"})
    with Server() as server, server.client() as client:
        # The lease would outlast the scenario: it is given back, not over.
        with runner(server, registry, lease=LONG, grace=0.1):
            instance = start_work(client)
            assert begun.wait(WITHIN)
        assert told.wait(WITHIN)
        with runner(server, other):
            equal(client.wait(instance, WITHIN).variables, {"by": "other"})


@scenario("too large a result")
def too_large_a_result() -> None:
    registry, calls = Registry(), []

    @registry.handler("work")
    def work(variables: dict[str, int]) -> dict[str, str]:
        calls.append(variables)
        return {"text": "x" * variables["length"]}

    with Server() as server, server.client() as client, runner(server, registry, max_parallel=1):
        large = client.wait(start_work(client, {"length": 20_000_000}), WITHIN)
        small = client.wait(client.start("work", {"length": 1}).id, WITHIN)
    equal((large.status, small.status, len(calls)), (Status.FAILED, Status.COMPLETED, 2))
    reason = large.failure_reason or ""
    assert "the result was refused" in reason and ("longer than" in reason or "too large" in reason), reason


@scenario("refused end")
def refused_end() -> None:
    registry, calls = Registry(), []

    @registry.handler("work")
    def work(context: JobContext) -> None:
        calls.append("work")
        raise Snooze(timedelta(days=3650))

    @registry.handler("charge-card")
    def charge(context: JobContext) -> None:
        calls.append("charge-card")
        raise BpmnError("", "the card was declined")

    with Server() as server, server.client() as client, runner(server, registry):
        client.deploy(FOLDER / "charge.bpmn")
        snoozed = client.wait(start_work(client), WITHIN)
        thrown = client.start_and_wait("charge", {"customer": "ann"}, timeout=WITHIN)
    for instance, words in ((snoozed, "the snooze was refused"), (thrown, "the BPMN error was refused")):
        equal(instance.status, Status.FAILED)
        assert words in (instance.failure_reason or ""), instance.failure_reason
    equal(calls, ["work", "charge-card"])


@scenario("overload")
def overload() -> None:
    registry, others = Registry(), Registry()
    registry.register("work", lambda context: {})
    others.register("other", lambda context: {})
    policy = {"scope": "ACTION", "action": "work", "queue": {"maxLength": 2}}
    # One poll may wait at a time: the others hear 503.
    with (
        Server(arguments=("--limits-polls-parked", "1")) as server,
        server.client() as client,
        ThreadPoolExecutor(1) as pool,
    ):
        client._http.call("PUT", "/v1/policies/short", policy)
        submitted = pool.submit(lambda: [client.submit("work") for _ in range(30)])
        until(lambda: metric(server, REFUSED), "the third is refused: nobody takes them")
        waiting = [runner(server, others, poll_wait=30) for _ in range(2)]
        for one in waiting:
            one.start()
        until(lambda: metric(server, POLLED), "a poll comes to its end without a job: it is refused")
        with runner(server, registry):
            for one in waiting:
                one.stop()
            for execution in submitted.result(WITHIN):
                equal(client.wait_execution(execution, WITHIN).state, ExecutionState.COMPLETED)
