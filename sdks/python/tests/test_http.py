"""Requests against a server that answers what it is told to."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from caudal import CaudalError, Client, NotFoundError, UnavailableError
from caudal.backoff import Backoff

STARTED = b'{"processInstanceKey":"1","processDefinitionId":"a","processDefinitionVersion":1}'


@contextmanager
def answering(*answers: tuple[int, bytes]) -> Iterator[tuple[str, list[str | None]]]:
    """Its address, and the idempotency keys it was sent."""
    left, keys = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            keys.append(self.headers["Idempotency-Key"])
            status, body = left.pop(0)
            if status == 0:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", keys
    finally:
        server.shutdown()
        server.server_close()


class Requests(unittest.TestCase):
    def test_a_start_is_repeated_with_its_key(self) -> None:
        with answering((0, b""), (504, b"{}"), (201, STARTED)) as (address, keys), Client(address) as client:
            self.assertEqual(client.start("a").id, "1")
        self.assertEqual(len(keys), 3)
        self.assertEqual(len(set(keys)), 1)

    def test_a_start_that_was_refused_gets_another_key(self) -> None:
        with answering((429, b"{}"), (201, STARTED)) as (address, keys), Client(address) as client:
            client.start("a")
        self.assertEqual(len(set(keys)), 2)

    def test_an_upload_without_an_answer_is_not_repeated(self) -> None:
        with (
            answering((0, b""), (201, b"{}")) as (address, keys),
            Client(address) as client,
            self.assertRaisesRegex(CaudalError, "not known"),
        ):
            client.deploy({"id": "a"})
        self.assertEqual(len(keys), 1)

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
