"""camunda-orchestration-sdk (REST), the 9.x and the 10.x line: strict about every field of every answer.

It finds the server by CAMUNDA_REST_ADDRESS and CAMUNDA_AUTH_STRATEGY.
"""

import asyncio

import camunda_orchestration_sdk as sdk
from camunda_orchestration_sdk import CamundaAsyncClient, WorkerConfig
from camunda_orchestration_sdk.errors import ApiError

from scenario import equal, fixture, only, run_all, scenario, until


class Context:
    def __init__(self, client):
        self.client = client

    async def start(self, process_id, variables, **more):
        body = {"processDefinitionId": process_id, "variables": variables, **more}
        return await self.client.create_process_instance(data=sdk.ProcessCreationById.from_dict(body))

    async def job(self, job_type):
        """Takes one job by polling."""
        body = {"type": job_type, "timeout": 60_000, "maxJobsToActivate": 1, "worker": "poller", "requestTimeout": 10_000}
        answer = await self.client.activate_jobs(data=sdk.JobActivationRequest.from_dict(body))
        return only(answer.jobs, f"jobs of type {job_type}")

    async def complete(self, job, variables):
        await self.client.complete_job(job.job_key, data=sdk.JobCompletionRequest.from_dict({"variables": variables}))

    async def fail(self, job, retries, message):
        body = {"retries": retries, "errorMessage": message}
        await self.client.fail_job(job.job_key, data=sdk.JobFailRequest.from_dict(body))

    async def set_retries(self, job, retries):
        await self.client.update_job(job.job_key, data=sdk.JobUpdateRequest.from_dict({"changeset": {"retries": retries}}))

    async def instances(self, **filters):
        return await self.found(self.client.search_process_instances, sdk.ProcessInstanceSearchQuery, filters)

    async def jobs(self, **filters):
        return await self.found(self.client.search_jobs, sdk.JobSearchQuery, filters)

    async def variables(self, **filters):
        return await self.found(self.client.search_variables, sdk.VariableSearchQuery, filters)

    async def incidents(self, **filters):
        return await self.found(self.client.search_incidents, sdk.IncidentSearchQuery, filters)

    async def elements(self, **filters):
        return await self.found(self.client.search_element_instances, sdk.ElementInstanceSearchQuery, filters)

    async def tasks(self, **filters):
        return await self.found(self.client.search_user_tasks, sdk.UserTaskSearchQuery, filters)

    async def at(self, instance):
        """Where an instance waits."""
        found = await self.elements(processInstanceKey=instance.process_instance_key, state="ACTIVE", type="SERVICE_TASK")
        return [element.element_id for element in found]

    async def found(self, search, query, filters):
        return (await search(data=query.from_dict({"filter": filters}))).items

    async def state(self, instance):
        return (await self.client.get_process_instance(instance.process_instance_key)).state

    async def completed(self, instance):
        async def is_completed():
            return await self.state(instance) == "COMPLETED"

        await until(is_completed, f"instance {instance.process_instance_key} completed")

    async def cancel(self, instance):
        # Without `data` the library tries to send its own marker for "not given".
        await self.client.cancel_process_instance(instance.process_instance_key, data=None)

    def worker(self, job_type, handler):
        config = WorkerConfig(job_type=job_type, job_timeout_milliseconds=60_000, request_timeout_milliseconds=2_000)
        return self.client.create_job_worker(config=config, callback=handler, execution_strategy="async")


async def refused(status, call):
    """The call must be answered with this status."""
    try:
        await call
    except ApiError as error:
        equal(error.status_code, status, f"status of a refusal ({error})")
        return
    raise AssertionError(f"expected a refusal with {status}")


@scenario("the server answers topology and status")
async def topology(c):
    answer = await c.client.get_topology()
    equal((answer.partitions_count, len(answer.brokers)), (1, 1), "partitions and brokers")
    await c.client.get_status()
    equal((await c.client.get_license()).valid_license, False, "a Camunda licence")


