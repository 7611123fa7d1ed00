"""Gives generated requests something to hit: a few deployed processes and running instances, which replace half of the made-up ones; and keeps
requests that may wait from waiting long."""

import itertools
import os
import pathlib
import re
import zlib

import requests
import schemathesis

REST = os.environ["CAMUNDA_REST_ADDRESS"] + "/v2"
FIXTURES = pathlib.Path(os.environ["CAUDAL_FIXTURES"])


def populate():
    """Real keys by the name of the path parameter that takes them."""
    form = (FIXTURES / "opinion.form").read_bytes()
    requests.post(f"{REST}/deployments", files={"resources": ("opinion.form", form)}, timeout=10).raise_for_status()
    for name in ("order.bpmn", "decide.bpmn", "ship.bpmn", "review.bpmn"):
        content = (FIXTURES / name).read_bytes()
        requests.post(f"{REST}/deployments", files={"resources": (name, content)}, timeout=10).raise_for_status()
        for n in range(5):
            body = {"processDefinitionId": name.removesuffix(".bpmn"), "variables": {"n": n, "items": [n]}}
            requests.post(f"{REST}/process-instances", json=body, timeout=10).raise_for_status()
    content = (FIXTURES / "fees.dmn").read_bytes()
    requests.post(f"{REST}/deployments", files={"resources": ("fees.dmn", content)}, timeout=10).raise_for_status()
    for amount in (10, 100):
        body = {"decisionDefinitionId": "fee", "variables": {"amount": amount}}
        requests.post(f"{REST}/decision-definitions/evaluation", json=body, timeout=10).raise_for_status()
    taken = {"type": "collect-money", "timeout": 600_000, "maxJobsToActivate": 2}
    jobs = requests.post(f"{REST}/jobs/activation", json=taken, timeout=20).json()["jobs"]
    for job in jobs:
        body = {"retries": 0, "errorMessage": "on purpose"}
        requests.post(f"{REST}/jobs/{job['jobKey']}/failure", json=body, timeout=10).raise_for_status()
    return {
        "processDefinitionKey": found("process-definitions", "processDefinitionKey"),
        "resourceKey": found("process-definitions", "processDefinitionKey"),
        "decisionDefinitionKey": found("decision-definitions", "decisionDefinitionKey"),
        "decisionRequirementsKey": found("decision-requirements", "decisionRequirementsKey"),
        "decisionEvaluationKey": found("decision-instances", "decisionEvaluationKey"),
        "decisionEvaluationInstanceKey": found("decision-instances", "decisionEvaluationInstanceKey"),
        "processInstanceKey": found("process-instances", "processInstanceKey"),
        "elementInstanceKey": found("element-instances", "elementInstanceKey"),
        "variableKey": found("variables", "variableKey"),
        "incidentKey": found("incidents", "incidentKey"),
        "jobKey": found("jobs", "jobKey"),
        **people(),
    }


def people():
    """Keys of what people and operators ask for."""
    document = requests.post(f"{REST}/documents", files={"file": ("note.txt", b"note", "text/plain")}, timeout=10)
    document.raise_for_status()
    batch = {"filter": {"processDefinitionId": "nobody"}}
    batch = requests.post(f"{REST}/process-instances/cancellation", json=batch, timeout=10)
    batch.raise_for_status()
    return {
        "userTaskKey": found("user-tasks", "userTaskKey"),
        "formKey": [task["formKey"] for task in requests.post(f"{REST}/user-tasks/search", json={}, timeout=10).json()["items"]],
        "batchOperationKey": [batch.json()["batchOperationKey"]],
        "documentId": [document.json()["documentId"]],
        "auditLogKey": found("audit-logs", "auditLogKey"),
    }


def found(kind, key):
    answer = requests.post(f"{REST}/{kind}/search", json={}, timeout=10)
    answer.raise_for_status()
    return [item[key] for item in answer.json()["items"]]


KEYS = populate()


NUMBERS = itertools.count()
PROCESSES = ["order", "decide", "ship", "review"]
DECISIONS = ["total", "fee"]
WAIT_MS = 50
WAIT_S = 1


def chosen(value, from_these):
    """The value, or, half of the time, one of these. The value itself decides, so that a seed still repeats a run."""
    number = zlib.crc32(repr(value).encode())
    return from_these[number // 2 % len(from_these)] if number % 2 == 0 and from_these else value


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    for name, value in (path_parameters or {}).items():
        path_parameters[name] = chosen(value, KEYS.get(name))
    return path_parameters


@schemathesis.hook
def map_headers(context, headers):
    """Two different requests with one key are refused, rightly."""
    for name in list(headers or {}):
        if name.lower() == "idempotency-key" and re.fullmatch("[!-~]{1,240}", str(headers[name])):
            headers[name] = f"{headers[name]}-{next(NUMBERS)}"
    return headers


@schemathesis.hook
def map_body(context, body):
    path = context.operation.path
    if not isinstance(body, dict):
        return body
    if path == "/v2/process-instances" and isinstance(body.get("processDefinitionId"), str):
        body["processDefinitionId"] = chosen(body["processDefinitionId"], PROCESSES)
    if path == "/v2/decision-definitions/evaluation" and isinstance(body.get("decisionDefinitionId"), str):
        body["decisionDefinitionId"] = chosen(body["decisionDefinitionId"], DECISIONS)
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """Whoever may wait does not wait long."""
    body = case.body
    if isinstance(body, dict):
        waits = case.operation.path == "/v2/jobs/activation" or body.get("awaitCompletion") is True
        if waits and isinstance(body.get("requestTimeout", 0), int):
            body["requestTimeout"] = WAIT_MS
        for name in ("waitSeconds", "wait"):
            if isinstance(body.get(name), int) and WAIT_S < body[name]:
                body[name] = WAIT_S
    query = case.query
    for name in ("waitSeconds", "wait"):
        if query and isinstance(query.get(name), int) and WAIT_S < query[name]:
            query[name] = WAIT_S
