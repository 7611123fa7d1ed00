// What workers do every day.

import assert from 'node:assert/strict'
import { z } from 'zod'

import { BpmnError, ConflictError, NonRetryableError, Registry, Snooze, type Variables } from '../src/index.js'
import * as json from '../src/json.js'
import { file, scenario, startWork, text, until, WITHIN, working, Server } from './world.js'

scenario('happy path', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler<{ a: number; b: number }>('work', ({ a, b }, context) => {
      assert.equal(context.job.stepId, 'do')
      return { sum: a + b }
    })
    const client = server.client()
    const instance = await working(server, registry, async () =>
      client.wait(await startWork(client, { a: 1, b: 2 }), WITHIN),
    )
    assert.equal(instance.status, 'COMPLETED')
    assert.deepEqual(instance.variables, { a: 1, b: 2, sum: 3 })
  }),
)

const Order = z.object({
  customer: z.string(),
  placed: z.coerce.date().refine((date) => date.getTime() > 1e12),
  lines: z.array(z.object({ article: z.string(), count: z.int() })),
  note: z.string().nullish(),
})

scenario('typed variables', () =>
  Server.with(async (server) => {
    const placed = new Date('2026-01-02T03:04:05Z')
    const lines = [
      { article: 'pen', count: 2 },
      { article: 'ink', count: 3 },
    ]
    const registry = new Registry().handler('work', Order, (order) => {
      assert.deepEqual(order.placed, placed)
      return { pieces: order.lines.reduce((sum, line) => sum + line.count, 0), lines: order.lines }
    })
    const client = server.client()
    const [good, bad] = await working(server, registry, async () => [
      await client.wait(await startWork(client, { customer: 'ann', placed, lines }), WITHIN),
      await client.startAndWait('work', { customer: 'bob', placed: 5, lines: [] }, { timeoutMillis: WITHIN }),
    ])
    assert.deepEqual([good.variables['pieces'], good.variables['lines']], [5, lines])
    assert.equal(bad.status, 'FAILED')
    assert.match(bad.failureReason ?? '', /^NotRetryable.*placed/s)
  }),
)

scenario('retries', () =>
  Server.with(async (server) => {
    const left: number[] = []
    const registry = new Registry().handler('work', (_, { job }) => {
      left.push(job.retriesRemaining)
      if (left.length < 3) throw new Error('the bureau is closed')
    })
    const client = server.client()
    const { id } = await working(server, registry, async () => client.wait(await startWork(client), WITHIN))
    const attempts = (await client.history(id)).filter((one) => one.stepId === 'do')
    assert.deepEqual(left, [3, 2, 1])
    assert.deepEqual(
      attempts.map((one) => [one.attemptNumber, one.status]),
      [
        [1, 'FAILED'],
        [2, 'FAILED'],
        [3, 'COMPLETED'],
      ],
    )
  }),
)

scenario('non-retryable', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler('work', () => {
      throw new NonRetryableError('no such account')
    })
    const client = server.client()
    const instance = await working(server, registry, async () => client.wait(await startWork(client), WITHIN))
    assert.deepEqual([instance.status, instance.failureReason], ['FAILED', "NotRetryable: step 'do': no such account"])
  }),
)

scenario('parallelism', () =>
  Server.with(async (server) => {
    let [now, most] = [0, 0]
    const registry = new Registry().handler('work', async () => {
      now += 1
      most = Math.max(most, now)
      await until(() => most === 3, 'three handlers run')
      now -= 1
    })
    const client = server.client()
    await working(
      server,
      registry,
      async () => {
        for (const id of await client.submitAll('work', Array<object>(12).fill({}))) {
          assert.equal((await client.waitExecution(id, WITHIN)).state, 'COMPLETED')
        }
      },
      { maxParallel: 3 },
    )
    assert.equal(most, 3)
  }),
)

scenario('snooze', () =>
  Server.with(async (server) => {
    const left: number[] = []
    const registry = new Registry().handler('work', (_, { job }) => {
      left.push(job.retriesRemaining)
      if (left.length === 1) throw new Snooze(3_600_000)
    })
    const client = server.client()
    await working(server, registry, async () => {
      const id = await client.submit('work')
      const state = async () => (await client.execution(id)).state
      await until(() => left.length === 1, 'the handler is called')
      await until(async () => (await state()) === 'WAITING', 'it is put off')
      await server.advance(59 * 60_000)
      assert.equal(await state(), 'WAITING')
      await server.advance(2 * 60_000)
      assert.equal((await client.waitExecution(id, WITHIN)).state, 'COMPLETED')
    })
    assert.deepEqual(left, [2, 2])
  }),
)

