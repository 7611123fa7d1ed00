"""A client of JSON workflows written from their contract: REST with the standard library, gRPC with grpcio.

It plays the scenarios of `spec/scenarios`: each line it reads names a call and who answers it, each line it writes is the answer, with the
status as HTTP has it (`crates/app/tests/scenarios/foreign.rs`).
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

PROTO = Path(__file__).parents[2] / "crates" / "api" / "proto"


class Rest:
    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        url = f"http://{self.address}/v1{path}"
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text, status = answer.read(), answer.status
        except urllib.error.HTTPError as refused:
            text, status = refused.read(), refused.code
        return status, json.loads(text) if text else None

    def upload(self, document):
        return self.send("POST", "/definitions", document)

    def start(self, body):
        return self.send("POST", "/instances", body)

    def instance(self, id):
        return self.send("GET", f"/instances/{id}")

    def history(self, id):
        return self.send("GET", f"/instances/{id}/history")

    def list(self, filters):
        return self.send("GET", f"/instances?{urllib.parse.urlencode(filters)}")

    def poll(self, worker, jobTypes):
        return self.send("POST", "/jobs/poll", {"workerId": worker, "jobTypes": jobTypes})

    def complete(self, job, worker, variables):
        return self.send("POST", f"/jobs/{job}/complete", {"workerId": worker, "variables": variables})

    def fail(self, job, worker, retryable, message):
        body = {"workerId": worker, "retryable": retryable, "errorMessage": message}
        return self.send("POST", f"/jobs/{job}/fail", body)

    def userTask(self, instance, step, result, buffer):
        body = {"completedBy": "anna", "result": result}
        return self.send("POST", f"/instances/{instance}/user-tasks/{step}/complete{buffered(buffer)}", body)

    def signal(self, instance, step, variables, buffer):
        return self.send("POST", f"/instances/{instance}/signals/{step}{buffered(buffer)}", variables)

    def cancel(self, instance):
        return self.send("POST", f"/instances/{instance}/cancel", {})

    def retry(self, instance):
        return self.send("POST", f"/instances/{instance}/retry", {})


def buffered(buffer):
    return "?buffer=true" if buffer else ""


class Grpc:
    STATUSES = {"INVALID_ARGUMENT": 400, "NOT_FOUND": 404, "FAILED_PRECONDITION": 409, "ALREADY_EXISTS": 409}

    def __init__(self):
        import grpc
        from google.protobuf import json_format

        sys.path.insert(0, str(PROTO))
        self.grpc, self.json_format = grpc, json_format
        self.messages, self.services = grpc.protos_and_services("workflow.proto")

    def send(self, call, request, done=200):
        """A connection of its own: the server may be another one since the last call."""
        name = f"{call}Request"
        message = self.json_format.ParseDict(request, getattr(self.messages, name)())
        with self.grpc.insecure_channel(self.address) as channel:
            try:
                answer = getattr(self.services.WorkflowEngineStub(channel), call)(message, timeout=30)
            except self.grpc.RpcError as refused:
                return self.STATUSES.get(refused.code().name, 500), {"message": refused.details()}
        shown = self.json_format.MessageToDict(answer, always_print_fields_with_no_presence=True)
        return done, plain(shown)

    def upload(self, document):
        steps = [{**step, **typed(step)} for step in document.get("steps", [])]
        return self.send("UploadDefinition", {"definition": {**document, "steps": steps}}, 201)

    def start(self, body):
        return self.of_instance("StartInstance", {name: value for name, value in body.items() if value is not None}, 201)

    def instance(self, id):
        return self.of_instance("GetInstance", {"id": id})

    def of_instance(self, call, request, done=200):
        status, answer = self.send(call, request, done)
        return status, answer.get("instance", answer)

    def history(self, id):
        status, answer = self.send("GetInstanceHistory", {"id": id})
        return status, {"items": answer.get("executions")}

    def list(self, filters):
        if "status" in filters:
            filters = {**filters, "status": f"INSTANCE_STATUS_{filters['status']}"}
        status, answer = self.send("ListInstances", filters)
        return status, {"items": answer.get("instances"), "total": answer.get("total")}

    def poll(self, worker, jobTypes):
        return self.send("PollJobs", {"workerId": worker, "jobTypes": jobTypes})

    def complete(self, job, worker, variables):
        return self.send("CompleteJob", {"jobId": job, "workerId": worker, "variablesToSet": variables}, 204)

    def fail(self, job, worker, retryable, message):
        request = {"jobId": job, "workerId": worker, "retryable": retryable, "errorMessage": message}
        return self.send("FailJob", request, 204)

    def userTask(self, instance, step, result, buffer):
        request = {"completedBy": "anna", "result": result, "instanceId": instance, "userTaskStepId": step, "buffer": buffer}
        return self.send("CompleteUserTask", request, 204)

    def signal(self, instance, step, variables, buffer):
        request = {"instanceId": instance, "waitStepId": step, "variables": variables, "buffer": buffer}
        return self.send("SignalWait", request, 204)

    def cancel(self, instance):
        return self.of_instance("CancelInstance", {"id": instance})

    def retry(self, instance):
        return self.of_instance("RetryInstance", {"id": instance})


def typed(step):
    events = [{**event, "type": f"BOUNDARY_EVENT_TYPE_{event['type']}"} for event in step.get("boundaryEvents", [])]
    return {"type": f"STEP_TYPE_{step['type']}", "boundaryEvents": events}


def plain(value, name=""):
    """Words without their enum's name, whole numbers as such."""
    if isinstance(value, dict):
        return {name: plain(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if name == "status":
        return value.removeprefix("INSTANCE_STATUS_").removeprefix("STEP_EXECUTION_STATUS_")
    return value


def main():
    client = {"rest": Rest, "grpc": Grpc}[sys.argv[1]]()
    for line in sys.stdin:
        asked = json.loads(line)
        client.address = asked["address"]
        status, answer = getattr(client, asked["call"])(**asked["with"])
        print(json.dumps({"status": status, "answer": answer}), flush=True)


if __name__ == "__main__":
    main()
