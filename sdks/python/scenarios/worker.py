"""A worker as a process of its own, for scenarios that kill or terminate it."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from pathlib import Path

from caudal import JobContext, Registry, Runner
from scenarios.world import Server, address, until


def main(engine: str, gate: str) -> None:
    """Handlers say `begun`, and return when the file `gate` is there."""
    logging.basicConfig(level=logging.INFO)
    registry = Registry()

    @registry.handler("work")
    def work(context: JobContext) -> dict[str, str]:
        print("begun", flush=True)
        while not Path(gate).exists():
            time.sleep(0.01)
        return {"by": "process"}

    Runner(registry, engine, max_parallel=2).run_until_signal()
    print("exit", flush=True)


def bench(engine: str, parallel: int) -> None:
    """Handlers do nothing, so many at once."""
    registry = Registry()
    registry.register("work", lambda context: None)
    Runner(registry, engine, max_parallel=parallel).run_until_signal()


class Process:
    def __init__(self, server: Server, folder: Path) -> None:
        self.gate = folder / "gate"
        self._output = folder / "output"
        with self._output.open("wb") as output:
            command = [sys.executable, "-m", "scenarios", "worker", address(server), str(self.gate)]
            self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)

    def wait_said(self, word: str, times: int) -> None:
        until(lambda: self._output.read_text().count(word) == times, f"it says {word} {times} times")
