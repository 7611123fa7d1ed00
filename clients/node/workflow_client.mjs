// A client of JSON workflows written from their contract: REST with what Node brings, gRPC with @grpc/grpc-js.
//
// It plays the scenarios of `spec/scenarios`: each line it reads names a call and who answers it, each line it writes is the answer, with the
// status as HTTP has it (`crates/app/tests/scenarios/foreign.rs`).

import { createInterface } from 'node:readline'

class Rest {
  async send(method, path, body) {
    // No connection is kept: the server may be another one since the last call.
    const init = { method, headers: { 'content-type': 'application/json', connection: 'close' } }
    const answer = await fetch(`http://${this.address}/v1${path}`, body === undefined ? init : { ...init, body: JSON.stringify(body) })
    const text = await answer.text()
    return [answer.status, text ? JSON.parse(text) : null]
  }

  upload = ({ document }) => this.send('POST', '/definitions', document)
  start = ({ body }) => this.send('POST', '/instances', body)
  instance = ({ id }) => this.send('GET', `/instances/${id}`)
  history = ({ id }) => this.send('GET', `/instances/${id}/history`)
  list = ({ filters }) => this.send('GET', `/instances?${new URLSearchParams(filters)}`)
  poll = ({ worker, jobTypes }) => this.send('POST', '/jobs/poll', { workerId: worker, jobTypes })
  complete = ({ job, worker, variables }) => this.send('POST', `/jobs/${job}/complete`, { workerId: worker, variables })
  fail = ({ job, worker, retryable, message }) =>
    this.send('POST', `/jobs/${job}/fail`, { workerId: worker, retryable, errorMessage: message })
  userTask = ({ instance, step, result, buffer }) =>
    this.send('POST', `/instances/${instance}/user-tasks/${step}/complete${buffered(buffer)}`, { completedBy: 'anna', result })
  signal = ({ instance, step, variables, buffer }) =>
    this.send('POST', `/instances/${instance}/signals/${step}${buffered(buffer)}`, variables)
  cancel = ({ instance }) => this.send('POST', `/instances/${instance}/cancel`, {})
  retry = ({ instance }) => this.send('POST', `/instances/${instance}/retry`, {})
}

const buffered = (buffer) => (buffer ? '?buffer=true' : '')

class Grpc {
  static async load(proto) {
    const grpc = await import('@grpc/grpc-js')
    const loader = await import('@grpc/proto-loader')
    const options = { enums: String, longs: Number, defaults: true, oneofs: true }
    const Engine = grpc.loadPackageDefinition(await loader.load(proto, options)).workflow.v1.WorkflowEngine
    const { INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, ALREADY_EXISTS } = grpc.status
    const statuses = { [INVALID_ARGUMENT]: 400, [NOT_FOUND]: 404, [FAILED_PRECONDITION]: 409, [ALREADY_EXISTS]: 409 }
    return Object.assign(new Grpc(), { Engine, credentials: grpc.credentials.createInsecure(), statuses })
  }

  // A connection of its own: the server may be another one since the last call.
  send(call, request, done = 200) {
    const engine = new this.Engine(this.address, this.credentials)
    return new Promise((resolve) =>
      engine[call](request, (refused, answer) => {
        engine.close()
        resolve(refused ? [this.statuses[refused.code] ?? 500, { message: refused.details }] : [done, answer])
      }),
    )
  }

  async ofInstance(call, request, done) {
    const [status, answer] = await this.send(call, request, done)
    return [status, answer.instance ? instance(answer.instance) : answer]
  }

  upload = ({ document }) => this.send('UploadDefinition', { definition: definition(document) }, 201)
  start = ({ body }) => this.ofInstance('StartInstance', { ...body, variables: struct(body.variables) }, 201)
  instance = ({ id }) => this.ofInstance('GetInstance', { id })
  cancel = ({ instance: id }) => this.ofInstance('CancelInstance', { id })
  retry = ({ instance: id }) => this.ofInstance('RetryInstance', { id })

  history = async ({ id }) => {
    const [status, answer] = await this.send('GetInstanceHistory', { id })
    return [status, { items: answer.executions?.map((one) => ({ ...one, status: word(one.status) })) }]
  }

  list = async ({ filters }) => {
    const { status: wanted, ...others } = filters
    const request = wanted ? { ...others, status: `INSTANCE_STATUS_${wanted}` } : others
    const [status, answer] = await this.send('ListInstances', request)
    return [status, { items: answer.instances?.map(instance), total: answer.total }]
  }

  poll = ({ worker, jobTypes }) => this.send('PollJobs', { workerId: worker, jobTypes })
  complete = ({ job, worker, variables }) =>
    this.send('CompleteJob', { jobId: job, workerId: worker, variablesToSet: struct(variables) }, 204)
  fail = ({ job, worker, retryable, message }) =>
    this.send('FailJob', { jobId: job, workerId: worker, retryable, errorMessage: message }, 204)
  userTask = ({ instance: instanceId, step, result, buffer }) =>
    this.send('CompleteUserTask', { completedBy: 'anna', result: struct(result), instanceId, userTaskStepId: step, buffer }, 204)
  signal = ({ instance: instanceId, step, variables, buffer }) =>
    this.send('SignalWait', { instanceId, waitStepId: step, variables: struct(variables), buffer }, 204)
}

const word = (name) => name.replace(/^(INSTANCE|STEP_EXECUTION)_STATUS_/, '')
const instance = (one) => ({ ...one, status: word(one.status), variables: unstruct(one.variables) })
const struct = (object) => ({ fields: mapped(object ?? {}, value) })
const unstruct = (given) => mapped(given?.fields ?? {}, unvalue)
const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([name, inner]) => [name, change(inner)]))

function value(given) {
  if (given === null) return { nullValue: 'NULL_VALUE' }
  if (Array.isArray(given)) return { listValue: { values: given.map(value) } }
  switch (typeof given) {
    case 'boolean':
      return { boolValue: given }
    case 'number':
      return { numberValue: given }
    case 'string':
      return { stringValue: given }
    default:
      return { structValue: struct(given) }
  }
}

function unvalue(given) {
  switch (given.kind) {
    case 'listValue':
      return given.listValue.values.map(unvalue)
    case 'structValue':
      return unstruct(given.structValue)
    case 'nullValue':
      return null
    default:
      return given[given.kind]
  }
}

function definition({ steps = [], metadata, ...rest }) {
  return { ...rest, metadata: struct(metadata), steps: steps.map(step) }
}

function step({ type, transformations, boundaryEvents = [], ...rest }) {
  const events = boundaryEvents.map((event) => ({ ...event, type: `BOUNDARY_EVENT_TYPE_${event.type}` }))
  return { ...rest, type: `STEP_TYPE_${type}`, transformations: mapped(transformations ?? {}, value), boundaryEvents: events }
}

const [, , surface, proto] = process.argv
const client = surface === 'grpc' ? await Grpc.load(proto) : new Rest()
for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line)
  client.address = asked.address
  const [status, answer] = await client[asked.call](asked.with)
  console.log(JSON.stringify({ status, answer: answer ?? null }))
}
