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
from urllib.parse import urlsplit

from caudal.errors import ApiError, ConflictError, NotFoundError, UnavailableError

BUSY = (429, 502, 503)
"""The request was not done, and may be sent again."""

NO_ANSWER = 504
"""Whether the request was or will be done is not known."""


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
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{address}' is no http:// or https:// address")
        self._secure = parts.scheme == "https"
        self._host, self._port = parts.hostname, parts.port
        self._prefix = parts.path.rstrip("/")
        self._ssl = ssl_context
        self._timeout = timeout
        self._headers = dict(headers or {})
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
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
        kind, data = content or ("application/json", None if body is None else json.dumps(body).encode())
        sent = {"Content-Type": kind, "Accept": "application/json", **self._headers, **(headers or {})}
        connection = self._take()
        try:
            self._prepare(connection, timeout or self._timeout)
        except OSError as error:
            raise UnavailableError(f"{method} {path}: {error}", is_refused=True) from error
        try:
            if interrupt is not None:
                interrupt.watch(connection)
            connection.request(method, self._prefix + path, data, sent)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise UnavailableError(f"{method} {path}: {error or type(error).__name__}") from error
        finally:
            if interrupt is not None:
                interrupt.forget()
        with self._lock:
            self._idle.append(connection)
        if 200 <= answer.status < 300:
            return json.loads(text) if text else None
        raise _refusal(answer.status, text, answer.headers.get("Retry-After"))

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


class Interrupt:
    """Ends a request from another thread by closing its connection, and keeps later ones from being sent."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self.is_set = False

    def watch(self, connection: http.client.HTTPConnection) -> None:
        """The connection that is waited on from now."""
        with self._lock:
            if self.is_set:
                raise OSError("interrupted")
            self._socket = connection.sock

    def forget(self) -> None:
        """It is waited on no more."""
        with self._lock:
            self._socket = None

    def set(self) -> None:
        """End it."""
        with self._lock:
            self.is_set = True
            if self._socket is not None:
                # The other side may have closed it already.
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)


def parse_time(text: str | None) -> datetime | None:
    """A time as the server writes it."""
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


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
    if status in BUSY or status == NO_ANSWER:
        after = float(retry_after) if retry_after and retry_after.isdigit() else None
        return UnavailableError(f"{message} ({code}, {status})", after, is_refused=status in BUSY)
    kind = {404: NotFoundError, 409: ConflictError}.get(status, ApiError)
    return kind(status, code, message)
