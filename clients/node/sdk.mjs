// @camunda8/sdk: the gRPC client with polling and streaming workers, and the REST client beside it.
// It finds the server by ZEEBE_GRPC_ADDRESS, ZEEBE_REST_ADDRESS and CAMUNDA_AUTH_STRATEGY.

import assert from 'node:assert/strict'

import { Camunda8 } from '@camunda8/sdk'

import { fixture, only, refused, runAll, scenario, until } from './scenario.mjs'

const camunda = new Camunda8({ zeebeGrpcSettings: { ZEEBE_CLIENT_LOG_LEVEL: 'NONE' }, CAMUNDA_LOG_LEVEL: 'none' })
const grpc = camunda.getZeebeGrpcApiClient()
const rest = camunda.getCamundaRestClient()

async function start(bpmnProcessId, variables) {
  return (await grpc.createProcessInstance({ bpmnProcessId, variables })).processInstanceKey
}

/** Takes one job by polling. */
async function job(type) {
  const request = { type, worker: 'poller', timeout: 60_000, maxJobsToActivate: 1, requestTimeout: 10_000 }
  return only(await grpc.activateJobs(request), `jobs of type ${type}`)
}

async function state(processInstanceKey) {
  const found = await rest.searchProcessInstances({ filter: { processInstanceKey } })
  return only(found.items, 'instances').state
}

function completed(key) {
  return until(async () => (await state(key)) === 'COMPLETED', `instance ${key} completed`)
}

async function incident(processInstanceKey) {
  const found = await rest.searchIncidents({ filter: { processInstanceKey } })
  return only(found.items, 'incidents')
}

scenario('the server answers topology on both surfaces', async () => {
  assert.equal((await grpc.topology()).partitionsCount, 1)
  assert.equal((await rest.getTopology()).partitionsCount, 1)
})

// The two surfaces name a file differently (its name, its path), and the name is part of what makes a file the same.
scenario('deploy, and deploy the same again, gRPC', async () => {
  const first = await grpc.deployResource({ processFilename: fixture('order.bpmn') })
  assert.equal(first.deployments[0].process.bpmnProcessId, 'order')
  const again = await grpc.deployResource({ processFilename: fixture('order.bpmn') })
  assert.deepEqual(again.deployments[0].process, first.deployments[0].process)
})

scenario('deploy, and deploy the same again, REST', async () => {
  const files = ['order.bpmn', 'decide.bpmn', 'ship.bpmn'].map(fixture)
  const first = await rest.deployResourcesFromFiles(files)
  assert.deepEqual(first.processes.map((process) => process.processDefinitionId), ['order', 'decide', 'ship'])
  const again = await rest.deployResourcesFromFiles(files)
  const keys = (deployed) => deployed.processes.map((process) => process.processDefinitionKey)
  assert.deepEqual(keys(again), keys(first))
})

scenario('deploy and evaluate a decision', async () => {
  const deployed = await grpc.deployResource({ decisionFilename: fixture('fees.dmn') })
  assert.equal(deployed.deployments[0].decision.dmnDecisionId, 'total')
  const evaluated = await grpc.evaluateDecision({ decisionId: 'fee', variables: { amount: 10 } })
  assert.equal(evaluated.decisionOutput, '5')
  assert.deepEqual(evaluated.evaluatedDecisions.map((decision) => decision.decisionId), ['total', 'fee'])
  const large = await rest.evaluateDecision({ decisionDefinitionId: 'fee', variables: { amount: 50 } })
  assert.deepEqual([large.output, large.evaluatedDecisions[1].matchedRules[0].ruleId], ['1', 'large'])
})

scenario('refuse a broken file', async () => {
  await refused(grpc.deployResource({ processFilename: fixture('broken.bpmn') }), /INVALID_ARGUMENT/)
  await refused(rest.deployResourcesFromFiles([fixture('broken.bpmn')]), /400/)
})

