"""What scenarios share: the list of them, the server, the transport, waiting for conditions."""

from __future__ import annotations

import itertools
import json
import os
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from caudal import Client, Registry, Runner
from caudal.testing import Server as RealServer

FOLDER = Path(os.environ.get("CAUDAL_SCENARIOS") or Path(__file__).parents[2] / "scenarios")
TRANSPORT = os.environ.get("CAUDAL_TRANSPORT", "rest")
BROKER = os.environ.get("CAUDAL_KAFKA", "")
WITHIN = 150.0
NUMBERS = itertools.count(1)

SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(name: str) -> Callable[[Callable[[], None]], None]:
    """Registers a scenario, if it is for this transport."""

    def register(function: Callable[[], None]) -> None:
        if any(one["name"] == name and TRANSPORT in one["transports"] for one in document("scenarios.json")):
            SCENARIOS[name] = function

    return register


def document(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


class Server(RealServer):
    """One that announces jobs on topics of its own, if they are to go over Kafka."""

    def __init__(self, *, arguments: tuple[str, ...] = (), **options: Any) -> None:
        self.prefix = f"python-{next(NUMBERS)}."
        if TRANSPORT == "kafka":
            arguments += ("--dispatch", "kafka_outbox", "--kafka-brokers", BROKER, "--kafka-topic-prefix", self.prefix)
        super().__init__(arguments=arguments, **options)

    def __enter__(self) -> Server:
        super().__enter__()
        return self


def address(server: Server, group: str = "") -> str:
    """Where workers find the server. Over Kafka those of another group hear of the same jobs."""
    kafka = {"engine": server.rest, "group": server.prefix + group, "topic_prefix": server.prefix}
    kafka["session.timeout.ms"] = "6000"
    return {"rest": server.rest, "grpc": server.grpc, "kafka": f"kafka://{BROKER}?{urlencode(kafka)}"}[TRANSPORT]


def runner(server: Server, registry: Registry, *, group: str = "", **options: Any) -> Runner:
    return Runner(registry, address(server, group), **{"poll_wait": 5.0, "grace": 5.0, **options})


def start_work(client: Client, variables: Any = None) -> str:
    """An instance of `work.json`, whose one job has the type `work`."""
    client.deploy(FOLDER / "work.json")
    return client.start("work", variables).id


def metric(server: Server, name: str) -> float:
    """What the server counts under a name; 0 if it has counted nothing yet."""
    with urllib.request.urlopen(f"{server.metrics}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} ")), 0.0)


def until(condition: Callable[[], Any], what: str) -> Any:
    deadline = time.monotonic() + WITHIN
    while not (seen := condition()):
        if deadline < time.monotonic():
            raise AssertionError(f"not within {WITHIN:g} s: {what}")
        time.sleep(0.02)
    return seen


def equal(seen: Any, expected: Any) -> None:
    assert seen == expected, f"{seen!r} instead of {expected!r}"


def spans() -> Callable[[], Any]:
    """Collects the spans of this process from now on; those that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter.get_finished_spans
