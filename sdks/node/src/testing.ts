/** For tests: a handler with a fake job, and a real server in the background. */

import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { pause } from './backoff.js'
import { Client, type ClientOptions } from './client.js'
import { JobContext } from './context.js'
import type { Job, Progress } from './engine.js'
import { Http } from './http.js'
import { run, type Outcome } from './outcome.js'
import type { Registry } from './registry.js'

const READY_MILLIS_MAX = 30_000

/** A job as a handler would get it. */
export function fakeJob(job: Partial<Job> = {}): Job {
  const ids = { id: '1', instanceId: '2', stepId: 'step', stepExecutionId: '3' }
  const rest = { retriesRemaining: 0, lockExpiresAt: new Date(Date.now() + 60_000), lease: 1 }
  return { ...ids, type: 'test', variables: {}, ...rest, ...job }
}

/** A context as a handler would get it; `said` has what it says of its progress. */
export class FakeContext extends JobContext {
  readonly said: Progress[]

  constructor(job: Partial<Job> = {}) {
    const said: Progress[] = []
    super(fakeJob(job), (progress) => {
      said.push(progress)
      return Promise.resolve()
    })
    this.said = said
  }
}

/** Runs the handler of a job type as a runner would, without a server; what became of the job. */
export function runJob(
  registry: Registry,
  type: string,
  variables: object = {},
  job: Partial<Job> = {},
): Promise<Outcome> {
  return run(registry.find(type), new FakeContext({ ...job, type, variables: { ...variables } }))
}

export interface ServerOptions {
  /** The program; without it `$CAUDAL_BINARY`, then `caudal` on the path. */
  binary?: string
  /** `memory:`, or `sqlite:FOLDER` for one that survives `restart`. */
  store?: string
  arguments?: string[]
}

/** A real server on free ports of loopback. Its clock can be moved. */
export class Server {
  readonly rest: string
  readonly grpc: string
  /** Where it tells its metrics. */
  readonly metrics: string
  readonly #command: [string, string[]]
  readonly #folder: string
  #process: ChildProcess | undefined

  private constructor(options: ServerOptions, folder: string, ports: number[]) {
    const [rest, grpc, metrics] = ports.map((port) => `127.0.0.1:${port}`) as [string, string, string]
    const places = ['--rest', rest, '--grpc', grpc, '--metrics', metrics, '--store', options.store ?? 'memory:']
    const binary = options.binary ?? process.env['CAUDAL_BINARY'] ?? 'caudal'
    this.#command = [binary, ['serve', ...places, '--test-clock', ...(options.arguments ?? [])]]
    this.#folder = folder
    this.metrics = `http://${metrics}`
    this.rest = `http://${rest}`
    this.grpc = `grpc://${grpc}`
  }

  /** Starts one and waits until it is ready. */
  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new Server(options, await mkdtemp(join(tmpdir(), 'caudal-')), await freePorts(3))
    await server.start()
    return server
  }

  /** Starts one, and stops it when `use` is done. */
  static async with<T>(use: (server: Server) => Promise<T>, options: ServerOptions = {}): Promise<T> {
    const server = await Server.start(options)
    try {
      return await use(server)
    } finally {
      await server.close()
    }
  }

  client(options: ClientOptions = {}): Client {
    return new Client(this.rest, options)
  }

  /** Starts it again after `kill` or `stop`, on the same ports and store. */
  async start(): Promise<void> {
    const log = openSync(join(this.#folder, 'server.log'), 'a')
    const started = spawn(...this.#command, { cwd: this.#folder, stdio: ['ignore', log, log] })
    closeSync(log)
    this.#process = started
    let failure: Error | undefined
    started.on('error', (error) => (failure = error))
    const deadline = Date.now() + READY_MILLIS_MAX
    while (!(await this.#isReady())) {
      if (failure !== undefined || started.exitCode !== null || deadline < Date.now()) {
        const said = await readFile(join(this.#folder, 'server.log'), 'utf8')
        throw new Error(`the server did not start: ${failure?.message ?? said}`)
      }
      await pause(10)
    }
  }

  /** Stops it, as an operator would. */
  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  /** Ends it without a warning. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  /** Kills it and starts it again on the same ports and store. */
  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Stops it for good. */
  async close(): Promise<void> {
    await this.stop()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Moves its clock on: what falls due meanwhile happens. */
  async advance(millis: number): Promise<void> {
    const body = { duration: `PT${(millis / 1000).toFixed(3)}S` }
    await new Http(this.rest).call('POST', '/v1/clock/advance', { body })
  }

  /** Lets its clock stand still at a time. */
  async pin(at: Date): Promise<void> {
    await new Http(this.rest).call('PUT', '/v2/clock', { body: { timestamp: at.getTime() } })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill(signal)
    await ended
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.metrics}/health/ready`)).ok
    } catch {
      return false
    }
  }
}

/** Below those that the system gives to outgoing connections: one of these could be taken at any moment. */
const PORTS = { first: 10_000, count: 2_000 }
/** Each is tried once in a while only, so that servers that start at once get different ones. */
let place = Math.floor(Math.random() * PORTS.count)

async function freePorts(count: number): Promise<number[]> {
  const found: number[] = []
  while (found.length < count) {
    place = (place + 1) % PORTS.count
    const port = PORTS.first + place
    if (await isFree(port)) found.push(port)
  }
  return found
}

async function isFree(port: number): Promise<boolean> {
  const listener = createServer()
  return new Promise((resolve) => {
    listener.once('error', () => {
      resolve(false)
    })
    listener.listen(port, '127.0.0.1', () => {
      listener.close(() => {
        resolve(true)
      })
    })
  })
}
