"""pyzeebe (gRPC): what a Python worker does with a Camunda 8 server, done with Caudal.

pyzeebe finds the server by ZEEBE_ADDRESS. It cannot search, so states are read over plain REST.
"""

import asyncio
import contextlib

from pyzeebe import Job, ZeebeClient, ZeebeWorker, create_insecure_channel
from pyzeebe.errors import (
    BusinessError,
    DecisionNotFoundError,
    ProcessDefinitionNotFoundError,
    ProcessInstanceNotFoundError,
    ProcessInvalidError,
    ProcessTimeoutError,
)
from pyzeebe.proto.gateway_pb2 import (
    ActivateJobsRequest,
    CompleteJobRequest,
    FailJobRequest,
    MigrateProcessInstanceRequest,
    ModifyProcessInstanceRequest,
    ResolveIncidentRequest,
    SetVariablesRequest,
    StreamActivatedJobsRequest,
    UpdateJobRetriesRequest,
)
from pyzeebe.proto.gateway_pb2_grpc import GatewayStub

from scenario import equal, fixture, only, run_all, scenario, search, until


class Context:
    def __init__(self):
        self.channel = create_insecure_channel()
        self.client = ZeebeClient(self.channel)
        # The messages pyzeebe itself speaks, for the commands it has no method for.
        self.gateway = GatewayStub(self.channel)

    @contextlib.asynccontextmanager
    async def worker(self, handlers, **options):
        worker = ZeebeWorker(self.channel, name="pyzeebe", **options)
        for task_type, handler in handlers.items():
            worker.task(task_type=task_type)(handler)
        working = asyncio.create_task(worker.work())
        try:
            yield
        finally:
            await worker.stop()
            await working

    async def job(self, task_type):
        """Takes one job by polling."""
        request = ActivateJobsRequest(type=task_type, worker="poller", timeout=60_000, maxJobsToActivate=1, requestTimeout=10_000)
        async for answer in self.gateway.ActivateJobs(request):
            for job in answer.jobs:
                return job
        raise AssertionError(f"no job of type {task_type} came within ten seconds")


def state(instance_key):
    return only(search("process-instances", processInstanceKey=str(instance_key)), "instances")["state"]


async def completed(instance_key):
    await until(lambda: state(instance_key) == "COMPLETED", f"instance {instance_key} completed")


@scenario("the server answers topology and health")
async def topology(c):
    answer = await c.client.topology()
    equal(answer.partitions_count, 1, "partitions")
    health = await c.client.healthcheck()
    equal(str(health.status), "1", "health (1 is SERVING)")


@scenario("deploy, and deploy the same again")
async def deploy(c):
    first = await c.client.deploy_resource(*(fixture(name) for name in ("order.bpmn", "decide.bpmn", "ship.bpmn")))
    equal([d.bpmn_process_id for d in first.deployments], ["order", "decide", "ship"], "deployed processes")
    equal([d.version for d in first.deployments], [1, 1, 1], "versions")
    again = await c.client.deploy_resource(fixture("order.bpmn"))
    equal(again.deployments[0].version, 1, "version of the same file")
    equal(again.deployments[0].process_definition_key, first.deployments[0].process_definition_key, "key of the same file")


@scenario("refuse a broken file")
async def refuse(c):
    try:
        await c.client.deploy_resource(fixture("broken.bpmn"))
    except ProcessInvalidError:
        return
    raise AssertionError("a flow to nowhere was accepted")


@scenario("refuse to start what was never deployed")
async def unknown(c):
    try:
        await c.client.run_process("nobody-knows-this")
    except ProcessDefinitionNotFoundError:
        return
    raise AssertionError("an unknown process was started")


