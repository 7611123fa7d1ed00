import type { JobContext } from './context.js'
import type { Variables } from './engine.js'

/** What a handler returns is merged into the variables of the instance. */
export type Result = object | null | undefined | void // eslint-disable-line @typescript-eslint/no-invalid-void-type

export type Handler<Input> = (variables: Input, context: JobContext) => Result | Promise<Result>

/** Checks variables and gives them a type: a zod schema, or anything else that can `parse`. */
export interface Schema<Input> {
  parse(value: unknown): Input
}

export interface Registered {
  schema: Schema<unknown> | undefined
  handler: Handler<never>
}

/** Handlers by job type. A runner takes one. */
export class Registry {
  readonly #handlers = new Map<string, Registered>()

  /**
   * Registers the handler of a job type. With a schema its variables are checked first, and what does not fit is a
   * failure that is not retried; without, they are taken to be of the type it asks for.
   */
  handler<Input = Variables>(jobType: string, handler: Handler<Input>): this
  handler<Input>(jobType: string, schema: Schema<Input>, handler: Handler<Input>): this
  handler<Input>(jobType: string, ...given: [Handler<Input>] | [Schema<Input>, Handler<Input>]): this {
    if (this.#handlers.has(jobType)) throw new TypeError(`there is a handler for '${jobType}' already`)
    const [schema, handler] = given.length === 1 ? [undefined, given[0]] : given
    this.#handlers.set(jobType, { schema, handler })
    return this
  }

  find(jobType: string): Registered {
    const found = this.#handlers.get(jobType)
    if (found === undefined) throw new TypeError(`there is no handler for '${jobType}'`)
    return found
  }

  get jobTypes(): string[] {
    return [...this.#handlers.keys()]
  }
}
