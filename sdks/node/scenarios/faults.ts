// What workers survive.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { BpmnError, Registry, Runner, Snooze, type Loss, type Progress } from '../src/index.js'
import type { Server as RealServer } from '../src/testing.js'
import { pause } from '../src/backoff.js'
import { Http } from '../src/http.js'
import { WorkerProcess } from './worker.js'
import { address, file, metric, scenario, startWork, TRANSPORT, until, WITHIN, working, Server } from './world.js'

/** In seconds: it is neither over nor extended while anybody waits. */
const LEASE_LONG = 600

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'scenario-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

scenario('long handler', () =>
  Server.with(async (server) => {
    let calls = 0
    const registry = new Registry().handler('work', async (_, { signal }) => {
      calls += 1
      await pause(6500, signal)
      return { lost: signal.aborted }
    })
    const client = server.client()
    // Two runners: a job whose lease ended would go to the other.
    const instance = await working(
      server,
      registry,
      () =>
        working(server, registry, async () => client.wait(await startWork(client), WITHIN), {
          leaseSeconds: 5,
          graceSeconds: 10,
        }),
      { leaseSeconds: 5 },
    )
    assert.deepEqual([instance.variables, calls], [{ lost: false }, 1])
  }),
)

/** Runs a handler, takes its job away, and waits until it knows: why, and the instance's variables afterwards. */
async function lose(takeAway: (server: RealServer, instance: string) => Promise<unknown>): Promise<[Loss?, object?]> {
  return Server.with(async (server) => {
    let begun = false
    const losses: (Loss | undefined)[] = []
    const registry = new Registry().handler('work', async (_, context) => {
      begun = true
      await once(context.signal, 'abort')
      losses.push(context.loss)
      return { by: 'loser' }
    })
    const client = server.client()
    const id = await working(
      server,
      registry,
      async () => {
        const instance = await startWork(client)
        await until(() => begun, 'the handler is called')
        await takeAway(server, instance)
        await until(() => losses.length > 0, 'the handler is told')
        return instance
      },
      { leaseSeconds: 5, maxParallel: 1 },
    )
    return [losses[0], (await client.instance(id)).variables] as [Loss, object]
  })
}

scenario('lost lease', async () => {
  const lost = await lose(async (server, instance) => {
    let taken = false
    const winner = new Registry().handler('work', () => {
      taken = true
      return { by: 'winner' }
    })
    const play = async () => {
      await until(async () => {
        // The loser may extend its lease just as the clock moves.
        if (!taken) await server.advance(30_000)
        return taken
      }, 'the winner has the job')
      await server.client().wait(instance, WITHIN)
    }
    await working(server, winner, play, { leaseSeconds: LEASE_LONG }, 'winner')
  })
  assert.deepEqual(lost, ['LEASE_LOST', { by: 'winner' }])
})

scenario('lost lease and a BPMN error', () =>
  Server.with(async (server) => {
    let [begun, taken, thrown] = [false, false, false]
    const losing = new Registry().handler('charge-card', async () => {
      begun = true
      await until(() => taken, 'another has the job')
      throw new BpmnError('DECLINED', 'the card was declined')
    })
    const winning = new Registry().handler('charge-card', async () => {
      taken = true
      await until(() => thrown, 'the loser has thrown its error')
      return { by: 'winner' }
    })
    const client = server.client()
    await client.deploy(file('charge.bpmn'))
    // Its next heartbeat is far off, so only the server can know that it lost its lease.
    const options = { leaseSeconds: LEASE_LONG, maxParallel: 1, pollWaitSeconds: 5, graceSeconds: 60 }
    const loser = new Runner(losing, address(server), options)
    void loser.run()
    const { id } = await client.start('charge', { customer: 'ann' })
    await until(() => begun, 'the handler is called')
    await server.advance((LEASE_LONG + 1) * 1000)
    const play = async () => {
      await loser.stop()
      thrown = true
      return client.wait(id, WITHIN)
    }
    const instance = await working(server, winning, play, {}, 'winner')
    const steps = (await client.history(id)).map((one) => one.stepId)
    assert.deepEqual([instance.status, instance.variables['by']], ['COMPLETED', 'winner'])
    assert.deepEqual([steps.includes('paid'), steps.includes('settled')], [true, false])
  }),
)

scenario('cancelled job', async () => {
  assert.deepEqual(await lose((server, instance) => server.client().cancel(instance)), ['CANCELLED', {}])
})

scenario('progress', () =>
  Server.with(async (server) => {
    const seen: (Progress | undefined)[] = []
    const registry = new Registry().handler('work', async (_, context) => {
      seen.push(context.job.progress)
      if (seen.length > 1) return
      await context.progress({ percent: 40, message: 'page 4 of 10', data: { page: 4 } })
      throw new Error('the printer is out of paper')
    })
    const client = server.client()
    const instance = await working(server, registry, async () => client.wait(await startWork(client), WITHIN))
    assert.equal(instance.status, 'COMPLETED')
    assert.deepEqual(seen, [undefined, { percent: 40, message: 'page 4 of 10', data: { page: 4 } }])
  }),
)

scenario('worker killed', () =>
  inFolder((folder) =>
    Server.with(async (server) => {
      const client = server.client()
      const id = await startWork(client)
      const worker = new WorkerProcess(address(server), join(folder, 'gate'))
      await worker.waitSaid('begun', 1)
      await worker.end('SIGKILL')
      await server.advance(61_000)
      const registry = new Registry().handler('work', () => ({ by: 'other' }))
      const instance = await working(server, registry, () => client.wait(id, WITHIN))
      assert.deepEqual(instance.variables, { by: 'other' })
    }),
  ),
)

