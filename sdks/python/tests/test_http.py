"""Requests against a server that answers what it is told to."""

from __future__ import annotations

import json
import threading
import unittest
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from caudal import ApiError, Client, Interrupt, Job, NotFoundError, UnavailableError
from caudal.backoff import Backoff
from caudal.rest import RestEngine

JOB = Job("7", "work", {}, lease=3)
INSTANCE = {"id": "1", "definitionId": "a", "definitionVersion": 1, "status": "ACTIVE", "currentStepIds": []}
INSTANCE |= {"variables": {}, "startedAt": "2026-01-02T00:00:00Z", "completedAt": None}
INSTANCE |= {"failureReason": None, "businessKey": None}
STARTED = b'{"processInstanceKey":"1","processDefinitionId":"a","processDefinitionVersion":1}'


class Silent(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


Asked = list[tuple[str, str | None, bytes]]


@contextmanager
def answering(*answers: tuple[int, bytes]) -> Iterator[tuple[str, Asked]]:
    """Its address, and what it was asked: paths, idempotency keys, bodies. 0 is no answer."""
    left = list(answers)
    asked: Asked = []

    class Handler(Silent):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            asked.append((self.path, self.headers["Idempotency-Key"], body))
            status, text = left.pop(0)
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(text)

    with serving(Handler) as address:
        yield address, asked


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    # One who has left is no news.
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def ask(status: int, text: bytes) -> None:
    with answering((status, text)) as (address, _), Client(address, patience=0) as client:
        client.start("a")


class Requests(unittest.TestCase):
    def test_every_command_is_repeated_with_its_key(self) -> None:
        instance = json.dumps(INSTANCE).encode()
        commands: list[tuple[Callable[[Client], Any], bytes]] = [
            (lambda client: client.start("a"), STARTED),
            (lambda client: client.cancel("1"), instance),
            (lambda client: client.retry("1"), instance),
            (lambda client: client.complete_user_task("1", "s"), b""),
            (lambda client: client.signal("1", "s"), b""),
            (lambda client: client.publish("m"), b"{}"),
            (lambda client: client.broadcast_signal("s", {"a": 1}), b"{}"),
            (lambda client: client.submit("a"), b'{"executions": [{"id": "1"}]}'),
            (lambda client: client.cancel_execution("1"), b""),
            (lambda client: client.deploy({"id": "a"}), b'{"id": "a", "version": 1, "name": "A"}'),
            (lambda client: client.deploy(__file__), b'{"deployments": []}'),
        ]
        for command, answer in commands:
            with answering((0, b""), (429, b"{}"), (200, answer)) as (address, asked), Client(address) as client:
                command(client)
            self.assertEqual(len(asked), 3)
            [(path, key, _)] = set(asked)
            self.assertTrue(key, path)

    def test_a_signal_is_broadcast(self) -> None:
        with answering((200, b"{}")) as (address, asked), Client(address) as client:
            client.broadcast_signal("stocktaking", {"a": 1}, idempotency_key="k")
        body = b'{"signalName": "stocktaking", "variables": {"a": 1}}'
        self.assertEqual(asked, [("/v2/signals/broadcast", "k", body)])

    def test_what_may_work_later_and_what_never_will(self) -> None:
        for status in (408, 429, 500, 502, 503, 504, 507, 520, 599):
            with self.assertRaises(UnavailableError, msg=status):
                ask(status, b"")
        for status in (400, 401, 403, 404, 409, 410, 413, 422, 501):
            with self.assertRaises(ApiError, msg=status):
                ask(status, b"")
        # A page of somebody in between.
        with self.assertRaises(UnavailableError):
            ask(200, b"<html>")

    def test_what_is_too_large_is_a_refusal_though_it_is_not_read(self) -> None:
        class Full(Silent):
            def do_POST(self) -> None:
                self.send_response(413)
                self.end_headers()

        with serving(Full) as address, self.assertRaises(ApiError) as caught:
            RestEngine(address).complete("w", JOB, {"text": "x" * 30_000_000})
        self.assertEqual(caught.exception.status, 413)

    def test_what_is_no_json_is_not_sent(self) -> None:
        with answering() as (address, asked), self.assertRaises(ValueError):
            RestEngine(address).complete("w", JOB, {"a": float("nan")})
        self.assertEqual(asked, [])

    def test_an_error_says_whose_and_which_lease_it_is(self) -> None:
        with answering((204, b"")) as (address, asked):
            RestEngine(address).throw_error("w", JOB, "E", "no", {"a": 1})
        [(path, _, body)] = asked
        error = {"workerId": "w", "lease": 3, "errorCode": "E", "errorMessage": "no", "variables": {"a": 1}}
        self.assertEqual((path, json.loads(body)), ("/v1/jobs/7/error", error))

    def test_a_poll_ends_for_its_own_runner_only(self) -> None:
        both, gate = threading.Barrier(3), threading.Event()

        class Polls(Silent):
            def do_POST(self) -> None:
                both.wait(30)
                gate.wait(60)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"jobs": []}')

        with serving(Polls) as address, futures.ThreadPoolExecutor(2) as pool:
            engine, stopped, other = RestEngine(address), Interrupt(), Interrupt()
            polls = [pool.submit(engine.poll, "w", ["work"], 1, 60, 60, one) for one in (stopped, other)]
            both.wait(30)
            stopped.set()
            self.assertEqual(polls[0].result(30), [])
            self.assertEqual(engine.poll("w", ["work"], 1, 60, 60, stopped), [])
            self.assertFalse(polls[1].done())
            gate.set()
            self.assertEqual(polls[1].result(60), [])

    def test_refusals_have_the_servers_words(self) -> None:
        body = b'{"error": "NOT_FOUND", "message": "no such workflow", "reason": "no such workflow"}'
        with (
            answering((404, body)) as (address, _),
            Client(address) as client,
            self.assertRaises(NotFoundError) as caught,
        ):
            client.start("a")
        self.assertEqual((caught.exception.code, caught.exception.message), ("NOT_FOUND", "no such workflow"))

    def test_a_server_that_is_not_there(self) -> None:
        with self.assertRaises(UnavailableError):
            Client("http://127.0.0.1:9", patience=0).start("a")

    def test_waits_grow_and_keep_to_what_the_server_asks(self) -> None:
        backoff = Backoff(first=1, longest=4)
        bounds = [1, 2, 4, 4]
        for bound in bounds:
            self.assertTrue(bound / 2 <= backoff.next() <= bound)
        self.assertEqual(backoff.next(retry_after=9), 9)
        backoff.reset()
        self.assertTrue(backoff.next() <= 1)
