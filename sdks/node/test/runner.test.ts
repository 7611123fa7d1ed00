// The runner with an engine in memory: what it asks, what it says, and how often.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'

import {
  ApiError,
  BpmnError,
  ConflictError,
  NonRetryableError,
  Registry,
  RetryableError,
  Runner,
  Snooze,
  UnavailableError,
  type EngineClient,
  type Job,
  type PollRequest,
  type Result,
  type RunnerOptions,
  type Standing,
} from '../src/index.js'
import { FakeContext, fakeJob, runJob } from '../src/testing.js'

/** Hands out its jobs once and notes what is said. Each answer may be replaced by a failure, the next one first. */
class Engine implements EngineClient {
  readonly said: unknown[][] = []
  standing: Standing = 'HELD'
  #waiting: (() => void)[] = []

  constructor(
    readonly jobs: Job[],
    readonly failures: Error[] = [],
  ) {}

  async poll({ maxJobs, signal }: PollRequest): Promise<Job[]> {
    const jobs = this.jobs.splice(0, maxJobs)
    if (jobs.length === 0 && !signal.aborted) await once(signal, 'abort')
    return jobs
  }

  complete(_: string, job: Job, variables: object): Promise<void> {
    return this.#say('complete', job.id, variables)
  }

  fail(_: string, __: Job, failure: { message: string; retryable: boolean; retryAfterMillis?: number }): Promise<void> {
    return this.#say('fail', failure.message, failure.retryable, failure.retryAfterMillis)
  }

  throwError(_: string, __: Job, error: { code: string; message: string; variables: object }): Promise<void> {
    return this.#say('throw', error.code, error.message, error.variables)
  }

  heartbeat(_: string, __: number, beats: object[]): Promise<Standing[]> {
    return Promise.resolve(beats.map(() => this.standing))
  }

  release(_: string, job: Job, delayMillis?: number): Promise<void> {
    return this.#say('release', job.id, delayMillis)
  }

  close(): Promise<void> {
    throw new Error('the engine belongs to whoever made it')
  }

