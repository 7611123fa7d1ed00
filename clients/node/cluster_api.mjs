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

await runAll()