scenario('refuse to start what was never deployed', async () => {
  await refused(start('nobody-knows-this', {}), /NOT_FOUND/)
  await refused(rest.createProcessInstance({ processDefinitionId: 'nobody-knows-this', variables: {} }), /404/)
})

scenario('work by polling, gRPC', async () => {
  const seen = []
  const keys = []
  for (let amount = 0; amount < 5; amount++) keys.push(await start('order', { amount }))
  const worker = grpc.createWorker({
    taskType: 'collect-money',
    taskHandler: (job) => {
      seen.push([job.variables.amount, job.customHeaders.method, job.retries])
      return job.complete({ collected: job.variables.amount * 2 })
    },
  })
  for (const key of keys) await completed(key)
  await worker.close()
  assert.deepEqual(seen.sort(), [0, 1, 2, 3, 4].map((amount) => [amount, 'card', 3]))
  const found = await rest.searchVariables({ filter: { processInstanceKey: keys[4], name: 'collected' } })
  assert.equal(only(found.items, 'variables').value, '8')
})

scenario('work by polling, REST', async () => {
  const keys = []
  for (let amount = 0; amount < 5; amount++) {
    keys.push((await rest.createProcessInstance({ processDefinitionId: 'order', variables: { amount } })).processInstanceKey)
  }
  const worker = rest.createJobWorker({
    type: 'collect-money',
    worker: 'rest-worker',
    timeout: 60_000,
    maxJobsToActivate: 3,
    requestTimeout: 2_000,
    jobHandler: (job) => job.complete({ collected: job.variables.amount }),
  })
  for (const key of keys) await completed(key)
  await worker.stop()
})

scenario('work by streaming', async () => {
  const seen = new Set()
  const stream = await grpc.streamJobs({
    type: 'collect-money',
    worker: 'streamer',
    timeout: 60_000,
    pollInterval: -1,
    taskHandler: (job) => {
      seen.add(job.processInstanceKey)
      return job.complete({ by: 'stream' })
    },
  })
  const keys = []
  for (let amount = 0; amount < 20; amount++) keys.push(await start('order', { amount }))
  for (const key of keys) await completed(key)
  stream.close()
  assert.equal(seen.size, keys.length, 'jobs pushed')
})

scenario('await a result', async () => {
  const workers = [
    grpc.createWorker({ taskType: 'check', taskHandler: (job) => job.complete({ limit: 100 }) }),
    grpc.createWorker({ taskType: 'approve', taskHandler: (job) => job.complete({ approved: true }) }),
  ]
  const large = await grpc.createProcessInstanceWithResult({ bpmnProcessId: 'decide', variables: { amount: 250 }, requestTimeout: 10_000 })
  assert.deepEqual({ ...large.variables }, { amount: 250, limit: 100, approved: true })
  const small = await rest.createProcessInstanceWithResult({
    processDefinitionId: 'decide',
    variables: { amount: 5 },
    fetchVariables: ['limit'],
    requestTimeout: 10_000,
  })
  assert.deepEqual({ ...small.variables }, { limit: 100 })
  await Promise.all(workers.map((worker) => worker.close()))
})

scenario('work side by side inside a sub-process', async () => {
  const key = await start('ship', { items: ['a', 'b'] })
  const pack = await job('pack')
  const label = await job('label')
  assert.deepEqual(pack.variables.content, ['a', 'b'], 'the mapped input')
  await grpc.completeJob({ jobKey: label.key, variables: {} })
  assert.equal(await state(key), 'ACTIVE', 'one of two tasks is open')
  await grpc.completeJob({ jobKey: pack.key, variables: { weight: 2 } })
  assert.equal(await state(key), 'COMPLETED')
})

scenario('fail and try again', async () => {
  const key = await start('order', { amount: 1 })
  const first = await job('collect-money')
  await grpc.failJob({ jobKey: first.key, retries: 1, errorMessage: 'try again', retryBackOff: 0 })
  const second = await job('collect-money')
  assert.deepEqual([second.key, second.retries], [first.key, 1], 'the job that came back')
  await grpc.completeJob({ jobKey: second.key, variables: {} })
  assert.equal(await state(key), 'COMPLETED')
})

