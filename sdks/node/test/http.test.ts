// Requests against a server that answers what it is told to.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Backoff } from '../src/backoff.js'
import { ApiError, Client, NotFoundError, RestEngine, UnavailableError } from '../src/index.js'
import { fakeJob } from '../src/testing.js'

const STARTED = { processInstanceKey: '1', processDefinitionVersion: 1 }

/** A client whose requests get these answers, one after the other; 0 is a connection that breaks. And the keys it sends. */
function answered(...answers: [number, object?][]): [Client, (string | null)[]] {
  const keys: (string | null)[] = []
  const answer = (_: unknown, init?: RequestInit): Promise<Response> => {
    keys.push(new Headers(init?.headers).get('idempotency-key'))
    const [status, body] = answers.shift() ?? [500]
    if (status === 0) return Promise.reject(new TypeError('fetch failed', { cause: new Error('socket hang up') }))
    return Promise.resolve(new Response(JSON.stringify(body ?? {}), { status, headers: { 'retry-after': '0' } }))
  }
  return [new Client('http://server', { fetch: answer as typeof fetch }), keys]
}

test('every command is repeated with its key', async () => {
  const used = new Set<string | null>()
  const commands: ((client: Client) => Promise<unknown>)[] = [
    (client) => client.deploy({ id: 'a' }),
    (client) => client.deploy(import.meta.filename),
    (client) => client.start('a'),
    (client) => client.cancel('1'),
    (client) => client.retry('1'),
    (client) => client.completeUserTask('1', 'a'),
    (client) => client.signal('1', 'a'),
    (client) => client.publish('a'),
    (client) => client.broadcastSignal('a'),
    (client) => client.submit('a'),
    (client) => client.cancelExecution('1'),
  ]
  for (const command of commands) {
    const [client, keys] = answered([0], [429], [200, { ...STARTED, executions: [{ id: '1' }], deployments: [] }])
    await command(client)
    assert.deepEqual([keys.length, new Set(keys).size, keys[0]?.length], [3, 1, 36], String(command))
    used.add(keys[0] ?? null)
  }
  assert.equal(used.size, commands.length)
  const [client, keys] = answered([0], [201, STARTED])
  await client.start('a', {}, { idempotencyKey: 'mine' })
  assert.deepEqual(keys, ['mine', 'mine'])
})

test('whatever is wrong with the server may be over later, and nothing else', async () => {
  for (const status of [0, 408, 429, 500, 502, 503, 504, 507, 520, 599]) {
    const [client, keys] = answered([status], [201, STARTED])
    await client.start('a')
    assert.equal(keys.length, 2, `${status}`)
  }
  for (const status of [400, 401, 403, 404, 409, 410, 413, 422, 501]) {
    const [client, keys] = answered([status], [201, STARTED])
    await assert.rejects(client.start('a'), ApiError, `${status}`)
    assert.equal(keys.length, 1, `${status}`)
  }
})

test("an answer that is no JSON is somebody else's", async () => {
  const page = () => Promise.resolve(new Response('<html>'))
  const client = new Client('http://server', { fetch: page as typeof fetch, patienceMillis: 0 })
  await assert.rejects(client.start('a'), UnavailableError)
})

test('a BPMN error is thrown by whoever has the lease', async () => {
  const sent: unknown[] = []
  const note = (url: unknown, init?: RequestInit) => {
    sent.push(url, JSON.parse(init?.body as string))
    return Promise.resolve(new Response(null, { status: 204 }))
  }
  const engine = new RestEngine('http://server', { fetch: note as typeof fetch })
  await engine.throwError('w', fakeJob({ id: '7', lease: 3 }), { code: 'E', message: 'no', variables: { a: 1 } })
  const body = { workerId: 'w', lease: 3, errorCode: 'E', errorMessage: 'no', variables: { a: 1 } }
  assert.deepEqual(sent, ['http://server/v1/jobs/7/error', body])
})

test("refusals have the server's words", async () => {
  const [client] = answered([404, { error: 'NOT_FOUND', message: 'no such workflow' }])
  const refused = await client.start('a').catch((error: unknown) => error)
  assert.ok(refused instanceof NotFoundError)
  assert.deepEqual([refused.code, refused.detail], ['NOT_FOUND', 'no such workflow'])
})

test('a server that is not there', async () => {
  await assert.rejects(new Client('http://127.0.0.1:9', { patienceMillis: 0 }).start('a'), UnavailableError)
})

test('waits grow, and keep to what the server asks', () => {
  const backoff = new Backoff(100, 400)
  for (const bound of [100, 200, 400, 400]) {
    const wait = backoff.next()
    assert.ok(bound / 2 <= wait && wait <= bound)
  }
  assert.equal(backoff.next(900), 900)
  backoff.reset()
  assert.ok(backoff.next() <= 100)
})
