// What scenarios share: the list of them, the server, the transport, waiting for conditions.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Runner, type Client, type Registry, type RunnerOptions, type Variables } from '../src/index.js'
import type { Server } from '../src/testing.js'

export const FOLDER = process.env['CAUDAL_SCENARIOS'] ?? join(import.meta.dirname, '../../scenarios')
const TRANSPORT = process.env['CAUDAL_TRANSPORT'] ?? 'rest'
export const WITHIN = 60_000

export const scenarios = new Map<string, () => Promise<void>>()

export function scenario(name: string, play: () => Promise<void>, transports = ['rest', 'grpc']): void {
  if (transports.includes(TRANSPORT)) scenarios.set(name, play)
}

export function file(name: string): string {
  return join(FOLDER, name)
}

export async function text(name: string): Promise<string> {
  return readFile(file(name), 'utf8')
}

export function address(server: Server): string {
  return TRANSPORT === 'rest' ? server.rest : server.grpc
}

/** Runs handlers while `use` runs. */
export async function working<T>(
  server: Server,
  registry: Registry,
  use: () => Promise<T>,
  options: RunnerOptions = {},
): Promise<T> {
  const runner = new Runner(registry, address(server), { pollWaitSeconds: 5, graceSeconds: 5, ...options })
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

export async function until(condition: () => unknown, what: string): Promise<void> {
  const deadline = Date.now() + WITHIN
  while (!(await condition())) {
    if (deadline < Date.now()) throw new Error(`not in time: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