@scenario("deploy, and deploy the same again")
async def deploy(c):
    first = await c.client.deploy_resources_from_files([fixture(name) for name in ("order.bpmn", "decide.bpmn", "ship.bpmn")])
    equal([p.process_definition_id for p in first.processes], ["order", "decide", "ship"], "deployed processes")
    again = await c.client.deploy_resources_from_files([fixture("order.bpmn")])
    same = (again.processes[0].process_definition_version, again.processes[0].process_definition_key)
    equal(same, (1, first.processes[0].process_definition_key), "version and key of the same file")
    xml = await c.client.get_process_definition_xml(first.processes[0].process_definition_key)
    with open(fixture("order.bpmn"), encoding="utf-8") as file:
        equal(xml, file.read(), "the file as it was deployed")


@scenario("deploy and evaluate a decision")
async def decision(c):
    deployed = await c.client.deploy_resources_from_files([fixture("fees.dmn")])
    equal([d.decision_definition_id for d in deployed.decisions], ["total", "fee"], "deployed decisions")
    body = {"decisionDefinitionId": "fee", "variables": {"amount": 10}}
    evaluated = await c.client.evaluate_decision(data=sdk.DecisionEvaluationByID.from_dict(body))
    equal((evaluated.output, len(evaluated.evaluated_decisions)), ("5", 2), "output and evaluated decisions")
    filters = {"decisionEvaluationKey": evaluated.decision_evaluation_key}
    found = await c.found(c.client.search_decision_instances, sdk.DecisionInstanceSearchQuery, filters)
    equal([d.decision_definition_id for d in found], ["total", "fee"], "decision instances")
    fee = await c.client.get_decision_instance(found[1].decision_evaluation_instance_key)
    equal([r.rule_id for r in fee.matched_rules], ["small"], "matched rules")
    unknown = sdk.DecisionEvaluationByID.from_dict({"decisionDefinitionId": "nobody-knows-this"})
    await refused(404, c.client.evaluate_decision(data=unknown))


@scenario("refuse a broken file")
async def refuse(c):
    await refused(400, c.client.deploy_resources_from_files([fixture("broken.bpmn")]))


@scenario("refuse to start what was never deployed")
async def unknown(c):
    await refused(404, c.start("nobody-knows-this", {}))


@scenario("work by polling")
async def polling(c):
    seen = []

    async def collect(job):
        variables = job.variables.to_dict()
        seen.append((variables["amount"], job.custom_headers.to_dict()["method"], job.retries))
        return {"collected": variables["amount"] * 2}

    started = [await c.start("order", {"amount": n}) for n in range(5)]
    worker = c.worker("collect-money", collect)
    for instance in started:
        await c.completed(instance)
    worker.stop()
    equal(sorted(seen), [(n, "card", 3) for n in range(5)], "what the worker saw")
    found = only(await c.variables(processInstanceKey=started[4].process_instance_key, name="collected"), "variables")
    equal(found.value, "8", "the worker's variable")


@scenario("await a result")
async def result(c):
    waiting = asyncio.create_task(c.start("decide", {"amount": 250}, awaitCompletion=True, requestTimeout=10_000))
    await c.complete(await c.job("check"), {"limit": 100})
    await c.complete(await c.job("approve"), {"approved": True})
    large = await waiting
    equal(large.variables.to_dict(), {"amount": 250, "limit": 100, "approved": True}, "variables of the large one")

    waiting = asyncio.create_task(c.start("decide", {"amount": 5}, awaitCompletion=True, fetchVariables=["limit"]))
    await c.complete(await c.job("check"), {"limit": 100})
    equal((await waiting).variables.to_dict(), {"limit": 100}, "fetched variables of the small one")


@scenario("a result that does not come in time")
async def no_result(c):
    await refused(504, c.start("decide", {"amount": 1}, awaitCompletion=True, requestTimeout=200))
    left = only(await c.instances(processDefinitionId="decide", state="ACTIVE"), "running instances")
    await c.cancel(left)


@scenario("work side by side inside a sub-process")
async def parallel(c):
    started = await c.start("ship", {"items": ["a", "b"]})
    pack, label = await c.job("pack"), await c.job("label")
    equal(pack.variables.to_dict()["content"], ["a", "b"], "the mapped input")
    await c.complete(label, {})
    equal(await c.state(started), "ACTIVE", "state while one of two tasks is open")
    await c.complete(pack, {"weight": 2})
    equal(await c.state(started), "COMPLETED", "state")
    elements = await c.elements(processInstanceKey=started.process_instance_key, type="SUB_PROCESS")
    equal(only(elements, "sub-processes").state, "COMPLETED", "state of the sub-process")
    scope = started.process_instance_key
    names = {v.name for v in await c.variables(processInstanceKey=scope, scopeKey=scope)}
    equal(names, {"items", "weight"}, "variables of the instance itself")


