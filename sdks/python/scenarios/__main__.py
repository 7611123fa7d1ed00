"""The scenarios of ``sdks/scenarios`` with this package and a real server: prints ``ok NAME`` or ``FAIL NAME: why``."""

from __future__ import annotations

import os
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

from scenarios import everyday, faults, secured, worker
from scenarios.world import SCENARIOS

AT_ONCE = 4


def run(name: str) -> bool:
    try:
        SCENARIOS[name]()
    except BaseException as error:
        traceback.print_exc()
        say(f"FAIL {name}: {type(error).__name__}: {str(error)[:300]!r}")
        return False
    say(f"ok {name}")
    return True


def say(line: str) -> None:
    """In one write: several run at once, and ``print`` writes the end of a line apart."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    if sys.argv[1:2] == ["worker"]:
        worker.main(*sys.argv[2:])
        return 0
    if sys.argv[1:2] == ["bench"]:
        worker.bench(sys.argv[2], int(sys.argv[3]))
        return 0
    assert everyday and faults and secured
    names = sys.argv[1:] or list(SCENARIOS)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return 0 if all(list(pool.map(run, names))) else 1


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Handlers of the scenarios may still be waiting for what never comes.
    os._exit(code)