scenario('server restarted', () =>
  inFolder((folder) =>
    Server.with(
      async (server) => {
        let [begun, open] = [false, false]
        const registry = new Registry().handler('work', async () => {
          begun = true
          await until(() => open, 'the gate opens')
          return { done: true }
        })
        const client = server.client()
        await working(server, registry, async () => {
          const id = await startWork(client)
          await until(() => begun, 'the handler is called')
          await server.kill()
          // Its end is reported to nobody at first.
          open = true
          await server.start()
          const done = await client.wait(id, WITHIN)
          assert.deepEqual([done.status, done.variables], ['COMPLETED', { done: true }])
          const attempts = (await client.history(id)).filter((one) => one.stepId === 'do')
          assert.equal(attempts.length, 1)
          assert.equal((await client.startAndWait('work', {}, { timeoutMillis: WITHIN })).status, 'COMPLETED')
        })
      },
      { store: `sqlite:${folder}` },
    ),
  ),
)

scenario('drain', () =>
  inFolder((folder) =>
    Server.with(async (server) => {
      const client = server.client()
      const ids = await client.submitAll('work', [{}, {}, {}])
      const gate = join(folder, 'gate')
      const worker = new WorkerProcess(address(server), gate)
      await worker.waitSaid('begun', 2)
      const code = await worker.end('SIGTERM', async () => {
        await worker.waitSaid('stopping', 1)
        await writeFile(gate, '')
      })
      assert.equal(code, 0)
      const states = await Promise.all(ids.map(async (id) => (await client.execution(id)).state))
      // What was announced on Kafka, and heard by nobody, counts as running.
      assert.deepEqual(states.sort(), ['COMPLETED', 'COMPLETED', TRANSPORT === 'kafka' ? 'RUNNING' : 'WAITING'])
    }),
  ),
)

scenario('grace runs out', () =>
  Server.with(async (server) => {
    let begun = false
    const losses: (Loss | undefined)[] = []
    const stuck = new Registry().handler('work', async (_, context) => {
      begun = true
      await once(context.signal, 'abort')
      losses.push(context.loss)
      await new Promise(() => undefined)
    })
    const client = server.client()
    const id = await startWork(client)
    const runner = new Runner(stuck, address(server), {
      leaseSeconds: LEASE_LONG,
      pollWaitSeconds: 5,
      graceSeconds: 0.1,
    })
    const ended = runner.run()
    await until(() => begun, 'the handler is called')
    await runner.stop()
    await ended
    assert.deepEqual(losses, ['SHUTDOWN'])
    const other = new Registry().handler('work', () => ({ by: 'other' }))
    const instance = await working(server, other, () => client.wait(id, WITHIN))
    assert.deepEqual(instance.variables, { by: 'other' })
  }),
)

scenario('too large a result', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler<{ size: number }>('work', ({ size }) => ({ text: 'x'.repeat(size) }))
    const client = server.client()
    await working(server, registry, async () => {
      const large = await client.wait(await startWork(client, { size: 20_000_000 }), WITHIN)
      assert.equal(large.status, 'FAILED')
      assert.match(large.failureReason ?? '', /the result was refused: .*(large|limit|bytes)/)
      const next = await client.startAndWait('work', { size: 1 }, { timeoutMillis: WITHIN })
      assert.deepEqual([next.status, next.variables['text']], ['COMPLETED', 'x'])
    })
  }),
)

scenario('refused end', () =>
  Server.with(async (server) => {
    const registry = new Registry().handler<{ how: string }>('work', ({ how }) => {
      throw how === 'snooze' ? new Snooze(10 * 365 * 86_400_000) : new BpmnError('')
    })
    const client = server.client()
    await working(server, registry, async () => {
      const snoozed = await client.wait(await startWork(client, { how: 'snooze' }), WITHIN)
      const thrown = await client.startAndWait('work', { how: 'throw' }, { timeoutMillis: WITHIN })
      assert.deepEqual([snoozed.status, thrown.status], ['FAILED', 'FAILED'])
      assert.match(snoozed.failureReason ?? '', /the snooze was refused: ./)
      assert.match(thrown.failureReason ?? '', /the BPMN error was refused: ./)
    })
  }),
)

const REFUSED = 'caudal_commands_total{kind="submit",outcome="rejected"}'
const POLLED = 'job_poll_latency_seconds_count'

scenario('overload', () =>
  Server.with(
    async (server) => {
      const policy = { scope: 'ACTION', action: 'work', queue: { maxLength: 2 } }
      await new Http(server.rest).call('PUT', '/v1/policies/short', { body: policy })
      const [registry, others] = [
        new Registry().handler('work', () => ({})),
        new Registry().handler('other', () => ({})),
      ]
      const client = server.client()
      const submit = async () => {
        const ids: string[] = []
        while (ids.length < 30) ids.push(await client.submit('work'))
        return ids
      }
      const submitted = submit()
      await until(() => metric(server, REFUSED), 'the third is refused: nobody takes them')
      const waiting = [0, 1].map(() => new Runner(others, address(server), { pollWaitSeconds: 30 }))
      for (const one of waiting) void one.run()
      await until(() => metric(server, POLLED), 'a poll comes to its end without a job: it is refused')
      await working(server, registry, async () => {
        for (const one of waiting) await one.stop()
        for (const id of await submitted) assert.equal((await client.waitExecution(id, WITHIN)).state, 'COMPLETED')
      })
    },
    // One poll may wait at a time: the others hear 503.
    { arguments: ['--limits-polls-parked', '1'] },
  ),
)