@scenario("fail and try again")
async def retry(c):
    started = await c.start("order", {"amount": 1})
    first = await c.job("collect-money")
    await c.fail(first, 1, "try again")
    second = await c.job("collect-money")
    equal((second.job_key, second.retries), (first.job_key, 1), "the job that came back")
    await c.complete(second, {})
    equal(await c.state(started), "COMPLETED", "state")


@scenario("fail until an incident, then resolve it")
async def incident(c):
    started = await c.start("order", {"amount": 1})
    job = await c.job("collect-money")
    await c.fail(job, 0, "no money")
    trouble = only(await c.incidents(processInstanceKey=started.process_instance_key), "incidents")
    equal((trouble.error_type, trouble.state, trouble.job_key), ("JOB_NO_RETRIES", "ACTIVE", job.job_key), "incident")
    equal((await c.client.get_process_instance(started.process_instance_key)).has_incident, True, "hasIncident")
    await c.set_retries(job, 1)
    await c.client.resolve_incident(trouble.incident_key)
    equal((await c.client.get_incident(trouble.incident_key)).state, "RESOLVED", "incident after resolving")
    await c.complete(await c.job("collect-money"), {})
    equal(await c.state(started), "COMPLETED", "state")


@scenario("throw an error nobody catches, then resolve it")
async def error(c):
    started = await c.start("order", {"amount": 1})
    job = await c.job("collect-money")
    await c.client.throw_job_error(job.job_key, data=sdk.JobErrorRequest.from_dict({"errorCode": "no-such-card"}))
    trouble = only(await c.incidents(processInstanceKey=started.process_instance_key), "incidents")
    equal(trouble.error_type, "UNHANDLED_ERROR_EVENT", "incident")
    await c.set_retries(job, 1)
    await c.client.resolve_incident(trouble.incident_key)
    await c.complete(await c.job("collect-money"), {})
    equal(await c.state(started), "COMPLETED", "state")


@scenario("cancel")
async def cancel(c):
    started = await c.start("order", {"amount": 1})
    await c.cancel(started)
    equal(await c.state(started), "TERMINATED", "state")
    equal(only(await c.jobs(processInstanceKey=started.process_instance_key), "jobs").state, "CANCELED", "state of its job")
    await refused(404, c.cancel(started))


@scenario("search sees every effect at once")
async def search(c):
    for n in range(20):
        started = await c.start("order", {"amount": n})
        key = started.process_instance_key
        equal(only(await c.instances(processInstanceKey=key), "instances").state, "ACTIVE", "state at once")
        equal(only(await c.variables(processInstanceKey=key), "variables").value, str(n), "variable at once")
        created = only(await c.jobs(processInstanceKey=key), "jobs")
        equal(created.state, "CREATED", "job at once")
        await c.client.complete_job(created.job_key)
        equal(only(await c.instances(processInstanceKey=key), "instances").state, "COMPLETED", "end at once")


@scenario("set variables of a running instance")
async def variables(c):
    started = await c.start("order", {"amount": 1})
    data = sdk.SetVariableRequest.from_dict({"variables": {"amount": 7}})
    await c.client.create_element_instance_variables(started.process_instance_key, data=data)
    job = await c.job("collect-money")
    equal(job.variables.to_dict(), {"amount": 7}, "variables of the job")
    await c.complete(job, {})


