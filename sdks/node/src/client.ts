import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'

import { REST_DEFAULT } from './address.js'
import { pause, retry } from './backoff.js'
import type { Variables } from './engine.js'
import { WaitTimeoutError } from './errors.js'
import { Http, type CallOptions, type HttpOptions } from './http.js'
import { currentTrace } from './telemetry.js'

const EXECUTIONS_PER_REQUEST_MAX = 1000

export type Status = 'ACTIVE' | 'WAITING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'
export type ExecutionState = 'WAITING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'

/** Some of what was found, and how many there are in all. */
export interface Page<T> {
  items: T[]
  total: number
}

/** A version of a definition. */
export interface Deployed {
  id: string
  version: number
}

/** An instance that was started. */
export interface Started {
  id: string
  definitionId: string
  definitionVersion: number
}

/** One run of a workflow or process. */
export interface Instance<V = Variables> {
  id: string
  definitionId: string
  definitionVersion: number
  status: Status
  currentStepIds: string[]
  variables: V
  startedAt: string
  completedAt: string | null
  failureReason: string | null
  businessKey: string | null
  previousInstanceId: string | null
}

/** One attempt at a step. */
export interface StepExecution {
  id: string
  stepId: string
  stepType: string
  attemptNumber: number
  status: 'RUNNING' | 'COMPLETED' | 'FAILED' | 'SKIPPED'
  failureReason: string | null
}

/** A job that belongs to no process. */
export interface Execution {
  id: string
  action: string
  state: ExecutionState
  input: Variables
  result: Variables | null
  error: string | null
  attempts: number
  retries: number
}

/** An execution to be submitted. */
export interface Submit {
  input?: object
  /** 0 to 100, the higher first. */
  priority?: number
  retries?: number
  /** Not before this time. */
  runAt?: Date
  /** No other execution of the action waits or runs with the same key. */
  uniqueKey?: string
}

export interface StartOptions {
  version?: number
  businessKey?: string
  /** A start with a key that was used before is that start again. Without one it has a key of its own. */
  idempotencyKey?: string
}

export interface ClientOptions extends HttpOptions {
  /** For how long requests are repeated while the server is away or busy; 30,000. */
  patienceMillis?: number
}

/** Deploys, starts, tells, asks: everything but working on jobs. */
export class Client {
  readonly #http: Http
  readonly #patience: number

  /** @param address such as `https://caudal.example.com`; `http://127.0.0.1:8080` without one. */
  constructor(address = REST_DEFAULT, options: ClientOptions = {}) {
    this.#http = new Http(address, options)
    this.#patience = options.patienceMillis ?? 30_000
  }

