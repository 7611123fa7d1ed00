// A worker of JSON workflows written from their contract, with nothing but what Node brings: REST on `/v1`.
//
// It finds the server by CAMUNDA_REST_ADDRESS, as the others here do.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'

import { fixture, pause, runAll, scenario, until } from './scenario.mjs'

const REST = process.env.CAMUNDA_REST_ADDRESS ?? 'http://127.0.0.1:8080'

async function call(method, path, body) {
  const init = { method, headers: { 'content-type': 'application/json' } }
  const answer = await fetch(`${REST}/v1${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) })
  const text = await answer.text()
  return { status: answer.status, body: text ? JSON.parse(text) : undefined }
}

async function done(method, path, body) {
  const answer = await call(method, path, body)
  assert.ok(answer.status >= 200 && answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** What a handler throws when another try may help. */
class Retry extends Error {}

/** Polls every 500 ms at the latest, as the contract's own clients do, until it is told to stop. */
function work(handlers) {
  const workerId = `node-${randomUUID()}`
  let stopped = false
  const working = (async () => {
    while (!stopped) {
      const poll = { workerId, jobTypes: Object.keys(handlers), maxJobs: 10, leaseSeconds: 60 }
      const { jobs } = await done('POST', '/jobs/poll', poll)
      for (const job of jobs) {
        try {
          const variables = handlers[job.jobType](job)
          await done('POST', `/jobs/${job.id}/complete`, { workerId, variables })
        } catch (error) {
          if (!(error instanceof Retry)) throw error
          await done('POST', `/jobs/${job.id}/fail`, { workerId, retryable: true, errorMessage: error.message })
        }
      }
      if (jobs.length === 0) await pause(50)
    }
  })()
  return async () => {
    stopped = true
    await working
  }
}

const instance = (id) => done('GET', `/instances/${id}`)

async function document(name) {
  return JSON.parse(await readFile(fixture(`../../examples/${name}.json`), 'utf8'))
}

scenario('a loan is checked, approved and paid', async () => {
  const tag = randomUUID().slice(0, 8)
  const [loan, pay] = [await document('loan'), await document('disbursement')]
  loan.id = `loan-${tag}`
  pay.id = loan.nextWorkflowId = `pay-${tag}`
  for (const workflow of [loan, pay]) {
    for (const step of workflow.steps) if (step.type === 'SERVICE_TASK') step.jobType += `-${tag}`
    await done('POST', '/definitions', workflow)
  }
  let tries = 0
  const stop = work({
    [`credit-check-${tag}`]: () => {
      tries += 1
      if (tries === 1) throw new Retry('the bureau is down')
      return { credit: { score: 720 } }
    },
    [`fraud-check-${tag}`]: () => ({ fraud: { suspected: false } }),
    [`pay-${tag}`]: (job) => ({ paid: job.variables.limit }),
  })
  const started = await done('POST', '/instances', { definitionId: loan.id, variables: { amount: 2000 }, businessKey: tag })
  await until(async () => (await instance(started.id)).status === 'COMPLETED', 'the loan ends')
  const paid = await until(
    async () => (await done('GET', `/instances?definitionId=${pay.id}&status=COMPLETED`)).items[0],
    'the loan is paid',
  )
  await stop()
  assert.equal(paid.variables.paid, 2200)
  assert.deepEqual([paid.previousInstanceId, paid.businessKey], [started.id, tag])
  const { items } = await done('GET', `/instances/${started.id}/history`)
  const credit = items.filter((item) => item.stepId === 'credit-check').map((item) => [item.attemptNumber, item.status])
  assert.deepEqual(credit, [[1, 'FAILED'], [2, 'COMPLETED']])
})

scenario('a signal that comes too early is refused, or kept', async () => {
  const id = `early-${randomUUID().slice(0, 8)}`
  const steps = [
    { id: 'first', name: 'First', type: 'SERVICE_TASK', jobType: id, nextStep: 'paid' },
    { id: 'paid', name: 'Paid', type: 'WAIT', nextStep: 'end' },
    { id: 'end', name: 'End', type: 'END' },
  ]
  await done('POST', '/definitions', { id, name: 'Early', steps })
  const started = await done('POST', '/instances', { definitionId: id })
  const early = await call('POST', `/instances/${started.id}/signals/paid`, { sum: 1 })
  assert.equal(early.status, 409)
  assert.equal(early.body.reason, early.body.message)
  await done('POST', `/instances/${started.id}/signals/paid?buffer=true`, { sum: 2 })
  const stop = work({ [id]: () => ({}) })
  await until(async () => (await instance(started.id)).status === 'COMPLETED', 'the instance ends')
  await stop()
  assert.deepEqual((await instance(started.id)).variables, { sum: 2 })
})

await runAll()