@scenario("people find, claim, change and complete a task")
async def user_task(c):
    await c.client.deploy_resources_from_files([fixture("opinion.form"), fixture("review.bpmn")])
    started = await c.start("review", {"text": "a"})
    key = started.process_instance_key
    task = only(await c.tasks(processInstanceKey=key, candidateGroup="editors", state="CREATED"), "tasks of editors")
    equal((task.element_id, task.assignee, task.priority, task.candidate_groups), ("read", None, 70, ["editors"]), "the task")
    claim = sdk.UserTaskAssignmentRequest.from_dict({"assignee": "ann", "allowOverride": False})
    await c.client.assign_user_task(task.user_task_key, data=claim)
    other = sdk.UserTaskAssignmentRequest.from_dict({"assignee": "bob", "allowOverride": False})
    await refused(409, c.client.assign_user_task(task.user_task_key, data=other))
    equal(only(await c.tasks(processInstanceKey=key, assignee="ann"), "tasks of ann").user_task_key, task.user_task_key, "her task")
    await c.client.unassign_user_task(task.user_task_key)
    equal(await c.tasks(processInstanceKey=key, assignee="ann"), [], "tasks of ann afterwards")
    update = sdk.UserTaskUpdateRequest.from_dict({"changeset": {"priority": 20, "candidateUsers": ["bob"]}})
    await c.client.update_user_task(task.user_task_key, data=update)
    changed = await c.client.get_user_task(task.user_task_key)
    equal((changed.priority, changed.candidate_users), (20, ["bob"]), "what was changed")
    done = sdk.UserTaskCompletionRequest.from_dict({"variables": {"opinion": "good"}})
    await c.client.complete_user_task(task.user_task_key, data=done)
    equal((await c.client.get_user_task(task.user_task_key)).state, "COMPLETED", "state of the task")
    equal(await c.state(started), "COMPLETED", "state")
    equal(only(await c.variables(processInstanceKey=key, name="opinion"), "variables").value, '"good"', "what was said")
    await refused(404, c.client.complete_user_task(task.user_task_key, data=done))


@scenario("a task shows its form and variables")
async def form(c):
    started = await c.start("review", {"text": "a"})
    task = only(await c.tasks(processInstanceKey=started.process_instance_key), "tasks")
    shown = await c.client.get_user_task_form(task.user_task_key)
    equal((shown.form_id, shown.version), ("opinion", 1), "form")
    with open(fixture("opinion.form"), encoding="utf-8") as file:
        equal(shown.schema, file.read(), "the form as it was deployed")
    query = sdk.UserTaskVariableSearchQueryRequest.from_dict({"filter": {"name": "text"}})
    seen = await c.client.search_user_task_variables(task.user_task_key, data=query)
    equal(only(seen.items, "variables").value, '"a"', "what the task is about")
    await c.cancel(started)
    equal((await c.client.get_user_task(task.user_task_key)).state, "CANCELED", "state of the task")


@scenario("listeners are heard before and after a task")
async def execution_listeners(c):
    await c.client.deploy_resources_from_files([fixture("listened.bpmn")])
    started = await c.start("listened", {})
    before = await c.job("before-print")
    equal((before.kind, before.listener_event_type), ("EXECUTION_LISTENER", "START"), "the listener before it")
    equal(await c.jobs(processInstanceKey=started.process_instance_key, type="print"), [], "jobs of the task meanwhile")
    await c.complete(before, {"paper": "white"})
    printing = await c.job("print")
    equal(printing.variables.to_dict(), {"paper": "white"}, "what the listener has set")
    await c.complete(printing, {})
    after = await c.job("after-print")
    equal((after.kind, after.listener_event_type), ("EXECUTION_LISTENER", "END"), "the listener after it")
    equal(await c.tasks(processInstanceKey=started.process_instance_key), [], "the next task meanwhile")
    await c.complete(after, {})
    equal(only(await c.tasks(processInstanceKey=started.process_instance_key), "tasks").state, "CREATED", "the next task")
    await c.cancel(started)


@scenario("a task listener denies, then lets pass")
async def task_listener(c):
    started = await c.start("listened", {})
    for job_type in ("before-print", "print", "after-print"):
        await c.complete(await c.job(job_type), {})
    task = only(await c.tasks(processInstanceKey=started.process_instance_key), "tasks")

    def completing():
        data = sdk.UserTaskCompletionRequest.from_dict({"variables": {}})
        return asyncio.create_task(c.client.complete_user_task(task.user_task_key, data=data))

    async def answer(result):
        job = await c.job("check-signature")
        equal((job.kind, job.listener_event_type), ("TASK_LISTENER", "COMPLETING"), "the listener")
        data = sdk.JobCompletionRequest.from_dict({"result": {"type": "userTask", **result}})
        await c.client.complete_job(job.job_key, data=data)

    waiting = completing()
    await answer({"denied": True, "deniedReason": "not yours"})
    await refused(409, waiting)
    equal((await c.client.get_user_task(task.user_task_key)).state, "CREATED", "state after it was denied")
    waiting = completing()
    await answer({"corrections": {"priority": 90}})
    await waiting
    done = await c.client.get_user_task(task.user_task_key)
    equal((done.state, done.priority), ("COMPLETED", 90), "state and corrected priority")
    equal(await c.state(started), "COMPLETED", "state")