  async saidTimes(times: number): Promise<void> {
    while (this.said.length < times) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #say(...what: unknown[]): Promise<void> {
    this.said.push(what)
    for (const resolve of this.#waiting.splice(0)) resolve()
    const failure = this.failures.shift()
    return failure === undefined ? Promise.resolve() : Promise.reject(failure)
  }
}

/** What a runner says of one job. */
async function work(handler: () => unknown, failures: Error[] = [], times = 1): Promise<unknown[][]> {
  const engine = new Engine([fakeJob({ type: 'work' })], failures)
  await running(engine, handler, () => engine.saidTimes(times))
  return engine.said
}

async function running(
  engine: Engine,
  handler: (variables: object, context: FakeContext) => unknown,
  use: () => Promise<unknown>,
  options: RunnerOptions = {},
): Promise<void> {
  const registry = new Registry().handler('work', handler as () => Result)
  const runner = new Runner(registry, engine, options)
  void runner.run()
  await use()
  await runner.stop()
}

function throwing(error: unknown): () => never {
  return () => {
    throw error
  }
}

test('every end of a handler', async () => {
  for (const [handler, expected] of [
    [() => ({ m: 2 }), ['complete', '1', { m: 2 }]],
    [() => undefined, ['complete', '1', {}]],
    [() => 5, ['fail', 'a handler must return an object of variables, not a number', false, undefined]],
    [throwing(new Error('odd')), ['fail', 'odd', true, undefined]],
    [throwing(new TypeError()), ['fail', 'TypeError', true, undefined]],
    [throwing('text'), ['fail', 'text', true, undefined]],
    [throwing(new RetryableError('busy', 5000)), ['fail', 'busy', true, 5000]],
    [throwing(new NonRetryableError('never')), ['fail', 'never', false, undefined]],
    [throwing(new BpmnError('E', 'no', { a: 1 })), ['throw', 'E', 'no', { a: 1 }]],
    [throwing(new Snooze(5000)), ['release', '1', 5000]],
  ] as [() => unknown, unknown[]][]) {
    assert.deepEqual(await work(handler), [expected])
  }
})

test('an end is said until it is known', async () => {
  const done = ['complete', '1', {}]
  const away = new UnavailableError('away')
  assert.deepEqual(await work(() => undefined, [away, away], 3), [done, done, done])
  assert.deepEqual(await work(() => undefined, [new ConflictError(409, '', 'gone')]), [done])
})

test('an end that is refused is a failure for people', async () => {
  const invalid = () => new ApiError(400, 'BAD_REQUEST', 'too much')
  for (const [handler, words] of [
    [() => undefined, 'the result was refused: too much'],
    [throwing(new BpmnError('')), 'the BPMN error was refused: too much'],
    [throwing(new Snooze(1e12)), 'the snooze was refused: too much'],
  ] as [() => unknown, string][]) {
    const said = await work(handler, [invalid()], 2)
    assert.deepEqual(said.slice(1), [['fail', words, false, undefined]])
  }
  // What cannot even be written.
  const said = await work(() => undefined, [new TypeError('a circle')], 2)
  assert.deepEqual(said.slice(1), [['fail', 'the result was refused: TypeError: a circle', false, undefined]])
})

test('a failure that is refused is said once more in few words', async () => {
  const invalid = () => new ApiError(400, 'BAD_REQUEST', 'too much')
  const long = 'x'.repeat(9_998)
  const handler = throwing(new RetryableError(`\0${long}😀😀`, -5))
  const expected = [
    ['fail', `\0${long}😀😀`, true, -5],
    ['fail', `\ufffd${long}\ufffd`, true, undefined],
  ]
  assert.deepEqual(await work(handler, [invalid(), invalid()], 2), expected)
  const said = await work(() => undefined, [invalid(), invalid(), invalid()], 3)
  const words = ['fail', 'the result was refused: too much', false, undefined]
  assert.deepEqual(said, [['complete', '1', {}], words, words])
})

test('an end is not turned into a failure by whoever may not say it', async () => {
  for (const status of [401, 403]) {
    assert.deepEqual(await work(() => undefined, [new ApiError(status, '', 'who?')]), [['complete', '1', {}]])
  }
})

test('a handler that lost its job says nothing', async () => {
  const engine = new Engine([fakeJob({ type: 'work' })])
  engine.standing = 'CANCELLED'
  const { promise, resolve } = deferred()
  const handler = async (_: object, context: FakeContext) => {
    await once(context.signal, 'abort')
    resolve()
  }
  await running(engine, handler, () => promise, { leaseSeconds: 6 })
  assert.deepEqual(engine.said, [])
})

test('a handler is told when its lease must be over, though nobody answers', async () => {
  const engine = new Engine([fakeJob({ type: 'work' })])
  engine.heartbeat = () => new Promise(() => undefined)
  let told: unknown
  const { promise, resolve } = deferred()
  const handler = async (_: object, context: FakeContext) => {
    await once(context.signal, 'abort')
    told = context.loss
    resolve()
  }
  await running(engine, handler, () => promise, { leaseSeconds: 0.03 })
  assert.deepEqual([told, engine.said], ['LEASE_LOST', []])
})

test('what does not finish in time is given back', async () => {
  const engine = new Engine([fakeJob({ type: 'work' })])
  const { promise, resolve } = deferred()
  const handler = async (_: object, context: FakeContext) => {
    resolve()
    await once(context.signal, 'abort')
  }
  await running(engine, handler, () => promise, { graceSeconds: 0.01 })
  assert.deepEqual(engine.said, [['release', '1', undefined]])
})

test('all that is left is given back at once, though nobody answers', async () => {
  const ids = ['1', '2', '3']
  const engine = new Engine(ids.map((id) => fakeJob({ id, type: 'work' })))
  const release = engine.release.bind(engine)
  engine.release = async (...given) => {
    await release(...given)
    // As long as it waits for an answer to the first, it would say nothing of the others.
    await new Promise(() => undefined)
  }
  const told: unknown[] = []
  const { promise, resolve } = deferred()
  const handler = async (_: object, context: FakeContext) => {
    context.signal.addEventListener('abort', () => told.push(context.loss))
    if (context.job.id === '3') resolve()
    // It does not listen.
    await new Promise(() => undefined)
  }
  await running(engine, handler, () => promise, { graceSeconds: 0.01 })
  assert.deepEqual(told, ['SHUTDOWN', 'SHUTDOWN', 'SHUTDOWN'])
  assert.deepEqual(
    engine.said,
    ids.map((id) => ['release', id, undefined]),
  )
})

test('a poll that hangs does not keep a runner', async () => {
  const engine = new Engine([])
  const { promise, resolve } = deferred()
  engine.poll = () => {
    resolve()
    return new Promise(() => undefined)
  }
  await running(
    engine,
    () => undefined,
    () => promise,
    { graceSeconds: 0.01 },
  )
})

test('a poll that is refused ends the runner', async () => {
  const engine = new Engine([])
  engine.poll = () => Promise.reject(new ApiError(401, '', 'who?'))
  await assert.rejects(
    new Runner(
      new Registry().handler('work', () => ({})),
      engine,
    ).run(),
    ApiError,
  )
})

test('a job that comes too late is given back', async () => {
  const engine = new Engine([])
  const { promise, resolve } = deferred()
  engine.poll = async ({ signal }) => {
    resolve()
    await once(signal, 'abort')
    return [fakeJob({ id: '7', type: 'work' })]
  }
  await running(engine, throwing(new Error('it was begun')), () => promise)
  assert.deepEqual(engine.said, [['release', '7', undefined]])
})

test('a handler runs without a server', async () => {
  const registry = new Registry().handler<{ n: number }>('double', ({ n }) => ({ n: n * 2 }))
  assert.deepEqual(await runJob(registry, 'double', { n: 2 }), { kind: 'completed', variables: { n: 4 } })
  const context = new FakeContext()
  await context.progress({ percent: 50 })
  assert.deepEqual(context.said, [{ percent: 50 }])
  assert.throws(() => registry.handler('double', () => undefined), TypeError)
  assert.throws(() => new Runner(new Registry(), new Engine([])), TypeError)
})

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

test('polls that do not wait come less and less often', async () => {
  const engine = new Engine([])
  let polls = 0
  engine.poll = () => {
    polls += 1
    return Promise.resolve([])
  }
  const runner = new Runner(
    new Registry().handler('work', () => ({})),
    engine,
    { pollWaitSeconds: 0 },
  )
  void runner.run()
  // Without a pause between polls this would not even end.
  await new Promise((resolve) => setTimeout(resolve, 100))
  await runner.stop()
  assert.ok(polls < 10, `${polls}`)
})
