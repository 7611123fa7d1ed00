// @camunda8/orchestration-cluster-api (REST), with its own validation of every request and every answer switched on.
// It finds the server by CAMUNDA_REST_ADDRESS and CAMUNDA_AUTH_STRATEGY.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

import createCamundaClient from '@camunda8/orchestration-cluster-api'

import { fixture, only, refused, runAll, scenario, until } from './scenario.mjs'

const camunda = createCamundaClient({ config: { CAMUNDA_SDK_VALIDATION: 'req:strict,res:strict', CAMUNDA_SDK_LOG_LEVEL: 'error' } })
// The client can wait for reads to catch up. It never has to here: what a command answered is there at once.
const atOnce = { consistency: { waitUpToMs: 0 } }

async function start(processDefinitionId, variables, more = {}) {
  return camunda.createProcessInstance({ processDefinitionId, variables, ...more })
}

/** Takes one job by polling. */
async function job(type) {
  const request = { type, worker: 'poller', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 }
  return only((await camunda.activateJobs(request)).jobs, `jobs of type ${type}`)
}

async function state(processInstanceKey) {
  return (await camunda.getProcessInstance({ processInstanceKey }, atOnce)).state
}

async function incident(processInstanceKey) {
  return only((await camunda.searchIncidents({ filter: { processInstanceKey } }, atOnce)).items, 'incidents')
}

scenario('the server answers topology', async () => {
  assert.equal((await camunda.getTopology()).partitionsCount, 1)
})

scenario('deploy, and deploy the same again', async () => {
  const first = await camunda.deployResourcesFromFiles(['order.bpmn', 'decide.bpmn', 'ship.bpmn'].map(fixture))
  assert.deepEqual(first.processes.map((process) => process.processDefinitionId), ['order', 'decide', 'ship'])
  const again = await camunda.deployResourcesFromFiles([fixture('order.bpmn')])
  assert.equal(again.processes[0].processDefinitionKey, first.processes[0].processDefinitionKey, 'key of the same file')
  const { processDefinitionKey } = first.processes[0]
  const xml = await camunda.getProcessDefinitionXml({ processDefinitionKey }, atOnce)
  assert.equal(xml, await readFile(fixture('order.bpmn'), 'utf8'), 'the file as it was deployed')
})

scenario('deploy and evaluate a decision', async () => {
  const deployed = await camunda.deployResourcesFromFiles([fixture('fees.dmn')])
  assert.deepEqual(deployed.decisions.map((decision) => decision.decisionDefinitionId), ['total', 'fee'])
  const evaluated = await camunda.evaluateDecision({ decisionDefinitionId: 'fee', variables: { amount: 10 } })
  assert.deepEqual([evaluated.output, evaluated.evaluatedDecisions.length], ['5', 2])
  const { decisionEvaluationKey } = evaluated
  const found = await camunda.searchDecisionInstances({ filter: { decisionEvaluationKey } }, atOnce)
  assert.deepEqual(found.items.map((decision) => decision.decisionDefinitionId), ['total', 'fee'])
  const { decisionEvaluationInstanceKey } = found.items[1]
  const fee = await camunda.getDecisionInstance({ decisionEvaluationInstanceKey }, atOnce)
  assert.deepEqual(fee.matchedRules.map((rule) => rule.ruleId), ['small'])
  const definitions = await camunda.searchDecisionDefinitions({ filter: { decisionDefinitionId: 'fee' } }, atOnce)
  assert.equal(only(definitions.items, 'decision definitions').decisionRequirementsId, 'fees')
})

scenario('refuse a broken file', async () => {
  await refused(camunda.deployResourcesFromFiles([fixture('broken.bpmn')]), /400/)
})

scenario('refuse to start what was never deployed', async () => {
  await refused(start('nobody-knows-this', {}), /404/)
})

scenario('work by polling', async () => {
  const seen = []
  const keys = []
  for (let amount = 0; amount < 5; amount++) keys.push((await start('order', { amount })).processInstanceKey)
  const worker = camunda.createJobWorker({
    jobType: 'collect-money',
    workerName: 'cluster-api',
    jobTimeoutMs: 60_000,
    maxParallelJobs: 3,
    pollTimeoutMs: 2_000,
    jobHandler: (job) => {
      seen.push([job.variables.amount, job.customHeaders.method, job.retries])
      return job.complete({ collected: job.variables.amount * 2 })
    },
  })
  for (const key of keys) await until(async () => (await state(key)) === 'COMPLETED', `instance ${key} completed`)
  worker.stop()
  assert.deepEqual(seen.sort(), [0, 1, 2, 3, 4].map((amount) => [amount, 'card', 3]))
  const found = await camunda.searchVariables({ filter: { processInstanceKey: keys[4], name: 'collected' } }, atOnce)
  assert.equal(only(found.items, 'variables').value, '8')
})

