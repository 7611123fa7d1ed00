import type { JobContext, Loss } from './context.js'
import type { Variables } from './engine.js'
import { BpmnError, NonRetryableError, RetryableError, Snooze } from './errors.js'
import type { Registered } from './registry.js'

/** What a handler's end means for its job. */
export type Outcome =
  | { kind: 'completed'; variables: Variables }
  | { kind: 'failed'; message: string; retryable: boolean; retryAfterMillis?: number | undefined }
  | { kind: 'thrown'; code: string; message: string; variables: Readonly<Variables> }
  | { kind: 'snoozed'; delayMillis: number }
  | { kind: 'abandoned'; loss: Loss }

/** Calls the handler. */
export async function run({ schema, handler }: Registered, context: JobContext): Promise<Outcome> {
  let outcome: Outcome
  try {
    const variables = schema === undefined ? context.variables : check(() => schema.parse(context.variables))
    outcome = { kind: 'completed', variables: asVariables(await handler(variables as never, context)) }
  } catch (error) {
    outcome = of(error)
  }
  return context.loss === undefined ? outcome : { kind: 'abandoned', loss: context.loss }
}

function check<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new NonRetryableError(`variables: ${wordsOf(error)}`, { cause: error })
  }
}

function asVariables(result: unknown): Variables {
  if (result === undefined || result === null) return {}
  if (typeof result === 'object' && !Array.isArray(result)) return result as Variables
  throw new NonRetryableError(
    `a handler must return an object of variables, not ${Array.isArray(result) ? 'a list' : `a ${typeof result}`}`,
  )
}

function of(error: unknown): Outcome {
  if (error instanceof BpmnError) {
    return { kind: 'thrown', code: error.code, message: error.message, variables: error.variables }
  }
  if (error instanceof Snooze) return { kind: 'snoozed', delayMillis: error.delayMillis }
  if (error instanceof NonRetryableError) return { kind: 'failed', message: error.message, retryable: false }
  const retryAfterMillis = error instanceof RetryableError ? error.retryAfterMillis : undefined
  return { kind: 'failed', message: wordsOf(error), retryable: true, retryAfterMillis }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}