@scenario("deploy and evaluate a decision")
async def decision(c):
    deployed = await c.client.deploy_resource(fixture("fees.dmn"))
    decisions = [(d.dmn_decision_id, d.version) for d in deployed.deployments[:2]]
    equal(decisions, [("total", 1), ("fee", 1)], "deployed decisions")
    evaluated = await c.client.evaluate_decision(decision_key=None, decision_id="fee", variables={"amount": 10})
    equal(evaluated.decision_output, 5, "output")
    equal([d.decision_id for d in evaluated.evaluated_decisions], ["total", "fee"], "evaluated decisions")
    equal([r.rule_id for r in evaluated.evaluated_decisions[1].matched_rules], ["small"], "matched rules")
    again = await c.client.evaluate_decision(deployed.deployments[1].decision_key, None, {"amount": 50})
    equal(again.decision_output, 1, "output by key")
    try:
        await c.client.evaluate_decision(decision_key=None, decision_id="nobody-knows-this")
    except DecisionNotFoundError:
        return
    raise AssertionError("an unknown decision was evaluated")


@scenario("work by polling")
async def polling(c):
    seen = {}

    async def collect(job: Job, amount: int):
        seen[job.process_instance_key] = (amount, job.custom_headers["method"], job.retries)
        return {"collected": amount * 2}

    started = [await c.client.run_process("order", {"amount": n}) for n in range(5)]
    async with c.worker({"collect-money": collect}):
        for instance in started:
            await completed(instance.process_instance_key)
    equal(sorted(seen.values()), [(n, "card", 3) for n in range(5)], "what the worker saw")
    key = started[4].process_instance_key
    collected = only(search("variables", processInstanceKey=str(key), name="collected"), "variables")
    equal(collected["value"], "8", "the worker's variable")


@scenario("work by streaming")
async def streaming(c):
    stream = c.gateway.StreamActivatedJobs(StreamActivatedJobsRequest(type="collect-money", worker="streamer", timeout=60_000))
    await stream.initial_metadata()
    started = [(await c.client.run_process("order", {"amount": n})).process_instance_key for n in range(5)]
    pushed = []
    while len(pushed) < 5:
        job = await stream.read()
        pushed.append(job.processInstanceKey)
        await c.gateway.CompleteJob(CompleteJobRequest(jobKey=job.key, variables='{"by": "stream"}'))
    stream.cancel()
    equal(sorted(pushed), sorted(started), "pushed jobs")
    equal({state(key) for key in started}, {"COMPLETED"}, "states")


@scenario("work with a streaming worker")
async def streaming_worker(c):
    async def collect(amount: int):
        return {"collected": amount}

    async with c.worker({"collect-money": collect}, stream_enabled=True):
        started = [await c.client.run_process("order", {"amount": n}) for n in range(20)]
        for instance in started:
            await completed(instance.process_instance_key)


@scenario("await a result")
async def result(c):
    async def check(amount: int):
        return {"limit": 100}

    async def approve(amount: int):
        return {"approved": amount}

    async with c.worker({"check": check, "approve": approve}):
        large = await c.client.run_process_with_result("decide", {"amount": 250}, timeout=10_000)
        equal(large.variables, {"amount": 250, "limit": 100, "approved": 250}, "variables of the large one")
        small = await c.client.run_process_with_result("decide", {"amount": 5}, timeout=10_000, variables_to_fetch=["limit"])
        equal(small.variables, {"limit": 100}, "fetched variables of the small one")


@scenario("a result that does not come in time")
async def no_result(c):
    try:
        await c.client.run_process_with_result("decide", {"amount": 1}, timeout=200)
    except ProcessTimeoutError:
        pass
    else:
        raise AssertionError("a result came although nobody worked")
    left = only(search("process-instances", processDefinitionId="decide", state="ACTIVE"), "running instances")
    await c.client.cancel_process_instance(int(left["processInstanceKey"]))


@scenario("work side by side inside a sub-process")
async def parallel(c):
    async def pack(content: list):
        return {"weight": len(content)}

    async def label():
        return {"labelled": True}

    async with c.worker({"pack": pack, "label": label}):
        done = await c.client.run_process_with_result("ship", {"items": ["a", "b"]}, timeout=10_000)
    equal(done.variables["weight"], 2, "the mapped output")
    equal("content" in done.variables, False, "the sub-process's own variable is visible outside")


