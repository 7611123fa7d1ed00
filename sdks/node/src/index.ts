/**
 * Workers and clients for Caudal: JSON workflows, BPMN processes, direct executions and queues.
 *
 * Begin with `Registry`, `Runner` and `Client`. Tests use `@caudal/client/testing`.
 */

export * from './client.js'
export { JobContext, type Loss } from './context.js'
export {
  connect,
  type Beat,
  type ConnectionOptions,
  type EngineClient,
  type Job,
  type PollRequest,
  type Progress,
  type Standing,
  type Variables,
} from './engine.js'
export * from './errors.js'
export type { HttpOptions } from './http.js'
export type { Outcome } from './outcome.js'
export { Registry, type Handler, type Result, type Schema } from './registry.js'
export { RestEngine } from './rest.js'
export { Runner, type Logger, type RunnerOptions } from './runner.js'
