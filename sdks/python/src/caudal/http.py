"""JSON over HTTP with the standard library: kept connections, TLS, errors by what to do about them."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from caudal.address import DEFAULT_ADDRESS, parse, sent_along
from caudal.engine import Interrupt
from caudal.errors import ApiError, ConflictError, NotFoundError, UnavailableError


class Http:
    """A server by its address. Threads may share it: each request has a connection of its own meanwhile."""

    def __init__(
        self,
        address: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        ssl_context: ssl.SSLContext | None = None,
        timeout: float = 30.0,
    ) -> None:
        parts = parse(address or DEFAULT_ADDRESS, ("http", "https"))
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname or "", parts.port
        self._prefix = parts.path.rstrip("/")
        self._ssl = ssl_context
        self._timeout = timeout
        self._headers = sent_along(token, headers)
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        content: tuple[str, bytes] | None = None,
        timeout: float | None = None,
        interrupt: Interrupt | None = None,
    ) -> Any:
        """The JSON of the answer. ``content`` is a body of another type than JSON."""
        kind, data = content or ("application/json", None if body is None else _json(body))
        sent = {"Content-Type": kind, "Accept": "application/json", **self._headers, **(headers or {})}
        connection = self._take()
        try:
            self._prepare(connection, timeout or self._timeout)
            with (interrupt or Interrupt()).ending(lambda: _shut(connection)):
                is_sent = _send(connection, method, self._prefix + path, data, sent)
                answer = connection.getresponse()
                text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise UnavailableError(f"{method} {path}: {error or type(error).__name__}") from error
        if is_sent:
            with self._lock:
                self._idle.append(connection)
        else:
            connection.close()
        if not 200 <= answer.status < 300:
            raise _refusal(answer.status, text, answer.headers.get("Retry-After"))
        try:
            return json.loads(text) if text else None
        except ValueError as error:
            raise UnavailableError(f"{method} {path}: the answer is no JSON, so it is another's: {error}") from error

    def close(self) -> None:
        """Close kept connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> http.client.HTTPConnection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        if self._secure:
            return http.client.HTTPSConnection(self._host, self._port, context=self._ssl)
        return http.client.HTTPConnection(self._host, self._port)

    def _prepare(self, connection: http.client.HTTPConnection, timeout: float) -> None:
        """Connects anew where the server has closed a kept connection: then nothing was sent on it."""
        connection.timeout = timeout
        if connection.sock is not None and _is_closed(connection.sock):
            connection.close()
        if connection.sock is None:
            connection.connect()
        else:
            connection.sock.settimeout(timeout)


def parse_time(text: str | None) -> datetime | None:
    """A time as the server writes it."""
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


def _json(body: object) -> bytes:
    # What is no number in JSON would be refused: it is said here what it was.
    return json.dumps(body, allow_nan=False).encode()


def _send(
    connection: http.client.HTTPConnection, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
) -> bool:
    """Whether all was sent. A server that finds it too large answers, and does not read the rest."""
    try:
        connection.request(method, path, data, headers)
    except (ConnectionError, ssl.SSLEOFError):
        return False
    return True


def _shut(connection: http.client.HTTPConnection) -> None:
    # The other side may have closed it already.
    with contextlib.suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def _is_closed(sock: socket.socket) -> bool:
    try:
        sock.settimeout(0)
        # Nothing was asked on it: what can be read is the end, or something that does not belong there.
        sock.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True
    return True


def _refusal(status: int, text: bytes, retry_after: str | None) -> Exception:
    try:
        body = json.loads(text)
    except ValueError:
        body = {}
    body = body if isinstance(body, dict) else {}
    code = str(body.get("error") or body.get("title") or "")
    message = str(body.get("message") or body.get("detail") or text.decode(errors="replace"))
    # 501 says that it cannot do this, ever.
    if status in (408, 429) or (status >= 500 and status != 501):
        after = float(retry_after) if retry_after and retry_after.isdigit() else None
        return UnavailableError(f"{message} ({code}, {status})", after)
    kind = {404: NotFoundError, 409: ConflictError}.get(status, ApiError)
    return kind(status, code, message)
