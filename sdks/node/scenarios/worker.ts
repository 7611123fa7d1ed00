// A worker as a process of its own, for scenarios that kill or terminate it.

import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'

import { Registry, Runner } from '../src/index.js'
import { until } from './world.js'

/** Handlers say `begun`, and return when the file `gate` is there. */
export async function workerProcess(engine: string, gate: string): Promise<void> {
  const registry = new Registry().handler('work', async () => {
    console.log('begun')
    await until(() => existsSync(gate), 'the gate opens')
    return { by: 'process' }
  })
  await new Runner(registry, engine, { maxParallel: 2, logger: console }).runUntilSignal()
}

/** Handlers do nothing, so many at once. */
export async function bench(engine: string, maxParallel: number): Promise<void> {
  const registry = new Registry().handler('work', () => ({}))
  await new Runner(registry, engine, { maxParallel }).runUntilSignal()
}

export class WorkerProcess {
  readonly process: ChildProcess
  #said = ''

  constructor(engine: string, gate: string) {
    const program = [...process.execArgv, new URL('./main.ts', import.meta.url).pathname]
    this.process = spawn(process.execPath, [...program, 'worker', engine, gate], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    this.process.stdout?.on('data', (data: Buffer) => (this.#said += data.toString()))
  }

  waitSaid(word: string, times: number): Promise<void> {
    return until(() => this.#said.split(word).length - 1 === times, `it says ${word} ${times} times`)
  }

  /** The exit code after a signal. */
  async end(signal: NodeJS.Signals, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.process.once('exit', resolve))
    this.process.kill(signal)
    await meanwhile()
    return ended
  }
}