scenario('await a result', async () => {
  const large = start('decide', { amount: 250 }, { awaitCompletion: true, requestTimeout: 10_000 })
  await camunda.completeJob({ jobKey: (await job('check')).jobKey, variables: { limit: 100 } })
  await camunda.completeJob({ jobKey: (await job('approve')).jobKey, variables: { approved: true } })
  assert.deepEqual((await large).variables, { amount: 250, limit: 100, approved: true })
  const small = start('decide', { amount: 5 }, { awaitCompletion: true, fetchVariables: ['limit'] })
  await camunda.completeJob({ jobKey: (await job('check')).jobKey, variables: { limit: 100 } })
  assert.deepEqual((await small).variables, { limit: 100 })
})

scenario('work side by side inside a sub-process', async () => {
  const { processInstanceKey } = await start('ship', { items: ['a', 'b'] })
  const pack = await job('pack')
  const label = await job('label')
  assert.deepEqual(pack.variables.content, ['a', 'b'], 'the mapped input')
  await camunda.completeJob({ jobKey: label.jobKey })
  assert.equal(await state(processInstanceKey), 'ACTIVE', 'one of two tasks is open')
  await camunda.completeJob({ jobKey: pack.jobKey, variables: { weight: 2 } })
  assert.equal(await state(processInstanceKey), 'COMPLETED')
  const found = await camunda.searchElementInstances({ filter: { processInstanceKey, type: 'SUB_PROCESS' } }, atOnce)
  assert.equal(only(found.items, 'sub-processes').state, 'COMPLETED')
})

scenario('fail and try again', async () => {
  const { processInstanceKey } = await start('order', { amount: 1 })
  const first = await job('collect-money')
  await camunda.failJob({ jobKey: first.jobKey, retries: 1, errorMessage: 'try again' })
  const second = await job('collect-money')
  assert.deepEqual([second.jobKey, second.retries], [first.jobKey, 1], 'the job that came back')
  await camunda.completeJob({ jobKey: second.jobKey })
  assert.equal(await state(processInstanceKey), 'COMPLETED')
})

scenario('fail until an incident, then resolve it', async () => {
  const { processInstanceKey } = await start('order', { amount: 1 })
  const { jobKey } = await job('collect-money')
  await camunda.failJob({ jobKey, retries: 0, errorMessage: 'no money' })
  const trouble = await incident(processInstanceKey)
  assert.deepEqual([trouble.errorType, trouble.state, trouble.jobKey], ['JOB_NO_RETRIES', 'ACTIVE', jobKey])
  await camunda.updateJob({ jobKey, changeset: { retries: 1 } })
  await camunda.resolveIncident({ incidentKey: trouble.incidentKey })
  assert.equal((await incident(processInstanceKey)).state, 'RESOLVED')
  await camunda.completeJob({ jobKey: (await job('collect-money')).jobKey })
  assert.equal(await state(processInstanceKey), 'COMPLETED')
})

scenario('throw an error nobody catches, then resolve it', async () => {
  const { processInstanceKey } = await start('order', { amount: 1 })
  const { jobKey } = await job('collect-money')
  await camunda.throwJobError({ jobKey, errorCode: 'no-such-card' })
  const trouble = await incident(processInstanceKey)
  assert.equal(trouble.errorType, 'UNHANDLED_ERROR_EVENT')
  await camunda.updateJob({ jobKey, changeset: { retries: 1 } })
  await camunda.resolveIncident({ incidentKey: trouble.incidentKey })
  await camunda.completeJob({ jobKey: (await job('collect-money')).jobKey })
  assert.equal(await state(processInstanceKey), 'COMPLETED')
})

scenario('search sees every effect at once', async () => {
  for (let amount = 0; amount < 20; amount++) {
    const { processInstanceKey } = await start('order', { amount })
    const filter = { processInstanceKey }
    assert.equal(only((await camunda.searchProcessInstances({ filter }, atOnce)).items, 'instances').state, 'ACTIVE')
    assert.equal(only((await camunda.searchVariables({ filter }, atOnce)).items, 'variables').value, `${amount}`)
    const { jobKey, state } = only((await camunda.searchJobs({ filter }, atOnce)).items, 'jobs')
    assert.equal(state, 'CREATED')
    await camunda.completeJob({ jobKey })
    assert.equal(only((await camunda.searchProcessInstances({ filter }, atOnce)).items, 'instances').state, 'COMPLETED')
  }
})

