/** What can go wrong, by what a caller can do about it; and what handlers throw. */

/** Anything this package throws. */
export class CaudalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = new.target.name
  }
}

/** The server refused a request. */
export class ApiError extends CaudalError {
  constructor(
    readonly status: number,
    readonly code: string,
    /** The server's own words. */
    readonly detail: string,
  ) {
    super(`${detail} (${code}, ${status})`)
  }
}

/** There is no such thing. */
export class NotFoundError extends ApiError {}

/** It is there, but in a state in which this cannot be done. */
export class ConflictError extends ApiError {}

/** The server is away or busy; the same request may work later. */
export class UnavailableError extends CaudalError {
  constructor(
    message: string,
    readonly options: {
      /** How long the server asks to wait. */
      retryAfterMillis?: number | undefined
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
  }
}

/** What was waited for did not happen in time. */
export class WaitTimeoutError extends CaudalError {}

/** Thrown by a handler: trying again cannot help, whatever retries are left. */
export class NonRetryableError extends CaudalError {}

/** Thrown by a handler: try again after a while of its choice. Any other error is retried as well. */
export class RetryableError extends CaudalError {
  constructor(
    message: string,
    readonly retryAfterMillis?: number,
  ) {
    super(message)
  }
}

/** Thrown by a handler: an error that the BPMN process may catch. */
export class BpmnError extends CaudalError {
  constructor(
    readonly code: string,
    message = '',
    readonly variables: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }
}

/** Thrown by a handler: not now. The job comes again after the delay, and no retry is used up. */
export class Snooze extends CaudalError {
  constructor(readonly delayMillis: number) {
    super(`put off for ${delayMillis} ms`)
  }
}
