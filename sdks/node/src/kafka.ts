/**
 * The Kafka transport of a runner, for a server with `dispatch = "kafka_outbox"`. Needs the package `@platformatic/kafka`.
 *
 * Jobs are heard of on Kafka; how they ended is said to the server, over REST or gRPC. A job that came to a worker which was
 * killed is announced again when its lease is over, so nothing is lost; it may come twice, and its first completion counts.
 */

import { Consumer, type ConsumerOptions, type Message, type MessagesStream } from '@platformatic/kafka'

import { unusable } from './address.js'
import { connect, type Beat, type ConnectionOptions, type EngineClient } from './engine.js'
import type { Job, PollRequest, Standing, Variables } from './engine.js'
import { UnavailableError } from './errors.js'
import * as json from './json.js'
import { progressOf, type Said } from './rest.js'

/** Those that were heard of wait for room here, where no other worker can get them. */
const HEARD_MAX = 20
const BROKER = /^[^\s:/@]+(:\d+)?$/

export interface KafkaOptions {
  /** Shared by workers that share jobs: those of another group get all of them as well; `caudal-workers`. */
  group?: string
  /** As the server's `kafka.topic_prefix`; `workflow.jobs.`. */
  topicPrefix?: string
  /** Further ones of the Kafka client, such as `sasl` and `tls`. */
  client?: Partial<ConsumerOptions<Buffer, Buffer, Buffer, Buffer>>
}

type Stream = MessagesStream<Buffer, Buffer, Buffer, Buffer>

/** An `EngineClient` that hears of jobs on Kafka. */
export class KafkaEngine implements EngineClient {
  readonly #server: EngineClient
  readonly #prefix: string
  readonly #make: () => Consumer
  #listening: { consumer: Consumer; stream: Stream } | undefined
  /** Jobs that the server could not be asked about yet. */
  #heard: Job[] = []
  #workerId = ''

  /**
   * @param brokers where to begin, such as `kafka-1:9092,kafka-2:9092`.
   * @param server is told how jobs ended; is closed with this.
   */
  constructor(brokers: string, server: EngineClient, options: KafkaOptions = {}) {
    this.#server = server
    this.#prefix = options.topicPrefix ?? 'workflow.jobs.'
    const usual = {
      clientId: 'caudal',
      bootstrapBrokers: brokers.split(','),
      groupId: options.group ?? 'caudal-workers',
    }
    this.#make = () => new Consumer({ ...usual, ...options.client })
  }