scenario('large variables', () =>
  Server.with(async (server) => {
    const large = 'x'.repeat(3_000_000)
    const registry = new Registry().handler<{ text: string }>('work', ({ text }) => ({ text: null, copy: text }))
    const client = server.client()
    const instance = await working(server, registry, async () =>
      client.wait(await startWork(client, { text: large }), WITHIN),
    )
    assert.ok(instance.variables['copy'] === large)
  }),
)

async function echo(name: string): Promise<void> {
  const given = json.parse(await text(name)) as Variables
  await Server.with(async (server) => {
    const registry = new Registry().handler('work', (variables) => {
      assert.deepEqual(variables, given)
      return { copy: variables }
    })
    const client = server.client()
    const instance = await working(server, registry, async () => client.wait(await startWork(client, given), WITHIN))
    assert.equal(instance.failureReason, null)
    assert.deepEqual(instance.variables, { ...given, copy: given })
  })
}

scenario('unicode', () => echo('unicode.json'))
scenario('numbers beyond 2^53', () => echo('numbers.json'))

scenario('bpmn', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler('charge-card', () => {
      throw new BpmnError('DECLINED', 'the card was declined', { reason: 'limit' })
    })
    const client = server.client()
    assert.deepEqual(await client.deploy(file('charge.bpmn')), [{ id: 'charge', version: 1 }])
    await client.publish('customer-called', 'ann', { settled: true })
    const instance = await working(server, registry, () =>
      client.startAndWait('charge', { customer: 'ann' }, { timeoutMillis: WITHIN }),
    )
    const steps = (await client.history(instance.id)).map((one) => one.stepId)
    assert.equal(instance.status, 'COMPLETED')
    assert.deepEqual(
      [instance.variables['settled'], steps.includes('settled'), steps.includes('paid')],
      [true, true, false],
    )
  }),
)

scenario('people and signals', () =>
  Server.with(async (server) => {
    const client = server.client()
    const deployed = await client.deploy(file('talk.json'), file('talk.json'))
    assert.deepEqual(
      deployed.map((one) => one.version),
      [1, 2],
    )
    const { id } = await client.start('talk', {}, { businessKey: 'b-1' })
    assert.deepEqual((await client.instance(id)).currentStepIds, ['review'])
    await assert.rejects(client.signal(id, 'paid', { sum: 1 }), ConflictError)
    await client.signal(id, 'paid', { sum: 2 }, { buffer: true })
    await client.completeUserTask(id, 'review', { approved: true }, { completedBy: 'anna' })
    assert.deepEqual((await client.wait(id, WITHIN)).variables, { approved: true, sum: 2 })
    assert.equal((await client.cancel((await client.start('talk')).id)).status, 'CANCELLED')
    const found = await client.instances({ businessKey: 'b-1' })
    assert.deepEqual(
      found.items.map((one) => one.id),
      [id],
    )
    assert.equal((await client.instances({ definitionId: 'talk', status: 'CANCELLED' })).total, 1)
    assert.deepEqual(
      (await client.definitions({ keyword: 'talk' })).items.map((one) => one.id),
      ['talk'],
    )
    const document = JSON.parse(await text('talk.json')) as Variables
    assert.deepEqual((await client.definition('talk'))['steps'], document['steps'])
    assert.deepEqual(
      (await client.history(id)).map((one) => one.stepId),
      ['review', 'paid', 'end'],
    )
    await client.deploy(file('approval.bpmn'))
    const process = await client.start('approval')
    await client.completeUserTask(process.id, 'approve', { approved: true }, { completedBy: 'anna' })
    assert.deepEqual((await client.wait(process.id, WITHIN)).variables, { approved: true })
  }),
)

scenario('start once', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler('work', () => ({ result: 7 }))
    const client = server.client()
    await client.deploy(file('work.json'))
    await working(server, registry, async () => {
      const first = await client.start('work', { n: 1 }, { idempotencyKey: 'order-1' })
      assert.deepEqual(await client.start('work', { n: 1 }, { idempotencyKey: 'order-1' }), first)
      const done = await client.startAndWait('work', {}, { idempotencyKey: 'order-2', timeoutMillis: WITHIN })
      assert.equal(done.variables['result'], 7)
      assert.equal((await client.instances({ definitionId: 'work' })).total, 2)
    })
  }),
)

scenario('executions', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler<{ n: number }>('work', ({ n }) => ({ square: n ** 2 }))
    const client = server.client()
    const given = Array.from({ length: 100 }, (_, n) => ({ input: { n } }))
    await working(server, registry, async () => {
      const ids = await client.submitAll('work', given, { idempotencyKey: 'k' })
      assert.deepEqual(await client.submitAll('work', given, { idempotencyKey: 'k' }), ids)
      const done = await Promise.all(ids.map((id) => client.waitExecution(id, WITHIN)))
      assert.deepEqual(
        done.map((one) => one.result),
        given.map(({ input }) => ({ square: input.n ** 2 })),
      )
    })
  }),
)