scenario('cancel', async () => {
  const { processInstanceKey } = await start('order', { amount: 1 })
  await camunda.cancelProcessInstance({ processInstanceKey })
  assert.equal(await state(processInstanceKey), 'TERMINATED')
  await refused(camunda.cancelProcessInstance({ processInstanceKey }), /404/)
})

/** Where an instance waits. */
async function waitsAt(processInstanceKey) {
  const filter = { processInstanceKey, state: 'ACTIVE', type: 'SERVICE_TASK' }
  return (await camunda.searchElementInstances({ filter }, atOnce)).items.map((element) => element.elementId)
}

async function tasks(filter) {
  return (await camunda.searchUserTasks({ filter }, atOnce)).items
}

scenario('people find, claim, change and complete a task', async () => {
  await camunda.deployResourcesFromFiles(['opinion.form', 'review.bpmn'].map(fixture))
  const { processInstanceKey } = await start('review', { text: 'a' })
  const task = only(await tasks({ processInstanceKey, candidateGroup: 'editors', state: 'CREATED' }), 'tasks of editors')
  assert.deepEqual([task.elementId, task.priority, task.candidateGroups], ['read', 70, ['editors']])
  const { userTaskKey } = task
  await camunda.assignUserTask({ userTaskKey, assignee: 'ann', allowOverride: false })
  await refused(camunda.assignUserTask({ userTaskKey, assignee: 'bob', allowOverride: false }), /409/)
  assert.equal(only(await tasks({ processInstanceKey, assignee: 'ann' }), 'tasks of ann').userTaskKey, userTaskKey)
  await camunda.unassignUserTask({ userTaskKey })
  assert.deepEqual(await tasks({ processInstanceKey, assignee: 'ann' }), [])
  await camunda.updateUserTask({ userTaskKey, changeset: { priority: 20, candidateUsers: ['bob'] } })
  const changed = await camunda.getUserTask({ userTaskKey }, atOnce)
  assert.deepEqual([changed.priority, changed.candidateUsers], [20, ['bob']])
  await camunda.completeUserTask({ userTaskKey, variables: { opinion: 'good' } })
  assert.equal((await camunda.getUserTask({ userTaskKey }, atOnce)).state, 'COMPLETED')
  assert.equal(await state(processInstanceKey), 'COMPLETED')
  const said = await camunda.searchVariables({ filter: { processInstanceKey, name: 'opinion' } }, atOnce)
  assert.equal(only(said.items, 'variables').value, '"good"')
  await refused(camunda.completeUserTask({ userTaskKey }), /404/)
})

scenario('a task shows its form and variables', async () => {
  const { processInstanceKey } = await start('review', { text: 'a' })
  const { userTaskKey } = only(await tasks({ processInstanceKey }), 'tasks')
  const shown = await camunda.getUserTaskForm({ userTaskKey }, atOnce)
  assert.deepEqual([shown.formId, shown.version], ['opinion', 1])
  assert.equal(shown.schema, await readFile(fixture('opinion.form'), 'utf8'), 'the form as it was deployed')
  const seen = await camunda.searchUserTaskVariables({ userTaskKey, filter: { name: 'text' } }, atOnce)
  assert.equal(only(seen.items, 'variables').value, '"a"')
  await camunda.cancelProcessInstance({ processInstanceKey })
  assert.equal((await camunda.getUserTask({ userTaskKey }, atOnce)).state, 'CANCELED')
})

scenario('listeners are heard before and after a task', async () => {
  await camunda.deployResourcesFromFiles([fixture('listened.bpmn')])
  const { processInstanceKey } = await start('listened', {})
  const before = await job('before-print')
  assert.deepEqual([before.kind, before.listenerEventType], ['EXECUTION_LISTENER', 'START'])
  const printed = await camunda.searchJobs({ filter: { processInstanceKey, type: 'print' } }, atOnce)
  assert.deepEqual(printed.items, [], 'jobs of the task meanwhile')
  await camunda.completeJob({ jobKey: before.jobKey, variables: { paper: 'white' } })
  const printing = await job('print')
  assert.deepEqual(printing.variables, { paper: 'white' }, 'what the listener has set')
  await camunda.completeJob({ jobKey: printing.jobKey })
  const after = await job('after-print')
  assert.deepEqual([after.kind, after.listenerEventType], ['EXECUTION_LISTENER', 'END'])
  assert.deepEqual(await tasks({ processInstanceKey }), [], 'the next task meanwhile')
  await camunda.completeJob({ jobKey: after.jobKey })
  assert.equal(only(await tasks({ processInstanceKey }), 'tasks').state, 'CREATED')
  await camunda.cancelProcessInstance({ processInstanceKey })
})