  async poll({ workerId, jobTypes, maxJobs, leaseSeconds, waitSeconds, signal }: PollRequest): Promise<Job[]> {
    this.#workerId = workerId
    if (this.#heard.length === 0) {
      const stream = await this.#listen(jobTypes)
      await readable(stream, waitSeconds * 1000, signal)
      this.#heard = take(stream, maxJobs)
    }
    if (this.#heard.length === 0) return []
    // An announcement may be old: the job is over, or its lease nearly.
    const beats = this.#heard.map((job) => ({ job }))
    const standings = await this.#server.heartbeat(workerId, leaseSeconds, beats)
    const held = this.#heard.filter((_, at) => standings[at] === 'HELD')
    this.#heard = []
    return held
  }

  complete(workerId: string, job: Job, variables: Variables): Promise<void> {
    return this.#server.complete(workerId, job, variables)
  }

  fail(workerId: string, job: Job, failure: Parameters<EngineClient['fail']>[2]): Promise<void> {
    return this.#server.fail(workerId, job, failure)
  }

  throwError(workerId: string, job: Job, error: Parameters<EngineClient['throwError']>[2]): Promise<void> {
    return this.#server.throwError(workerId, job, error)
  }

  heartbeat(workerId: string, leaseSeconds: number, beats: Beat[]): Promise<Standing[]> {
    return this.#server.heartbeat(workerId, leaseSeconds, beats)
  }

  release(workerId: string, job: Job, delayMillis?: number): Promise<void> {
    return this.#server.release(workerId, job, delayMillis)
  }

  /** Leaves the group, gives back what was heard of and not begun, and closes the transport to the server. */
  async close(): Promise<void> {
    const unbegun = this.#heard
    if (this.#listening !== undefined) {
      unbegun.push(...take(this.#listening.stream, Number.MAX_SAFE_INTEGER))
      await this.#leave(this.#listening.consumer)
    }
    // What cannot be given back is free when its lease ends.
    await Promise.allSettled(unbegun.map((job) => this.#server.release(this.#workerId, job)))
    await this.#server.close()
  }

  async #listen(jobTypes: string[]): Promise<Stream> {
    if (this.#listening !== undefined && !this.#listening.stream.destroyed) return this.#listening.stream
    if (this.#listening !== undefined) await this.#leave(this.#listening.consumer)
    const consumer = this.#make()
    try {
      const topics = jobTypes.map((type) => this.#prefix + type)
      const from = { mode: 'committed', fallbackMode: 'earliest' } as const
      const stream = await consumer.consume({ topics, ...from, autocommit: 1000, highWaterMark: HEARD_MAX })
      // The stream is made anew then.
      stream.on('error', () => stream.destroy())
      // It fetches only while somebody listens: if listeners came and went it could be left waiting for ever.
      stream.on('readable', () => undefined)
      this.#listening = { consumer, stream }
      return stream
    } catch (error) {
      await this.#leave(consumer)
      throw new UnavailableError(error instanceof Error ? error.message : String(error), { cause: error })
    }
  }

  async #leave(consumer: Consumer): Promise<void> {
    this.#listening = undefined
    // The compiler takes the overload with a callback otherwise.
    const close = consumer.close.bind(consumer) as (force?: boolean) => Promise<void>
    try {
      await close(true)
    } catch {
      // A broker that is away cannot be told.
    }
  }
}

/**
 * The transport of `kafka://BROKER,BROKER?engine=http://SERVER`, with `group` and `topic_prefix` if need be. The options are
 * those of the transport to the server.
 */
export async function byAddress(address: string, options: ConnectionOptions = {}): Promise<EngineClient> {
  const [brokers = '', query = ''] = address.slice('kafka://'.length).split('?')
  const given = new URLSearchParams(query)
  const engine = given.get('engine')
  if (!brokers.split(',').every((broker) => BROKER.test(broker))) {
    throw unusable(address, 'it must begin with kafka://, and brokers with commas between them, such as kafka-1:9092')
  }
  if (engine === null) throw unusable(address, 'it does not say where the server is: ?engine=http://…')
  const [group, topicPrefix, session] = [given.get('group'), given.get('topic_prefix'), given.get('session_timeout')]
  return new KafkaEngine(brokers, await connect(engine, options), {
    ...(group === null ? {} : { group }),
    ...(topicPrefix === null ? {} : { topicPrefix }),
    ...(session === null
      ? {}
      : { client: { sessionTimeout: Number(session), heartbeatInterval: Number(session) / 3 } }),
  })
}

/** Resolves when something can be read, at the latest after a time. */
function readable(stream: Stream, millis: number, signal: AbortSignal): Promise<void> {
  if (stream.readableLength > 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      stream.off('readable', done).off('close', done)
      resolve()
    }
    const timer = setTimeout(done, millis)
    signal.addEventListener('abort', done)
    stream.on('readable', done).on('close', done)
  })
}

function take(stream: Stream, max: number): Job[] {
  const jobs: Job[] = []
  for (let left = max; left > 0; left--) {
    const message = stream.read() as Message | null
    if (message === null) break
    const job = jobOf(message.value)
    if (job !== undefined) jobs.push(job)
  }
  return jobs
}

/** The job of an announcement; nothing if it is none: it would be the same again and again. */
export function jobOf(value: Buffer): Job | undefined {
  try {
    const fields = fieldsOf(value)
    const text = (number: number) => (fields.get(number) as Buffer | undefined)?.toString('utf8') ?? ''
    return {
      id: text(10),
      type: text(13),
      variables: json.parse(text(30)) as Variables,
      instanceId: text(11),
      stepId: text(14),
      stepExecutionId: text(12),
      retriesRemaining: Number(fields.get(20) ?? 0),
      lockExpiresAt: new Date(Date.now() + 60_000),
      lease: Number(fields.get(21) ?? 0),
      progress: progressOf(parsed(text(31)) as Said),
      traceContext: parsed(text(32)) as Record<string, string> | undefined,
    }
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  return text === '' ? undefined : json.parse(text)
}

/** The fields of a protobuf message, by their numbers: there is one message, so no package is needed for it. */
function fieldsOf(message: Buffer): Map<number, number | Buffer> {
  const fields = new Map<number, number | Buffer>()
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = message.readUInt8(at++)
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    const [number, kind] = [Math.floor(tag / 8), tag % 8]
    if (kind === 0) fields.set(number, varint())
    else if (kind === 2) {
      const length = varint()
      if (message.length < at + length) throw new RangeError('it ends too early')
      fields.set(number, message.subarray(at, at + length))
      at += length
    } else throw new RangeError(`field ${number} is of an unknown kind`)
  }
  return fields
}
