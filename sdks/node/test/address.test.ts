// Addresses and secrets: what cannot be used is refused at once, and no secret is shown.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'

import { GrpcEngine } from '../src/grpc.js'
import { Client, connect, Registry, RestEngine, Runner } from '../src/index.js'
import { KafkaEngine } from '../src/kafka.js'

const SECRET = 's3cret'

test('an address that nobody could be asked at is refused', async () => {
  const wrong = ['127.0.0.1:8080', 'localhost:8080', 'ftp://server', 'http://', 'grpc://', 'grpc://server:9090/a']
  const kafka = ['kafka://', 'kafka://a:b?engine=http://c', 'kafka://a:9092', 'kafka://a:9092?engine=c:8080']
  for (const address of [...wrong, ...kafka, `http://u:${SECRET}@server`, `u:${SECRET}@server`, 'http://server?a=b']) {
    const error = await connect(address).catch((error: unknown) => error)
    assert.ok(error instanceof TypeError, address)
    assert.match(error.message, /is no address of a server: it /)
    assert.ok(!inspect(error).includes(SECRET))
  }
  assert.throws(() => new Client('localhost:8080'), TypeError)
  assert.throws(() => new GrpcEngine('http://server'), TypeError)
  await assert.rejects(
    new Runner(
      new Registry().handler('a', () => ({})),
      'localhost:8080',
    ).run(),
    TypeError,
  )
})

test('an address left out is that of a server on this machine', async () => {
  let asked = ''
  const fetch = (address: string) => {
    asked = address
    return Promise.resolve(new Response('{"jobs": []}'))
  }
  for (const address of [undefined, '']) {
    const engine = new RestEngine(address, { fetch: fetch as never })
    await engine.heartbeat('w', 60, [{ job: { id: '1' } as never }])
    assert.equal(asked, 'http://127.0.0.1:8080/v1/jobs/heartbeat')
    assert.ok((await connect(address)) instanceof RestEngine)
    asked = ''
  }
})

test('no secret is shown', async () => {
  const options = { token: SECRET, headers: { 'x-api-key': SECRET } }
  const rest = new RestEngine('http://127.0.0.1:9', options)
  const grpc = new GrpcEngine('grpc://127.0.0.1:9', options)
  const sasl = { mechanism: 'PLAIN', username: 'u', password: SECRET } as const
  const kafka = new KafkaEngine('127.0.0.1:9', rest, { client: { sasl, retries: 0 } })
  const runner = new Runner(
    new Registry().handler('a', () => ({})),
    kafka,
  )
  const poll = { workerId: 'w', jobTypes: ['a'], maxJobs: 1, leaseSeconds: 60, waitSeconds: 0 }
  for (const thing of [rest, grpc, kafka, runner, new Client(undefined, options)]) {
    assert.ok(!inspect(thing, { depth: 20, showHidden: true }).includes(SECRET))
    assert.ok(!JSON.stringify(thing).includes(SECRET))
  }
  for (const engine of [rest, grpc, kafka]) {
    const error = await engine.poll({ ...poll, signal: new AbortController().signal }).catch((error: unknown) => error)
    assert.ok(error instanceof Error)
    assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes(SECRET))
    await engine.close()
  }
  for (const refused of [{ token: `${SECRET}\n` }, { headers: { 'x-api-key': `${SECRET}ü` } }]) {
    for (const make of [() => new RestEngine(undefined, refused), () => new GrpcEngine('grpc://a:1', refused)]) {
      assert.throws(make, (error: Error) => !inspect(error).includes(SECRET))
    }
  }
})