@scenario("fail and try again")
async def retry(c):
    started = await c.client.run_process("order", {"amount": 1})
    first = await c.job("collect-money")
    await c.gateway.FailJob(FailJobRequest(jobKey=first.key, retries=1, errorMessage="try again"))
    second = await c.job("collect-money")
    equal((second.key, second.retries), (first.key, 1), "the job that came back")
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=second.key))
    equal(state(started.process_instance_key), "COMPLETED", "state")


@scenario("fail until an incident, then resolve it")
async def incident(c):
    async def broken(job: Job):
        raise RuntimeError("no money")

    started = await c.client.run_process("order", {"amount": 1})
    key = str(started.process_instance_key)
    async with c.worker({"collect-money": broken}):
        await until(lambda: search("incidents", processInstanceKey=key), "an incident after three failures")
    trouble = only(search("incidents", processInstanceKey=key), "incidents")
    equal((trouble["errorType"], trouble["state"]), ("JOB_NO_RETRIES", "ACTIVE"), "incident")
    await c.gateway.UpdateJobRetries(UpdateJobRetriesRequest(jobKey=int(trouble["jobKey"]), retries=1))
    await c.gateway.ResolveIncident(ResolveIncidentRequest(incidentKey=int(trouble["incidentKey"])))
    equal(search("incidents", processInstanceKey=key, state="ACTIVE"), [], "incidents after resolving")
    job = await c.job("collect-money")
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=job.key))
    equal(state(key), "COMPLETED", "state")


@scenario("throw an error nobody catches, then resolve it")
async def error(c):
    async def refuse_card(job: Job):
        raise BusinessError("no-such-card")

    started = await c.client.run_process("order", {"amount": 1})
    key = str(started.process_instance_key)
    async with c.worker({"collect-money": refuse_card}):
        await until(lambda: search("incidents", processInstanceKey=key), "an incident after the error")
    trouble = only(search("incidents", processInstanceKey=key), "incidents")
    equal(trouble["errorType"], "UNHANDLED_ERROR_EVENT", "incident")
    await c.gateway.UpdateJobRetries(UpdateJobRetriesRequest(jobKey=int(trouble["jobKey"]), retries=1))
    await c.gateway.ResolveIncident(ResolveIncidentRequest(incidentKey=int(trouble["incidentKey"])))
    job = await c.job("collect-money")
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=job.key))
    equal(state(key), "COMPLETED", "state")


@scenario("set variables of a running instance")
async def variables(c):
    started = await c.client.run_process("order", {"amount": 1})
    key = started.process_instance_key
    await c.gateway.SetVariables(SetVariablesRequest(elementInstanceKey=key, variables='{"amount": 7}'))
    job = await c.job("collect-money")
    equal(job.variables, '{"amount":7}', "variables of the job")
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=job.key))


@scenario("cancel")
async def cancel(c):
    started = await c.client.run_process("order", {"amount": 1})
    await c.client.cancel_process_instance(started.process_instance_key)
    equal(state(started.process_instance_key), "TERMINATED", "state")
    try:
        await c.client.cancel_process_instance(started.process_instance_key)
    except ProcessInstanceNotFoundError:
        return
    raise AssertionError("an instance was cancelled twice")


@scenario("a user task is done by a worker")
async def user_task(c):
    seen = []

    async def judge(job: Job):
        seen.append(
            (job.element_id, job.custom_headers["io.camunda.zeebe:assignee"], job.custom_headers["io.camunda.zeebe:candidateGroups"])
        )
        return {"verdict": "good"}

    await c.client.deploy_resource(fixture("assess.bpmn"))
    async with c.worker({"io.camunda.zeebe:userTask": judge}):
        done = await c.client.run_process_with_result("assess", {"boss": "ann"}, timeout=10_000)
    equal(seen, [("judge", "ann", '["judges"]')], "what the worker saw")
    equal(done.variables, {"boss": "ann", "verdict": "good"}, "variables")


