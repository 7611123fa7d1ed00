// The gRPC transport against a server that answers what it is told to.

import * as grpc from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GrpcEngine } from '../src/grpc.js'
import { ApiError, ConflictError, NotFoundError, UnavailableError } from '../src/index.js'
import { fakeJob } from '../src/testing.js'

type Answer = (method: string, request: Record<string, unknown>, metadata: grpc.Metadata) => object

/** What the server throws. */
function status(code: grpc.status): object {
  return Object.assign(new Error('said the server'), { code, details: 'said the server' })
}

async function answered(answer: Answer, use: (engine: GrpcEngine) => Promise<void>): Promise<void> {
  const file = new URL('../proto/worker.proto', import.meta.url).pathname
  const services = loadSync(file, { defaults: true, oneofs: true })
  const service = services['workflow.v1.WorkflowEngine'] as grpc.ServiceDefinition
  const server = new grpc.Server()
  const methods = Object.keys(service).map((name): [string, grpc.handleUnaryCall<Record<string, unknown>, object>] => [
    name,
    (call, callback) => {
      try {
        callback(null, answer(name, call.request, call.metadata))
      } catch (error) {
        callback(error as grpc.ServiceError)
      }
    },
  ])
  server.addService(service, Object.fromEntries(methods))
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error)
      else resolve(port)
    })
  })
  const engine = new GrpcEngine(`grpc://127.0.0.1:${port}`, { token: 't' })
  try {
    await use(engine)
  } finally {
    await engine.close()
    server.forceShutdown()
  }
}

test('codes by what to do about them', async () => {
  const { status: codes } = grpc
  const away = [codes.UNAVAILABLE, codes.RESOURCE_EXHAUSTED, codes.DEADLINE_EXCEEDED, codes.CANCELLED]
  const faults = [codes.INTERNAL, codes.UNKNOWN, codes.DATA_LOSS]
  const refusals: [grpc.status, number][] = [
    [codes.INVALID_ARGUMENT, 400],
    [codes.UNAUTHENTICATED, 401],
    [codes.PERMISSION_DENIED, 403],
    [codes.OUT_OF_RANGE, 413],
    [codes.UNIMPLEMENTED, 501],
  ]
  let code = codes.OK
  const answer = () => {
    throw status(code) as Error
  }
  await answered(answer, async (engine) => {
    const complete = () => engine.complete('w', fakeJob(), {}).catch((error: unknown) => error)
    for (code of [...away, ...faults]) assert.ok((await complete()) instanceof UnavailableError, codes[code])
    for (const [refusal, meaning] of refusals) {
      code = refusal
      const error = await complete()
      assert.ok(error instanceof ApiError, codes[code])
      assert.deepEqual([error.detail, error.status], ['said the server', meaning])
    }
    code = codes.NOT_FOUND
    assert.ok((await complete()) instanceof NotFoundError)
    code = codes.FAILED_PRECONDITION
    assert.ok((await complete()) instanceof ConflictError)
  })
})

test('what cannot be sent is refused', async () => {
  await answered(
    () => ({}),
    async (engine) => {
      const circle: Record<string, unknown> = {}
      circle['circle'] = circle
      const isNotAway = (error: unknown) => !(error instanceof UnavailableError)
      await assert.rejects(engine.complete('w', fakeJob(), circle), isNotAway)
      await assert.rejects(engine.complete('w', fakeJob({ lease: 1n as never }), {}), ApiError)
      await assert.rejects(engine.release('w', fakeJob(), NaN), isNotAway)
      await engine.complete('w', fakeJob(), { a: [2n ** 60n] })
      for (const integer of [2n ** 53n + 1n, -(2n ** 63n) + 1n, 10n ** 400n]) {
        await assert.rejects(engine.complete('w', fakeJob(), { a: { b: [integer] } }), /is no double/)
      }
    },
  )
})

test('a BPMN error is thrown by whoever has the lease', async () => {
  const said: unknown[] = []
  const answer: Answer = (method, request, metadata) => {
    said.push(method, request, metadata.get('authorization'))
    return {}
  }
  await answered(answer, (engine) =>
    engine.throwError('w', fakeJob({ id: '7', lease: 3 }), { code: 'E', message: 'no', variables: { a: 1 } }),
  )
  const variables = { fields: { a: { kind: 'numberValue', numberValue: 1 } } }
  const request = { jobId: '7', workerId: 'w', lease: 3, errorCode: 'E', errorMessage: 'no', variables }
  assert.deepEqual(said, ['ThrowError', request, ['Bearer t']])
})

test('a thousand heartbeats in one call, each with an answer of its own', async () => {
  const sizes: number[] = []
  const answer: Answer = (_, { jobs }) => {
    const ids = (jobs as { jobId: string }[]).map((job) => job.jobId)
    sizes.push(ids.length)
    return { jobs: ids.map((id) => ({ status: id === '5' ? 'LOST' : id === '1001' ? 'UNKNOWN' : 'HELD' })) }
  }
  await answered(answer, async (engine) => {
    const beats = Array.from({ length: 1500 }, (_, id) => ({ job: fakeJob({ id: `${id}` }) }))
    const standings = await engine.heartbeat('w', 60, beats)
    assert.deepEqual([sizes, standings.length], [[1000, 500], 1500])
    assert.deepEqual([standings[4], standings[5], standings[1001]], ['HELD', 'LOST', 'UNKNOWN'])
  })
})
