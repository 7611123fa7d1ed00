"""Runs named scenarios one after the other and prints one line for each: `ok NAME`, or `FAIL NAME: why`."""

import asyncio
import inspect
import json
import os
import pathlib
import sys
import time
import traceback
import urllib.request

FIXTURES = pathlib.Path(os.environ.get("CAUDAL_FIXTURES", pathlib.Path(__file__).parent.parent / "fixtures"))
REST = os.environ.get("CAMUNDA_REST_ADDRESS", "http://127.0.0.1:8080")
SCENARIO_SECONDS_MAX = 30

_scenarios = []


def scenario(name):
    """Marks a function, plain or async, as a scenario. They run in the order in which they are written."""

    def mark(function):
        _scenarios.append((name, function))
        return function

    return mark


def fixture(name):
    return str(FIXTURES / name)


def equal(actual, expected, what):
    if actual != expected:
        raise AssertionError(f"{what}: expected {expected!r}, got {actual!r}")


def only(items, what):
    """The one item there should be."""
    items = list(items)
    equal(len(items), 1, f"number of {what}")
    return items[0]


async def until(condition, what):
    """Waits until the condition gives something true, and returns it."""
    deadline = time.monotonic() + SCENARIO_SECONDS_MAX - 5
    while time.monotonic() < deadline:
        found = condition()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(0.02)
    raise AssertionError(f"did not come to pass: {what}")


def search(kind, **filters):
    """A search over plain REST, for clients that cannot search: what a command's answer told is there at once."""
    body = json.dumps({"filter": filters}).encode()
    request = urllib.request.Request(f"{REST}/v2/{kind}/search", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)["items"]


async def _run(context):
    failures = 0
    for name, function in _scenarios:
        began = time.monotonic()
        try:
            await asyncio.wait_for(function(context), SCENARIO_SECONDS_MAX)
            print(f"ok {name} ({time.monotonic() - began:.2f} s)")
        except Exception as error:  # noqa: BLE001 - every failure is reported, and the next scenario runs
            failures += 1
            print(f"FAIL {name}: {type(error).__name__}: {error}")
            traceback.print_exc()
    return failures


async def run_all(context):
    """Runs every scenario and leaves with their verdict."""
    failures = await _run(context)
    sys.stdout.flush()
    sys.exit(1 if failures else 0)