scenario('fail until an incident, then resolve it', async () => {
  const key = await start('order', { amount: 1 })
  const failing = await job('collect-money')
  await grpc.failJob({ jobKey: failing.key, retries: 0, errorMessage: 'no money', retryBackOff: 0 })
  const trouble = await incident(key)
  assert.deepEqual([trouble.errorType, trouble.state, trouble.jobKey], ['JOB_NO_RETRIES', 'ACTIVE', failing.key])
  await grpc.updateJobRetries({ jobKey: failing.key, retries: 1 })
  await grpc.resolveIncident({ incidentKey: trouble.incidentKey })
  assert.equal((await incident(key)).state, 'RESOLVED')
  await grpc.completeJob({ jobKey: (await job('collect-money')).key, variables: {} })
  assert.equal(await state(key), 'COMPLETED')
})

scenario('throw an error nobody catches, then resolve it', async () => {
  const key = await start('order', { amount: 1 })
  const failing = await job('collect-money')
  await grpc.throwError({ jobKey: failing.key, errorCode: 'no-such-card', errorMessage: 'refused' })
  const trouble = await incident(key)
  assert.equal(trouble.errorType, 'UNHANDLED_ERROR_EVENT')
  await rest.updateJob({ jobKey: failing.key, retries: 1 })
  await rest.resolveIncident(trouble.incidentKey)
  await grpc.completeJob({ jobKey: (await job('collect-money')).key, variables: {} })
  assert.equal(await state(key), 'COMPLETED')
})

scenario('set variables of a running instance', async () => {
  const key = await start('order', { amount: 1 })
  await grpc.setVariables({ elementInstanceKey: key, variables: { amount: 7 }, local: false })
  const waiting = await job('collect-money')
  assert.deepEqual({ ...waiting.variables }, { amount: 7 })
  await grpc.completeJob({ jobKey: waiting.key, variables: {} })
})

scenario('cancel', async () => {
  const key = await start('order', { amount: 1 })
  await grpc.cancelProcessInstance(key)
  assert.equal(await state(key), 'TERMINATED')
  await refused(grpc.cancelProcessInstance(key), /NOT_FOUND/)
})

/** Where an instance waits. */
async function waitsAt(processInstanceKey) {
  const found = await rest.searchElementInstances({ filter: { processInstanceKey, state: 'ACTIVE', type: 'SERVICE_TASK' } })
  return only(found.items, 'tasks that wait')
}

async function tasks(filter) {
  return (await rest.searchUserTasks({ filter })).items
}

// Its `updateUserTask` asks for a path that Camunda 8 does not have, so nothing is changed here.
scenario('people find, claim and complete a task', async () => {
  await rest.deployResourcesFromFiles(['opinion.form', 'review.bpmn'].map(fixture))
  const processInstanceKey = await start('review', { text: 'a' })
  const task = only(await tasks({ processInstanceKey, candidateGroup: 'editors', state: 'CREATED' }), 'tasks of editors')
  assert.deepEqual([task.elementId, task.priority, task.candidateGroups], ['read', 70, ['editors']])
  const { userTaskKey } = task
  await rest.assignUserTask({ userTaskKey, assignee: 'ann', allowOverride: false })
  await refused(rest.assignUserTask({ userTaskKey, assignee: 'bob', allowOverride: false }), /409/)
  assert.equal(only(await tasks({ processInstanceKey, assignee: 'ann' }), 'tasks of ann').userTaskKey, userTaskKey)
  await rest.unassignUserTask({ userTaskKey })
  assert.deepEqual(await tasks({ processInstanceKey, assignee: 'ann' }), [])
  const seen = await rest.searchUserTaskVariables({ userTaskKey, filter: { name: 'text' } })
  assert.equal(only(seen.items, 'variables').value, '"a"', 'what the task is about')
  await rest.completeUserTask({ userTaskKey, variables: { opinion: 'good' } })
  assert.equal((await rest.getUserTask(userTaskKey)).state, 'COMPLETED')
  assert.equal(await state(processInstanceKey), 'COMPLETED')
  await refused(rest.completeUserTask({ userTaskKey }), /404/)
})

