"""The gRPC transport with a server in this process that answers what it is told to."""

from __future__ import annotations

import threading
import unittest
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any
from unittest import mock

import grpc
from google.protobuf.struct_pb2 import Struct

from caudal import ApiError, Beat, ConflictError, Interrupt, Job, NotFoundError, Standing, UnavailableError
from caudal.grpc_engine import OPTIONS, GrpcEngine
from caudal.wire import worker_pb2

JOB = Job("7", "work", {}, lease=3)


class Calls(grpc.GenericRpcHandler):
    """Notes every call; answers with a message, or with a code."""

    def __init__(self, answer: Callable[[str, bytes], Any]) -> None:
        self.seen: list[tuple[str, bytes]] = []
        self.metadata: dict[str, Any] = {}
        self._answer = answer

    def service(self, details: Any) -> Any:
        name = details.method.rpartition("/")[2]

        def call(request: bytes, context: grpc.ServicerContext) -> Any:
            self.seen.append((name, request))
            self.metadata = {one.key: one.value for one in context.invocation_metadata()}  # type: ignore[attr-defined]
            answer = self._answer(name, request)
            if isinstance(answer, grpc.StatusCode):
                context.abort(answer, "because")
            return answer.SerializeToString()

        return grpc.unary_unary_rpc_method_handler(call)


@contextmanager
def serving(answer: Callable[[str, bytes], Any], **options: Any) -> Iterator[tuple[GrpcEngine, Calls]]:
    calls = Calls(answer)
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[calls])
    engine = GrpcEngine(f"grpc://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}", **options)
    server.start()
    try:
        yield engine, calls
    finally:
        engine.close()
        server.stop(None)


class Grpc(unittest.TestCase):
    def test_an_error_says_whose_and_which_lease_it_is(self) -> None:
        with serving(lambda *_: worker_pb2.ThrowErrorResponse(), token="t", headers={"X-Key": "k"}) as (engine, calls):
            engine.throw_error("w", JOB, "E", "no", {"a": 1})
        [(name, request)] = calls.seen
        said = worker_pb2.ThrowErrorRequest.FromString(request)
        self.assertEqual((name, said.job_id, said.worker_id, said.lease), ("ThrowError", "7", "w", 3))
        self.assertEqual((said.error_code, said.error_message, said.variables["a"]), ("E", "no", 1))
        self.assertEqual((calls.metadata["authorization"], calls.metadata["x-key"]), ("Bearer t", "k"))

    def test_what_may_work_later_and_what_never_will(self) -> None:
        code = grpc.StatusCode.OK
        kinds: dict[grpc.StatusCode, tuple[type[ApiError], int]] = {
            grpc.StatusCode.INVALID_ARGUMENT: (ApiError, 400),
            grpc.StatusCode.UNAUTHENTICATED: (ApiError, 401),
            grpc.StatusCode.PERMISSION_DENIED: (ApiError, 403),
            grpc.StatusCode.NOT_FOUND: (NotFoundError, 404),
            grpc.StatusCode.FAILED_PRECONDITION: (ConflictError, 409),
            grpc.StatusCode.ABORTED: (ConflictError, 409),
            grpc.StatusCode.ALREADY_EXISTS: (ConflictError, 409),
            grpc.StatusCode.OUT_OF_RANGE: (ApiError, 413),
            grpc.StatusCode.UNIMPLEMENTED: (ApiError, 501),
        }
        with serving(lambda *_: code) as (engine, _):
            for code in grpc.StatusCode:
                if code is grpc.StatusCode.OK:
                    continue
                kind, status = kinds.get(code, (UnavailableError, None))
                with self.assertRaises(kind, msg=code) as caught:
                    engine.complete("w", JOB, {})
                error = caught.exception
                self.assertEqual((type(error), getattr(error, "status", None)), (kind, status))

    def test_what_cannot_be_sent_is_a_refusal(self) -> None:
        small = (*OPTIONS, ("grpc.max_send_message_length", 100))
        with (
            mock.patch("caudal.grpc_engine.OPTIONS", small),
            serving(lambda *_: worker_pb2.CompleteJobResponse()) as (engine, calls),
        ):
            with self.assertRaisesRegex(ApiError, "larger than max"):
                engine.complete("w", JOB, {"text": "x" * 200})
            for value in ("\ud800", 10**400):
                with self.assertRaises(Exception) as caught:
                    engine.complete("w", JOB, {"a": value})
                self.assertNotIsInstance(caught.exception, UnavailableError)
        self.assertEqual(calls.seen, [])

    def test_no_integer_arrives_as_another(self) -> None:
        given = Struct()
        given.update({"large": 2.0**53, "small": 2.0**53 - 1, "list": [2.0**60]})
        polled = worker_pb2.PollJobsResponse(jobs=[worker_pb2.Job(id="7", variables=given)])
        done = worker_pb2.CompleteJobResponse()
        with serving(lambda name, _: polled if name == "PollJobs" else done) as (engine, calls):
            [job] = engine.poll("w", ["work"], 1, 60, 0)
            engine.complete("w", JOB, {"a": [2**53, {"b": 2**60}], "c": -(2**53) + 1, "d": True, "e": 1e300})
            for result in ({"a": 2**53 + 1}, {"a": {"b": [2**63 - 1]}}, {"a": 10**400}):
                with self.assertRaisesRegex(ApiError, "is no double"):
                    engine.complete("w", JOB, result)
        types = [type(job.variables["large"]), type(job.variables["small"]), type(job.variables["list"][0])]
        self.assertEqual(types, [float, int, float])
        self.assertEqual([name for name, _ in calls.seen], ["PollJobs", "CompleteJob"])

    def test_each_of_many_heartbeats_is_answered_by_itself(self) -> None:
        def answer(_: str, request: bytes) -> Any:
            jobs = worker_pb2.HeartbeatsRequest.FromString(request).jobs
            words = ["HELD" if int(job.job_id) % 2 else "UNKNOWN" for job in jobs]
            return worker_pb2.HeartbeatsResponse(jobs=[worker_pb2.HeartbeatResponse(status=word) for word in words])

        with serving(answer) as (engine, calls):
            standings = engine.heartbeat("w", 60, [Beat(Job(str(number), "work", {})) for number in range(2001)])
        self.assertEqual(standings, [Standing.UNKNOWN, Standing.HELD] * 1000 + [Standing.UNKNOWN])
        self.assertEqual([name for name, _ in calls.seen], ["Heartbeats"] * 3)

    def test_a_poll_ends_for_its_own_runner_only(self) -> None:
        both, gate = threading.Barrier(3), threading.Event()

        def answer(*_: Any) -> Any:
            both.wait(30)
            gate.wait(60)
            return worker_pb2.PollJobsResponse(jobs=[worker_pb2.Job(id="7")])

        with serving(answer) as (engine, _), futures.ThreadPoolExecutor(2) as pool:
            stopped, other = Interrupt(), Interrupt()
            polls = [pool.submit(engine.poll, "w", ["work"], 1, 60, 60, one) for one in (stopped, other)]
            both.wait(30)
            stopped.set()
            self.assertEqual(polls[0].result(30), [])
            self.assertEqual(engine.poll("w", ["work"], 1, 60, 60, stopped), [])
            gate.set()
            self.assertEqual([job.id for job in polls[1].result(60)], ["7"])
