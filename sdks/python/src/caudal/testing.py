"""For tests: a handler with a fake job, and a real server in the background."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from caudal import outcome
from caudal.client import Client
from caudal.context import JobContext
from caudal.engine import Job, Progress
from caudal.http import Http
from caudal.outcome import Outcome
from caudal.registry import Registry

BINARY_VARIABLE = "CAUDAL_BINARY"
READY_WITHIN = 30.0


class FakeContext(JobContext):
    """A context as a handler would get it; ``said`` has what it says of its progress."""

    def __init__(self, variables: Mapping[str, Any] | None = None, *, job_type: str = "test", **job: Any) -> None:
        self.said: list[Progress] = []
        super().__init__(Job(id="1", type=job_type, variables=dict(variables or {}), **job), self.said.append)


def run_job(registry: Registry, job_type: str, variables: Mapping[str, Any] | None = None, **job: Any) -> Outcome:
    """Run the handler of a job type as a runner would, without a server; what became of the job."""
    return outcome.run(registry.find(job_type), FakeContext(variables, job_type=job_type, **job))


class Server:
    """A real server on free ports of loopback, for the length of a ``with`` block. Its clock can be moved.

    :param binary: the program; without it ``$CAUDAL_BINARY``, then ``caudal`` on the path.
    :param store: ``memory:``, or ``sqlite:FOLDER`` for one that survives :meth:`restart`.
    """

    def __init__(self, binary: str | None = None, *, store: str = "memory:", arguments: tuple[str, ...] = ()) -> None:
        self._binary = binary or os.environ.get(BINARY_VARIABLE) or shutil.which("caudal") or "caudal"
        rest, grpc, metrics = (f"127.0.0.1:{port}" for port in _free_ports(3))
        self._arguments = ["--store", store, "--rest", rest, "--grpc", grpc, "--metrics", metrics]
        self._arguments += ["--test-clock", *arguments]
        self.rest = f"http://{rest}"
        self.grpc = f"grpc://{grpc}"
        self.metrics = f"http://{metrics}"
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="caudal-")

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._folder.cleanup()

    def client(self, **options: Any) -> Client:
        """A client of it."""
        return Client(self.rest, **options)

    def start(self) -> None:
        """Start it and wait until it is ready."""
        with Path(self._folder.name, "server.log").open("ab") as log:
            command = [self._binary, "serve", *self._arguments]
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._folder.name)
        deadline = time.monotonic() + READY_WITHIN
        while not self._is_ready():
            if self._process.poll() is not None or deadline < time.monotonic():
                raise RuntimeError(f"the server did not start:\n{Path(self._folder.name, 'server.log').read_text()}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop it, as an operator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a warning."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Kill it and start it again on the same ports and store."""
        self.kill()
        self.start()

    def advance(self, duration: timedelta) -> None:
        """Move its clock on: what falls due meanwhile happens."""
        self._clock("POST", "/v1/clock/advance", {"duration": f"PT{duration.total_seconds():.3f}S"})

    def pin(self, milliseconds: int) -> None:
        """Let its clock stand still at a time since 1970."""
        self._clock("PUT", "/v2/clock", {"timestamp": milliseconds})

    def _clock(self, method: str, path: str, body: Mapping[str, Any]) -> None:
        http = Http(self.rest)
        http.call(method, path, body)
        http.close()

    def _end(self, number: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait()
            self._process = None

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.metrics}/health/ready", timeout=1) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


# Below those that the system gives to outgoing connections: one of these could be taken at any moment.
# Each is tried once in a while only, so that servers that start at once get different ones.
_PORTS = range(10_000, 12_000)
_places = itertools.count(random.randrange(len(_PORTS)))


def _free_ports(count: int) -> list[int]:
    free = (port for port in (_PORTS[place % len(_PORTS)] for place in _places) if _is_free(port))
    return [next(free) for _ in range(count)]


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
