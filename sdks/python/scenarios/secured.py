"""A server that speaks TLS, with a certificate of an authority that the world does not know."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any

import grpc

from caudal import Client, EngineClient, Registry, Runner, Status, UnavailableError
from caudal.grpc_engine import GrpcEngine
from caudal.rest import RestEngine
from scenarios.world import TRANSPORT, WITHIN, equal, scenario, start_work


def _engine(authority: str, context: ssl.SSLContext) -> EngineClient:
    if TRANSPORT == "rest":
        return RestEngine(os.environ["CAUDAL_TLS_REST"], ssl_context=context, token="t")
    credentials = grpc.ssl_channel_credentials(Path(authority).read_bytes())
    return GrpcEngine(os.environ["CAUDAL_TLS_GRPC"], credentials=credentials, token="t")


@scenario("tls")
def tls() -> None:
    rest, authority = os.environ["CAUDAL_TLS_REST"], os.environ["CAUDAL_TLS_CA"]
    context = ssl.create_default_context(cafile=authority)
    registry = Registry()

    @registry.handler("work")
    def work(variables: dict[str, Any]) -> dict[str, Any]:
        return {"by": "tls"}

    client = Client(rest, ssl_context=context, token="t", headers={"X-Api-Key": "k"})
    engine = _engine(authority, context)
    with Runner(registry, engine, poll_wait=5.0, grace=5.0):
        instance = client.wait(start_work(client), WITHIN)
    engine.close()
    equal((instance.status, instance.variables["by"]), (Status.COMPLETED, "tls"))
    try:
        Client(rest, patience=0.0).definitions()
    except UnavailableError as error:
        assert "CERTIFICATE_VERIFY_FAILED" in str(error), error
    else:
        raise AssertionError("a stranger was trusted")