scenario('listeners are heard before and after a task', async () => {
  await grpc.deployResource({ processFilename: fixture('listened.bpmn') })
  const heard = []
  const hear = (taskType, variables) =>
    grpc.createWorker({
      taskType,
      taskHandler: (job) => {
        heard.push(job.type)
        return job.complete(variables)
      },
    })
  const workers = [hear('before-print', { paper: 'white' }), hear('print', {}), hear('after-print', {})]
  const processInstanceKey = await start('listened', {})
  const task = only(await until(async () => {
    const found = await tasks({ processInstanceKey })
    return found.length > 0 && found
  }, 'the task behind'), 'tasks')
  await Promise.all(workers.map((worker) => worker.close()))
  assert.deepEqual(heard, ['before-print', 'print', 'after-print'])
  const completed = rest.completeUserTask({ userTaskKey: task.userTaskKey })
  await grpc.completeJob({ jobKey: (await job('check-signature')).key, variables: {} })
  await completed
  assert.equal(await state(processInstanceKey), 'COMPLETED')
})

for (const [surface, modify] of [['gRPC', (change) => grpc.modifyProcessInstance(change)], ['REST', (change) => rest.modifyProcessInstance(change)]]) {
  scenario(`move a running instance to another task, ${surface}`, async () => {
    await rest.deployResourcesFromFiles(['route.bpmn', 'route-anew.bpmn'].map(fixture))
    const processInstanceKey = await start('route', {})
    const { elementInstanceKey } = await waitsAt(processInstanceKey)
    await modify({
      processInstanceKey,
      activateInstructions: [{ elementId: 'second', ancestorElementInstanceKey: '-1', variableInstructions: [{ scopeId: '', variables: { moved: true } }] }],
      terminateInstructions: [{ elementInstanceKey }],
    })
    assert.equal((await waitsAt(processInstanceKey)).elementId, 'second')
    const moved = await job('second')
    assert.deepEqual({ ...moved.variables }, { moved: true })
    await grpc.completeJob({ jobKey: moved.key, variables: {} })
    assert.equal(await state(processInstanceKey), 'COMPLETED')
  })
}

const migrations = [
  ['gRPC', (processInstanceKey, plan) => grpc.migrateProcessInstance({ processInstanceKey, migrationPlan: plan })],
  ['REST', (processInstanceKey, plan) => rest.migrateProcessInstance({ processInstanceKey, ...plan })],
]
for (const [surface, migrate] of migrations) {
  scenario(`migrate a running instance to another process, ${surface}`, async () => {
    const definitions = await rest.searchProcessDefinitions({ filter: { processDefinitionId: 'route-anew' } })
    const targetProcessDefinitionKey = only(definitions.items, 'definitions').processDefinitionKey
    const processInstanceKey = await start('route', { kept: 1 })
    const mappingInstructions = [{ sourceElementId: 'first', targetElementId: 'one' }]
    await migrate(processInstanceKey, { targetProcessDefinitionKey, mappingInstructions })
    assert.equal((await waitsAt(processInstanceKey)).elementId, 'one')
    // The job is the one that was there, with the type it had.
    await grpc.completeJob({ jobKey: (await job('first')).key, variables: {} })
    const next = await job('two')
    assert.deepEqual([next.bpmnProcessId, { ...next.variables }], ['route-anew', { kept: 1 }])
    await grpc.completeJob({ jobKey: next.key, variables: {} })
    assert.equal(await state(processInstanceKey), 'COMPLETED')
  })
}

await runAll()