scenario('a task listener denies, then lets pass', async () => {
  const { processInstanceKey } = await start('listened', {})
  for (const type of ['before-print', 'print', 'after-print']) await camunda.completeJob({ jobKey: (await job(type)).jobKey })
  const { userTaskKey } = only(await tasks({ processInstanceKey }), 'tasks')
  const answer = async (result) => {
    const asked = await job('check-signature')
    assert.deepEqual([asked.kind, asked.listenerEventType], ['TASK_LISTENER', 'COMPLETING'])
    await camunda.completeJob({ jobKey: asked.jobKey, result: { type: 'userTask', ...result } })
  }
  const denied = refused(camunda.completeUserTask({ userTaskKey }), /409/)
  await answer({ denied: true, deniedReason: 'not yours' })
  await denied
  assert.equal((await camunda.getUserTask({ userTaskKey }, atOnce)).state, 'CREATED')
  const completed = camunda.completeUserTask({ userTaskKey })
  await answer({ corrections: { priority: 90 } })
  await completed
  const done = await camunda.getUserTask({ userTaskKey }, atOnce)
  assert.deepEqual([done.state, done.priority], ['COMPLETED', 90])
  assert.equal(await state(processInstanceKey), 'COMPLETED')
})

scenario('move a running instance to another task', async () => {
  await camunda.deployResourcesFromFiles(['route.bpmn', 'route-anew.bpmn'].map(fixture))
  const { processInstanceKey } = await start('route', {})
  const found = await camunda.searchElementInstances({ filter: { processInstanceKey, elementId: 'first' } }, atOnce)
  const { elementInstanceKey } = only(found.items, 'elements')
  const change = {
    processInstanceKey,
    activateInstructions: [{ elementId: 'second', variableInstructions: [{ variables: { moved: true } }] }],
    terminateInstructions: [{ elementInstanceKey }],
  }
  await camunda.modifyProcessInstance(change)
  assert.deepEqual(await waitsAt(processInstanceKey), ['second'])
  const moved = await job('second')
  assert.deepEqual(moved.variables, { moved: true })
  await camunda.completeJob({ jobKey: moved.jobKey })
  assert.equal(await state(processInstanceKey), 'COMPLETED')
  await refused(camunda.modifyProcessInstance(change), /404/)
})

scenario('migrate a running instance to another process', async () => {
  const definitions = await camunda.searchProcessDefinitions({ filter: { processDefinitionId: 'route-anew' } }, atOnce)
  const targetProcessDefinitionKey = only(definitions.items, 'definitions').processDefinitionKey
  const { processInstanceKey } = await start('route', { kept: 1 })
  const to = (targetElementId) => {
    const mappingInstructions = [{ sourceElementId: 'first', targetElementId }]
    return camunda.migrateProcessInstance({ processInstanceKey, targetProcessDefinitionKey, mappingInstructions })
  }
  await refused(to('nowhere'), /400/)
  await to('one')
  assert.deepEqual(await waitsAt(processInstanceKey), ['one'])
  // The job is the one that was there, with the type it had.
  await camunda.completeJob({ jobKey: (await job('first')).jobKey })
  const next = await job('two')
  assert.deepEqual([next.processDefinitionId, next.variables], ['route-anew', { kept: 1 }])
  await camunda.completeJob({ jobKey: next.jobKey })
  assert.equal(await state(processInstanceKey), 'COMPLETED')
})

scenario('cancel many at once, and see what became of each', async () => {
  const keys = []
  for (let number = 0; number < 5; number++) keys.push((await start('route', {})).processInstanceKey)
  const begun = await camunda.cancelProcessInstancesBatchOperation({ filter: { processInstanceKey: { $in: keys } } })
  assert.equal(begun.batchOperationType, 'CANCEL_PROCESS_INSTANCE')
  const { batchOperationKey } = begun
  const over = await until(async () => {
    const operation = await camunda.getBatchOperation({ batchOperationKey }, atOnce)
    return operation.state === 'COMPLETED' && operation
  }, 'the operation is over')
  assert.deepEqual([over.operationsTotalCount, over.operationsCompletedCount, over.operationsFailedCount], [5, 5, 0])
  const items = (await camunda.searchBatchOperationItems({ filter: { batchOperationKey } }, atOnce)).items
  assert.deepEqual(items.map((item) => [item.processInstanceKey, item.state]).sort(), keys.map((key) => [key, 'COMPLETED']).sort())
  for (const key of keys) assert.equal(await state(key), 'TERMINATED')
})

await runAll()
