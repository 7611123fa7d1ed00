// Requests against a server that answers what it is told to.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Backoff } from '../src/backoff.js'
import { CaudalError, Client, NotFoundError, UnavailableError } from '../src/index.js'

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

test('a start is repeated with its key', async () => {
  const [client, keys] = answered([0], [504], [201, STARTED])
  assert.equal((await client.start('a')).id, '1')
  assert.deepEqual([keys.length, new Set(keys).size], [3, 1])
})

test('a start that was refused gets another key', async () => {
  const [client, keys] = answered([429], [201, STARTED])
  await client.start('a')
  assert.equal(new Set(keys).size, 2)
})

test('an upload without an answer is not repeated', async () => {
  const [client, keys] = answered([0], [201])
  await assert.rejects(client.deploy({ id: 'a' }), { name: CaudalError.name, message: /not known/ })
  assert.equal(keys.length, 1)
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
