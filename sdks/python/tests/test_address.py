from __future__ import annotations

import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

from caudal import Client, Registry, Runner, connect
from caudal.address import DEFAULT_ADDRESS
from caudal.grpc_engine import GrpcEngine
from caudal.kafka_engine import KafkaEngine
from caudal.rest import RestEngine

SECRET = "hidden-word"


class Addresses(unittest.TestCase):
    def test_one_that_is_left_out(self) -> None:
        self.assertEqual(DEFAULT_ADDRESS, "http://127.0.0.1:8080")
        registry = Registry()
        registry.register("work", lambda context: None)
        Runner(registry)
        makers: tuple[Callable[[], Any], ...] = (Client, connect, lambda: Client(""), lambda: connect(""))
        for make in makers:
            with mock.patch("http.client.HTTPConnection", side_effect=ConnectionError) as connection:
                maker = make()
                with self.assertRaises(ConnectionError):
                    maker._http.call("GET", "/")
            connection.assert_called_once_with("127.0.0.1", 8080)

    def test_those_that_can_never_work_are_refused_at_once(self) -> None:
        for address in (
            "127.0.0.1:8080",
            "localhost",
            "ftp://host",
            "http://",
            "http://:8080",
            "http://a b:8080",
            "http://host:port",
            "http://host:0",
            "http://host:99999",
            "http://[::1",
            f"http://me:{SECRET}@host",
            f"http://me:{SECRET}/?#@host",
            f"me:{SECRET}@host",
            f"http://host?token={SECRET}",
            f"http://host:{SECRET}@x:8080",
            "grpc://",
            "grpc://host:1/path",
            f"grpc://me:{SECRET}@host:1",
            "kafka://?engine=http://server",
            "kafka://broker",
            f"kafka://broker?sasl.password={SECRET}",
            f"kafka://broker?engine=http://server&{SECRET}",
            f"kafka://me:{SECRET}@broker?engine=http://server",
            f"kafka://broker?engine=server&sasl.password={SECRET}",
        ):
            with self.assertRaises(ValueError, msg=address) as caught:
                connect(address)
            self.assertNotIn(SECRET, str(caught.exception))
            if not address.startswith(("grpc", "kafka")):
                with self.assertRaises(ValueError, msg=address):
                    Client(address)

    def test_secrets_are_in_no_error_and_no_text(self) -> None:
        makers: tuple[Callable[..., Any], ...] = (Client, RestEngine, connect)
        for make in makers:
            with self.assertRaises(ValueError) as caught:
                make("http://host", token=f"{SECRET}\n")
            self.assertNotIn(SECRET, str(caught.exception))
            self.assertNotIn(SECRET, repr(make("http://host", token=SECRET)))
        with self.assertRaises(ValueError) as caught:
            GrpcEngine("grpc://host:1", headers={"x-api-key": f"{SECRET}\n"})
        self.assertNotIn(SECRET, str(caught.exception))
        engine = GrpcEngine("grpc://host:1", token=SECRET)
        self.assertNotIn(SECRET, repr(engine))
        engine.close()
        with mock.patch("caudal.kafka_engine.Consumer"):
            kafka = KafkaEngine("broker", "http://server", token=SECRET, config={"sasl.password": SECRET})
        self.assertNotIn(SECRET, repr(kafka))
        with self.assertRaisesRegex(ValueError, "token"):
            KafkaEngine("broker", RestEngine("http://server"), token=SECRET)
