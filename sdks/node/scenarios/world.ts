// What scenarios share: the list of them, the server, the transport, waiting for conditions.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Runner, type Client, type Registry, type RunnerOptions, type Variables } from '../src/index.js'
import { Server as RealServer, type ServerOptions } from '../src/testing.js'

export const FOLDER = process.env['CAUDAL_SCENARIOS'] ?? join(import.meta.dirname, '../../scenarios')
export const TRANSPORT = process.env['CAUDAL_TRANSPORT'] ?? 'rest'
export const WITHIN = 150_000

export const scenarios = new Map<string, () => Promise<void>>()

const BROKER = process.env['CAUDAL_KAFKA'] ?? ''
const LIST = JSON.parse(readFileSync(join(FOLDER, 'scenarios.json'), 'utf8')) as {
  name: string
  transports: string[]
}[]

/** Registers a scenario, if it is for this transport. */
export function scenario(name: string, play: () => Promise<void>): void {
  if (LIST.find((one) => one.name === name)?.transports.includes(TRANSPORT) === true) scenarios.set(name, play)
}

const topics = new WeakMap<RealServer, string>()
let worlds = 0

/** Starts servers that announce jobs on topics of their own, if they are to go over Kafka. */
export const Server = {
  async with<T>(use: (server: RealServer) => Promise<T>, options: ServerOptions = {}): Promise<T> {
    worlds += 1
    const prefix = `node-${worlds}.`
    const kafka = ['--dispatch', 'kafka_outbox', '--kafka-brokers', BROKER, '--kafka-topic-prefix', prefix]
    const all = [...(options.arguments ?? []), ...(TRANSPORT === 'kafka' ? kafka : [])]
    return RealServer.with(
      (server) => {
        topics.set(server, prefix)
        return use(server)
      },
      { ...options, arguments: all },
    )
  },
}

export function file(name: string): string {
  return join(FOLDER, name)
}

export async function text(name: string): Promise<string> {
  return readFile(file(name), 'utf8')
}

/** Where workers find the server. Over Kafka those of another group hear of the same jobs. */
export function address(server: RealServer, group = ''): string {
  if (TRANSPORT !== 'kafka') return TRANSPORT === 'rest' ? server.rest : server.grpc
  const prefix = topics.get(server) ?? ''
  const query = { engine: server.rest, group: prefix + group, topic_prefix: prefix, session_timeout: '6000' }
  return `kafka://${BROKER}?${new URLSearchParams(query).toString()}`
}

/** Runs handlers while `use` runs. */
export async function working<T>(
  server: RealServer,
  registry: Registry,
  use: () => Promise<T>,
  options: RunnerOptions = {},
  group = '',
): Promise<T> {
  const runner = new Runner(registry, address(server, group), { pollWaitSeconds: 5, graceSeconds: 5, ...options })
  void runner.run()
  try {
    return await use()
  } finally {
    await runner.stop()
  }
}

/** An instance of `work.json`, whose one job has the type `work`. */
export async function startWork(client: Client, variables: Variables = {}): Promise<string> {
  await client.deploy(file('work.json'))
  return (await client.start('work', variables)).id
}

/** What the server counts under a name; 0 if it has counted nothing yet. */
export async function metric(server: RealServer, name: string): Promise<number> {
  const lines = (await (await fetch(`${server.metrics}/metrics`)).text()).split('\n')
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0)
}

export async function until(condition: () => unknown, what: string): Promise<void> {
  const deadline = Date.now() + WITHIN
  while (!(await condition())) {
    if (deadline < Date.now()) throw new Error(`not in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
