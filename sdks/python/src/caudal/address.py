"""Where a server is, and what is sent along to be let in. What is secret there is in no error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, urlsplit

DEFAULT_ADDRESS = "http://127.0.0.1:8080"


def parse(address: str, schemes: tuple[str, ...]) -> SplitResult:
    """The parts of an address with one of these schemes; one that can never work is refused."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        raise ValueError(f"'{shown(address)}' is no address") from None
    if parts.scheme not in schemes:
        raise ValueError(f"'{shown(address)}' must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
    if parts.username is not None:
        raise ValueError(f"'{shown(address)}' has a user in it: give a token instead")
    if not parts.hostname or re.search(r"\s", parts.netloc) or port == 0 or parts.query or parts.fragment:
        raise ValueError(
            f"'{shown(address)}' must name a host, and no more than a port and a path: http://127.0.0.1:8080"
        )
    return parts


def shown(address: str) -> str:
    """An address for messages: without what may be a password or a token."""
    if not re.search(r"[@?#]", address):
        return address
    scheme = re.match(r"[a-z]+://", address)
    return f"{scheme.group() if scheme else ''}…"


def sent_along(token: str | None, headers: Mapping[str, str] | None) -> dict[str, str]:
    """The headers of every request. Libraries that find fault with one would show it."""
    sent = dict(headers or {})
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    for name, value in sent.items():
        if not re.fullmatch(r"[ -~]+", value):
            raise ValueError(f"the header {name} must have visible ASCII characters only")
    return sent