@scenario("move a running instance to another task")
async def modify(c):
    await c.client.deploy_resources_from_files([fixture("route.bpmn"), fixture("route-anew.bpmn")])
    started = await c.start("route", {})
    equal(await c.at(started), ["first"], "where it waits")
    at_first = only(await c.elements(processInstanceKey=started.process_instance_key, elementId="first"), "elements")
    body = {
        "activateInstructions": [{"elementId": "second", "variableInstructions": [{"variables": {"moved": True}}]}],
        "terminateInstructions": [{"elementInstanceKey": at_first.element_instance_key}],
    }
    change = sdk.ProcessInstanceModificationInstruction.from_dict(body)
    await c.client.modify_process_instance(started.process_instance_key, data=change)
    equal(await c.at(started), ["second"], "where it waits now")
    job = await c.job("second")
    equal(job.variables.to_dict(), {"moved": True}, "variables of the job")
    await c.complete(job, {})
    equal(await c.state(started), "COMPLETED", "state")
    await refused(404, c.client.modify_process_instance(started.process_instance_key, data=change))


@scenario("migrate a running instance to another process")
async def migrate(c):
    found = await c.found(c.client.search_process_definitions, sdk.ProcessDefinitionSearchQuery, {"processDefinitionId": "route-anew"})
    target = only(found, "definitions").process_definition_key
    started = await c.start("route", {"kept": 1})

    def to(element):
        mapping = [{"sourceElementId": "first", "targetElementId": element}]
        body = {"targetProcessDefinitionKey": target, "mappingInstructions": mapping}
        plan = sdk.ProcessInstanceMigrationInstruction.from_dict(body)
        return c.client.migrate_process_instance(started.process_instance_key, data=plan)

    await refused(400, to("nowhere"))
    await to("one")
    equal(await c.at(started), ["one"], "where it waits now")
    # The job is the one that was there, with the type it had.
    await c.complete(await c.job("first"), {})
    job = await c.job("two")
    equal((job.process_definition_id, job.variables.to_dict()), ("route-anew", {"kept": 1}), "the next job")
    await c.complete(job, {})
    equal(await c.state(started), "COMPLETED", "state")


@scenario("cancel many at once, and see what became of each")
async def batch(c):
    started = [await c.start("route", {}) for _ in range(5)]
    keys = [instance.process_instance_key for instance in started]
    filters = {"filter": {"processInstanceKey": {"$in": keys}}}
    data = sdk.ProcessInstanceCancellationBatchOperationRequest.from_dict(filters)
    begun = await c.client.cancel_process_instances_batch_operation(data=data)
    equal(begun.batch_operation_type, "CANCEL_PROCESS_INSTANCE", "type")

    async def is_over():
        operation = await c.client.get_batch_operation(begun.batch_operation_key)
        return operation if operation.state == "COMPLETED" else None

    operation = await until(is_over, "the operation is over")
    counts = (operation.operations_total_count, operation.operations_completed_count, operation.operations_failed_count)
    equal(counts, (5, 5, 0), "counts")
    items = await c.found(
        c.client.search_batch_operation_items, sdk.BatchOperationItemSearchQuery, {"batchOperationKey": begun.batch_operation_key}
    )
    equal({(item.process_instance_key, item.state) for item in items}, {(key, "COMPLETED") for key in keys}, "items")
    equal({await c.state(instance) for instance in started}, {"TERMINATED"}, "states")
    await refused(404, c.client.cancel_batch_operation("1", data=None))


async def main():
    async with CamundaAsyncClient() as client:
        await run_all(Context(client))


asyncio.run(main())
