"""What is heard on Kafka, and what becomes of it when the server knows better or is away."""

from __future__ import annotations

import unittest
from collections.abc import Sequence
from typing import Any
from unittest import mock

from caudal import Beat, Interrupt, Progress, Standing, UnavailableError, connect
from caudal.kafka_engine import KafkaEngine
from caudal.wire.dispatch_pb2 import JobDispatchEvent
from tests.test_runner import Engine


class Message:
    def __init__(self, job_id: str) -> None:
        event = JobDispatchEvent(
            job_id=job_id,
            job_type="work",
            step_id="do",
            retries_remaining=2,
            lease=3,
            job_payload=b'{"n": 9007199254740993}',
            progress=b'{"percent": 40}',
            trace_context=b'{"traceparent": "00-1"}',
        )
        self._value = event.SerializeToString()

    def error(self) -> None:
        return None

    def value(self) -> bytes:
        return self._value

    def topic(self) -> str:
        return "jobs.work"

    def offset(self) -> int:
        return 7


class Noise(Message):
    def value(self) -> bytes:
        return b"no announcement"


class Consumer:
    made: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, settings: dict[str, Any]) -> None:
        Consumer.made = settings
        self.messages = [Message("1"), Message("2"), Noise(""), Message("3")]
        self.topics: list[str] = []

    def subscribe(self, topics: list[str]) -> None:
        self.topics += topics

    def poll(self, _: float) -> Message | None:
        return self.messages.pop(0) if self.messages else None

    def consume(self, count: int, _: float) -> list[Message]:
        taken, self.messages = self.messages[:count], self.messages[count:]
        return taken

    def close(self) -> None: ...


class Server(Engine):
    """Knows that job 2 is over; is away as often as said."""

    def close(self) -> None: ...

    def __init__(self, away: int = 0) -> None:
        super().__init__()
        self.away = away

    def heartbeat(self, worker_id: str, lease: float, beats: Sequence[Beat]) -> list[Standing]:
        if self.away:
            self.away -= 1
            raise UnavailableError("away")
        return [Standing.COMPLETED if beat.job.id == "2" else Standing.HELD for beat in beats]


@mock.patch("caudal.kafka_engine.Consumer", Consumer)
class Kafka(unittest.TestCase):
    def test_jobs_that_are_over_are_passed_over(self) -> None:
        engine = KafkaEngine("broker", Server(), topic_prefix="jobs.")
        jobs = engine.poll("w", ["work"], 2, 60, 1)
        self.assertEqual([(job.id, job.retries_remaining, job.variables) for job in jobs], [("1", 2, {"n": 2**53 + 1})])
        self.assertEqual([(job.step_id, job.lease, job.progress) for job in jobs], [("do", 3, Progress(percent=40))])
        self.assertEqual([job.trace_context for job in jobs], [{"traceparent": "00-1"}])
        self.assertEqual([job.id for job in engine.poll("w", ["work"], 2, 60, 1)], ["3"])
        self.assertEqual(engine.poll("w", ["work"], 2, 60, 0.01), [])
        self.assertEqual(engine._consumer.topics, ["jobs.work"])  # type: ignore[attr-defined]

    def test_what_is_there_is_heard_without_waiting(self) -> None:
        engine = KafkaEngine("broker", Server())
        self.assertEqual([job.id for job in engine.poll("w", ["work"], 1, 60, 0)], ["1"])
        stopped = Interrupt()
        stopped.set()
        self.assertEqual(engine.poll("w", ["work"], 1, 60, 60, stopped), [])
        self.assertEqual([job.id for job in engine.poll("w", ["work"], 3, 60, 0, Interrupt())], ["3"])

    def test_no_more_than_asked_for_come_of_what_was_kept(self) -> None:
        engine = KafkaEngine("broker", Server(away=1))
        with self.assertRaises(UnavailableError):
            engine.poll("w", ["work"], 4, 60, 0)
        self.assertEqual([job.id for job in engine.poll("w", ["work"], 1, 60, 0)], ["1"])

    def test_what_was_heard_while_the_server_is_away_is_kept(self) -> None:
        engine = KafkaEngine("broker", Server(away=1))
        with self.assertRaises(UnavailableError):
            engine.poll("w", ["work"], 1, 60, 1)
        self.assertEqual([job.id for job in engine.poll("w", ["work"], 1, 60, 1)], ["1"])

    def test_what_was_heard_and_not_begun_is_given_back(self) -> None:
        server = Server(away=1)
        engine = KafkaEngine("broker", server)
        with self.assertRaises(UnavailableError):
            engine.poll("w", ["work"], 2, 60, 1)
        engine.close()
        self.assertEqual(server.said, [("release", "1", None), ("release", "2", None)])

    def test_an_address_says_it_all(self) -> None:
        connect("kafka://a:1,b:2?engine=http://server&group=g&security.protocol=SASL_SSL", token="t").close()
        self.assertEqual(Consumer.made["bootstrap.servers"], "a:1,b:2")
        self.assertEqual((Consumer.made["group.id"], Consumer.made["security.protocol"]), ("g", "SASL_SSL"))
        with self.assertRaises(ValueError):
            connect("kafka://a:1?group=g")
