"""A worker of JSON workflows written from their contract, with nothing but the standard library: REST on `/v1`.

It finds the server by CAMUNDA_REST_ADDRESS, as the others here do.
"""

import asyncio
import json
import threading
import time
import urllib.error
import urllib.request
import uuid

from scenario import REST, equal, fixture, run_all, scenario, until


def call(method, path, body=None):
    """The status and what came with it."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{REST}/v1{path}", data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text, status = answer.read(), answer.status
    except urllib.error.HTTPError as refused:
        text, status = refused.read(), refused.code
    return status, json.loads(text) if text else None


def done(method, path, body=None):
    status, answer = call(method, path, body)
    if not 200 <= status < 300:
        raise AssertionError(f"{method} {path}: {status} {answer}")
    return answer


class Retry(Exception):
    """What a handler raises when another try may help."""


class Worker:
    """Polls for jobs and does them, as the contract's own clients do."""

    def __init__(self, handlers, **poll):
        self.id = f"python-{uuid.uuid4()}"
        self.handlers = handlers
        self.poll = poll
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()

    def work(self):
        while not self.stopped.is_set():
            body = {"workerId": self.id, "jobTypes": list(self.handlers), "maxJobs": 10, "leaseSeconds": 60, **self.poll}
            jobs = done("POST", "/jobs/poll", body)["jobs"]
            for job in jobs:
                self.do(job)
            if not jobs and not self.poll:
                time.sleep(0.05)

    def do(self, job):
        try:
            variables = self.handlers[job["jobType"]](job)
        except Retry as error:
            body = {"workerId": self.id, "retryable": True, "errorMessage": str(error)}
            done("POST", f"/jobs/{job['id']}/fail", body)
        else:
            done("POST", f"/jobs/{job['id']}/complete", {"workerId": self.id, "variables": variables})


def upload(name):
    """Under an id of its own, so that nobody else's jobs and instances are in the way."""
    with open(fixture(f"../../examples/{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def instance(key):
    return done("GET", f"/instances/{key}")


@scenario("a loan is checked, reviewed and paid")
async def loan(_):
    tag = uuid.uuid4().hex[:8]
    loan, pay = upload("loan"), upload("disbursement")
    loan["id"], pay["id"], loan["nextWorkflowId"] = f"loan-{tag}", f"pay-{tag}", f"pay-{tag}"
    for document in (loan, pay):
        for step in document["steps"]:
            if step["type"] == "SERVICE_TASK":
                step["jobType"] += f"-{tag}"
        done("POST", "/definitions", document)
    tries = []

    def credit(job):
        tries.append(job["retriesRemaining"])
        if len(tries) == 1:
            raise Retry("the bureau is down")
        return {"credit": {"score": 600}}

    handlers = {
        f"credit-check-{tag}": credit,
        f"fraud-check-{tag}": lambda job: {"fraud": {"suspected": job["variables"]["amount"] > 5_000}},
        f"pay-{tag}": lambda job: {"paid": job["variables"]["limit"]},
    }
    with Worker(handlers, waitSeconds=1):
        body = {"definitionId": loan["id"], "variables": {"amount": 1_000}, "businessKey": tag}
        key = done("POST", "/instances", body)["id"]
        await until(lambda: instance(key)["currentStepIds"] == ["review"], "the loan waits for a review")
        equal(instance(key)["status"], "WAITING", "status")
        result = {"completedBy": "anna", "result": {"review": {"approved": True}}}
        for _ in range(2):
            done("POST", f"/instances/{key}/user-tasks/review/complete", result)
        await until(lambda: instance(key)["status"] == "COMPLETED", "the loan ends")
        paid = await until(
            lambda: done("GET", f"/instances?definitionId={pay['id']}&status=COMPLETED")["items"], "the loan is paid"
        )
    equal(tries, [3, 2], "retries left at each try")
    equal(paid[0]["variables"]["paid"], 1_100, "what was paid")
    equal((paid[0]["previousInstanceId"], paid[0]["businessKey"]), (key, tag), "the link to the loan")
    history = done("GET", f"/instances/{key}/history")["items"]
    credits = [(item["attemptNumber"], item["status"]) for item in history if item["stepId"] == "credit-check"]
    equal(credits, [(1, "FAILED"), (2, "COMPLETED")], "attempts at the credit check")


@scenario("what cannot be is refused in the contract's words")
async def refusals(_):
    for method, path, body, status in [
        ("POST", "/definitions", {"id": "x", "steps": []}, 400),
        ("POST", "/instances", {"definitionId": uuid.uuid4().hex}, 404),
        ("GET", "/instances/none", None, 404),
        ("POST", "/jobs/none/complete", {"workerId": "w"}, 404),
        ("POST", "/jobs/poll", {"workerId": "w", "jobTypes": ["x"], "maxJobs": 0}, 400),
    ]:
        seen, error = call(method, path, body)
        equal(seen, status, f"{method} {path}")
        equal(error["reason"], error["message"], "the reason")
    equal(done("POST", "/jobs/poll", {"workerId": "w", "jobTypes": [uuid.uuid4().hex]}), {"jobs": []}, "an empty poll")


if __name__ == "__main__":
    asyncio.run(run_all(None))