@scenario("deploy a form with the process that shows it")
async def form(c):
    deployed = await c.client.deploy_resource(fixture("opinion.form"), fixture("review.bpmn"))
    equal(sorted(type(d).__name__ for d in deployed.deployments), ["FormMetadata", "ProcessMetadata"], "deployed files")
    started = await c.client.run_process("review", {"text": "a"})
    task = only(search("user-tasks", processInstanceKey=str(started.process_instance_key)), "tasks")
    equal(task["formKey"], str(next(d for d in deployed.deployments if hasattr(d, "form_key")).form_key), "form of the task")
    await c.client.cancel_process_instance(started.process_instance_key)


@scenario("listeners are heard before and after a task")
async def execution_listeners(c):
    async def before():
        return {"paper": "white"}

    async def print_it(paper: str):
        return {"printed": paper}

    async def after(printed: str):
        return {"checked": printed}

    await c.client.deploy_resource(fixture("listened.bpmn"))
    started = await c.client.run_process("listened")
    key = str(started.process_instance_key)
    async with c.worker({"before-print": before, "print": print_it, "after-print": after}):
        await until(lambda: search("user-tasks", processInstanceKey=key), "the task behind")
    checked = only(search("variables", processInstanceKey=key, name="checked"), "variables")
    equal(checked["value"], '"white"', "what went from one to the next")
    jobs = [(job["type"], job["kind"]) for job in search("jobs", processInstanceKey=key)]
    expected = [("before-print", "EXECUTION_LISTENER"), ("print", "BPMN_ELEMENT"), ("after-print", "EXECUTION_LISTENER")]
    equal(jobs, expected, "jobs")
    await c.client.cancel_process_instance(started.process_instance_key)


def element_at(instance_key):
    """Where an instance waits."""
    found = search("element-instances", processInstanceKey=str(instance_key), state="ACTIVE", type="SERVICE_TASK")
    return only(found, "tasks that wait")


@scenario("move a running instance to another task")
async def modify(c):
    await c.client.deploy_resource(fixture("route.bpmn"), fixture("route-anew.bpmn"))
    started = await c.client.run_process("route")
    key = started.process_instance_key
    activate = ModifyProcessInstanceRequest.ActivateInstruction(elementId="second")
    activate.variableInstructions.add(variables='{"moved": true}')
    terminate = ModifyProcessInstanceRequest.TerminateInstruction(elementInstanceKey=int(element_at(key)["elementInstanceKey"]))
    change = ModifyProcessInstanceRequest(
        processInstanceKey=key, activateInstructions=[activate], terminateInstructions=[terminate]
    )
    await c.gateway.ModifyProcessInstance(change)
    equal(element_at(key)["elementId"], "second", "where it waits now")
    job = await c.job("second")
    equal(job.variables, '{"moved":true}', "variables of the job")
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=job.key))
    equal(state(key), "COMPLETED", "state")


@scenario("migrate a running instance to another process")
async def migrate(c):
    target = only(search("process-definitions", processDefinitionId="route-anew"), "definitions")["processDefinitionKey"]
    started = await c.client.run_process("route", {"kept": 1})
    key = started.process_instance_key
    plan = MigrateProcessInstanceRequest.MigrationPlan(targetProcessDefinitionKey=int(target))
    plan.mappingInstructions.add(sourceElementId="first", targetElementId="one")
    await c.gateway.MigrateProcessInstance(MigrateProcessInstanceRequest(processInstanceKey=key, migrationPlan=plan))
    equal(element_at(key)["elementId"], "one", "where it waits now")
    # The job is the one that was there, with the type it had.
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=(await c.job("first")).key))
    job = await c.job("two")
    equal((job.bpmnProcessId, job.variables), ("route-anew", '{"kept":1}'), "the next job")
    await c.gateway.CompleteJob(CompleteJobRequest(jobKey=job.key))
    equal(state(key), "COMPLETED", "state")


async def main():
    await run_all(Context())


asyncio.run(main())