  /** Deploys JSON workflows (as objects or `.json` files), BPMN, DMN and form files. */
  async deploy(...resources: (string | object)[]): Promise<Deployed[]> {
    const deployed: Deployed[] = []
    const files: string[] = []
    for (const resource of resources) {
      if (typeof resource === 'object') deployed.push(await this.#upload({ body: resource }))
      else if (extname(resource) === '.json') {
        deployed.push(await this.#upload({ content: await readFile(resource, 'utf8') }))
      } else files.push(resource)
    }
    return files.length === 0 ? deployed : [...deployed, ...(await this.#deployFiles(files))]
  }

  /** The latest versions of JSON workflows. */
  async definitions(query: { keyword?: string; page?: number; pageSize?: number } = {}): Promise<Page<Deployed>> {
    return (await this.#get('/v1/definitions', query)) as Page<Deployed>
  }

  /** A JSON workflow as it was uploaded. */
  async definition(id: string, version?: number): Promise<Variables> {
    const path = `/v1/definitions/${part(id)}` + (version === undefined ? '' : `/versions/${version}`)
    return (await this.#get(path)) as Variables
  }

  async start(definitionId: string, variables: object = {}, options: StartOptions = {}): Promise<Started> {
    const body = {
      processDefinitionId: definitionId,
      processDefinitionVersion: options.version,
      variables,
      businessId: options.businessKey,
    }
    const answer = (await this.#command('/v2/process-instances', { body }, options.idempotencyKey)) as {
      processInstanceKey: string
      processDefinitionVersion: number
    }
    return { id: answer.processInstanceKey, definitionId, definitionVersion: answer.processDefinitionVersion }
  }

  /** The instance when it is over: completed, failed or cancelled. */
  wait<V = Variables>(instanceId: string, timeoutMillis = 30_000): Promise<Instance<V>> {
    const isOver = (instance: Instance<V>) => ['COMPLETED', 'FAILED', 'CANCELLED'].includes(instance.status)
    return until(() => this.instance<V>(instanceId), isOver, timeoutMillis)
  }

  /** Starts an instance and waits until it is over. */
  async startAndWait<V = Variables>(
    definitionId: string,
    variables: object = {},
    options: StartOptions & { timeoutMillis?: number } = {},
  ): Promise<Instance<V>> {
    const { id } = await this.start(definitionId, variables, options)
    return this.wait<V>(id, options.timeoutMillis)
  }

  /** An instance as it is now. */
  async instance<V = Variables>(id: string): Promise<Instance<V>> {
    return (await this.#get(`/v1/instances/${part(id)}`)) as Instance<V>
  }

  /** Instances that match, the newest first. */
  async instances(
    query: { definitionId?: string; status?: Status; businessKey?: string; page?: number; pageSize?: number } = {},
  ): Promise<Page<Instance>> {
    return (await this.#get('/v1/instances', query)) as Page<Instance>
  }

  /** Every attempt at every step, in the order in which they began. */
  async history(instanceId: string): Promise<StepExecution[]> {
    return ((await this.#get(`/v1/instances/${part(instanceId)}/history`)) as Page<StepExecution>).items
  }

  async cancel(instanceId: string): Promise<Instance> {
    return (await this.#command(`/v1/instances/${part(instanceId)}/cancel`)) as Instance
  }

  /** Lets a failed instance try its failed steps again. */
  async retry(instanceId: string): Promise<Instance> {
    return (await this.#command(`/v1/instances/${part(instanceId)}/retry`)) as Instance
  }

  /** A person has done a task. With `buffer` it is kept if the step is not reached yet. */
  async completeUserTask(
    instanceId: string,
    stepId: string,
    result: object = {},
    options: { completedBy?: string; buffer?: boolean } = {},
  ): Promise<void> {
    const path = `/v1/instances/${part(instanceId)}/user-tasks/${part(stepId)}/complete${buffered(options)}`
    await this.#command(path, { body: { completedBy: options.completedBy ?? '', result } })
  }

  /** Lets a WAIT step go on. With `buffer` it is kept if the step is not reached yet. */
  async signal(
    instanceId: string,
    stepId: string,
    variables: object = {},
    options: { buffer?: boolean } = {},
  ): Promise<void> {
    const path = `/v1/instances/${part(instanceId)}/signals/${part(stepId)}${buffered(options)}`
    await this.#command(path, { body: variables })
  }

  /** Publishes a message to whoever waits for it now or while it lives, an hour if left out. */
  async publish(
    name: string,
    correlationKey = '',
    variables: object = {},
    options: { timeToLiveMillis?: number; messageId?: string; idempotencyKey?: string } = {},
  ): Promise<void> {
    const { timeToLiveMillis: timeToLive = 3_600_000, messageId } = options
    const body = { name, correlationKey, variables, timeToLive, messageId }
    await this.#command('/v2/messages/publication', { body }, options.idempotencyKey)
  }

  /** Tells a BPMN signal to all that wait for it now. */
  async broadcastSignal(
    name: string,
    variables: object = {},
    options: { idempotencyKey?: string } = {},
  ): Promise<void> {
    await this.#command('/v2/signals/broadcast', { body: { signalName: name, variables } }, options.idempotencyKey)
  }

  /** Submits one execution; its id. */
  async submit(action: string, execution: Submit = {}, options: { idempotencyKey?: string } = {}): Promise<string> {
    const [id] = await this.submitAll(action, [execution], options)
    return id as string
  }

  /** Submits many; their ids in the same order. Each thousand is taken as a whole or not at all. */
  async submitAll(action: string, executions: Submit[], options: { idempotencyKey?: string } = {}): Promise<string[]> {
    const ids: string[] = []
    for (let at = 0; at < executions.length; at += EXECUTIONS_PER_REQUEST_MAX) {
      const body = { executions: executions.slice(at, at + EXECUTIONS_PER_REQUEST_MAX) }
      const key = options.idempotencyKey === undefined ? undefined : `${options.idempotencyKey}-${at}`
      const answer = await this.#command(`/v1/actions/${part(action)}/executions/bulk`, { body }, key)
      ids.push(...(answer as { executions: { id: string }[] }).executions.map((one) => one.id))
    }
    return ids
  }

  /** An execution as it is now. */
  async execution(id: string): Promise<Execution> {
    return (await this.#get(`/v1/executions/${part(id)}`)) as Execution
  }

  /** The execution when it is over. */
  waitExecution(id: string, timeoutMillis = 30_000): Promise<Execution> {
    const isOver = (one: Execution) => ['COMPLETED', 'FAILED', 'CANCELLED'].includes(one.state)
    return until(() => this.execution(id), isOver, timeoutMillis)
  }

  /** Cancels an execution that waits, runs or has failed. */
  async cancelExecution(id: string): Promise<void> {
    await this.#command(`/v1/executions/${part(id)}/cancel`)
  }

  async #upload(document: CallOptions): Promise<Deployed> {
    return (await this.#command('/v1/definitions', document)) as Deployed
  }

  async #deployFiles(files: string[]): Promise<Deployed[]> {
    const content = new FormData()
    for (const file of files) content.append('resources', new Blob([await readFile(file)]), basename(file))
    const answer = (await this.#command('/v2/deployments', { content })) as {
      deployments: { processDefinition?: { processDefinitionId: string; processDefinitionVersion: number } | null }[]
    }
    return answer.deployments
      .flatMap((one) => one.processDefinition ?? [])
      .map((one) => ({ id: one.processDefinitionId, version: one.processDefinitionVersion }))
  }

  #get(path: string, query: object = {}): Promise<unknown> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined) as [string, unknown][]
    const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
    return this.#repeat('GET', text === '' ? path : `${path}?${text}`)
  }

  /** With a key, so that it is done once however often it is sent. */
  #command(path: string, options: CallOptions = {}, idempotencyKey: string = randomUUID()): Promise<unknown> {
    return this.#repeat('POST', path, {
      ...options,
      headers: { 'idempotency-key': idempotencyKey, ...currentTrace() },
    })
  }

  #repeat(method: string, path: string, options: CallOptions = {}): Promise<unknown> {
    return retry(this.#patience, () => this.#http.call(method, path, options))
  }
}

const part = encodeURIComponent

function buffered(options: { buffer?: boolean }): string {
  return options.buffer === true ? '?buffer=true' : ''
}

async function until<T>(look: () => Promise<T>, isOver: (seen: T) => boolean, timeoutMillis: number): Promise<T> {
  const deadline = Date.now() + timeoutMillis
  for (let wait = 10; ; wait = Math.min(wait * 1.5, 500)) {
    const seen = await look()
    if (isOver(seen)) return seen
    if (deadline < Date.now() + wait) throw new WaitTimeoutError(`not over after ${timeoutMillis} ms`)
    await pause(wait)
  }
}
