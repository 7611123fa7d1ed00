// The page that describes REST, run without a browser: its own script, over a document that can do what the script needs and no more.
//
// It finds the server by CAMUNDA_REST_ADDRESS, as the others here do.

import assert from 'node:assert/strict'
import vm from 'node:vm'

import { runAll, scenario, until } from './scenario.mjs'

const REST = process.env.CAMUNDA_REST_ADDRESS ?? 'http://127.0.0.1:8080'

class Element {
  constructor(name) {
    Object.assign(this, { name, children: [], dataset: {}, listeners: {}, value: '', own: '' })
  }
  append(...more) {
    const all = more.flatMap((one) => (one.name === 'fragment' ? one.children : [one]))
    this.children.push(...all)
  }
  replaceChildren(...more) {
    this.children = more
  }
  addEventListener(event, listener) {
    this.listeners[event] = listener
  }
  insertRow() {
    const row = new Element('tr')
    this.append(row)
    return row
  }
  insertCell() {
    const cell = new Element('td')
    this.append(cell)
    return cell
  }
  set textContent(text) {
    this.own = String(text)
    this.children = []
  }
  get textContent() {
    return this.own + this.children.map((child) => child.textContent).join('\n')
  }
  find(name) {
    return this.children.flatMap((child) => (child.name === name ? [child] : child.find(name)))
  }
  querySelectorAll(name) {
    return this.find(name)
  }
  querySelector() {
    return this.find('details').find((box) => !box.hidden) ?? null
  }
}

/** The page as it is when it has read the description. */
async function opened() {
  const html = await (await fetch(`${REST}/docs`)).text()
  const byId = new Map(['title', 'about', 'find', 'operations'].map((id) => [id, new Element('div')]))
  const document = {
    createElement: (name) => new Element(name),
    createDocumentFragment: () => new Element('fragment'),
    getElementById: (id) => byId.get(id),
  }
  const ask = (place, request) => fetch(new URL(place, `${REST}/docs`), request)
  vm.runInNewContext(html.match(/<script>([^]*)<\/script>/)[1], { document, fetch: ask, URLSearchParams, FormData })
  const description = await (await fetch(`${REST}/openapi.json`)).json()
  const boxes = await until(() => byId.get('operations').children.length > 0 && byId.get('operations').find('details'), 'the page')
  assert.notEqual(boxes.length, 0, byId.get('operations').textContent)
  return { description, page: byId, boxes }
}

function open(box) {
  box.open = true
  box.listeners.toggle()
  return box
}

function operationsOf(description) {
  const paths = Object.entries(description.paths)
  return paths.flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })))
}

const title = (box) => box.find('summary')[0].textContent

scenario('every-operation-is-shown-with-its-parameters-and-statuses', async () => {
  const { description, boxes } = await opened()
  const operations = operationsOf(description)
  assert.equal(boxes.length, operations.length)
  for (const { path, method, operation } of operations) {
    const box = boxes.find((box) => title(box).startsWith(`${method.toUpperCase()}\n${path}\n`))
    assert.ok(title(box).endsWith(operation.summary), path)
    const shown = open(box).textContent
    for (const parameter of operation.parameters) {
      assert.ok(shown.includes(`${parameter.name}${parameter.required ? ' *' : ''} (${parameter.in})`), `${path}: ${parameter.name}`)
      assert.ok(shown.includes(parameter.description), `${path}: what ${parameter.name} is`)
    }
    for (const status of Object.keys(operation.responses)) assert.ok(shown.includes(status), `${path}: ${status}`)
  }
})

scenario('what-is-inside-a-body-is-described', async () => {
  const { description, boxes } = await opened()
  const search = open(boxes.find((box) => title(box).includes('/v2/process-instances/search'))).textContent
  const schemas = description.components.schemas
  const described = [
    ['filter', schemas.ProcessInstanceSearchQuery.properties.filter],
    ['filter.state', schemas.ProcessInstanceFilter.properties.state],
    ['page.limit', schemas.SearchQueryPageRequest.anyOf[0].properties.limit],
    ['page.after', schemas.SearchQueryPageRequest.anyOf[2].properties.after],
    ['sort[].field *', schemas.ProcessInstanceSearchQuerySortRequest.properties.field],
    ['items[].endDate *', schemas.ProcessInstanceResult.properties.endDate],
    ['$like', schemas.TextLikeCondition.anyOf[1].properties.$like],
  ]
  for (const [name, property] of described) {
    assert.ok(search.includes(`\n${name}\n`), name)
    assert.ok(search.includes(property.description), `what ${name} is`)
  }
  const jobs = open(boxes.find((box) => title(box).includes('/v2/jobs/activation'))).textContent
  for (const words of ['timeout *', 'milliseconds', 'from 1', '* must be there']) assert.ok(jobs.includes(words), words)
  const create = open(boxes.find((box) => title(box).includes('POST\n/v2/process-instances\n'))).textContent
  assert.ok(create.includes('"awaitCompletion": "boolean"'), create.slice(0, 500))
})

scenario('a-call-can-be-tried', async () => {
  const { boxes } = await opened()
  const tried = async (path, values, body) => {
    const [form] = open(boxes.find((box) => title(box).includes(path))).find('form')
    for (const label of form.find('label')) {
      const [input] = label.find('input')
      const name = label.own.replace(' *', '')
      if (input && name in values) input.value = values[name]
    }
    if (body) form.find('textarea')[0].value = body
    await form.listeners.submit({ preventDefault() {} })
    return form.find('pre')[0].textContent
  }
  assert.match(await tried('/v2/topology', {}), /^200[^]*"clusterSize"/)
  assert.match(await tried('/v1/definitions\n', { page: '0' }), /^200[^]*"pageSize"/)
  assert.match(await tried('/v2/process-instances/search', {}, '{"page":{"limit":1}}'), /^200[^]*"totalItems"/)
  assert.match(await tried('/v2/variables/{variableKey}', { variableKey: 'a/b' }), /^400[^]*"instance": "\/v2\/variables\/a%2Fb"/)
})

scenario('operations-can-be-found', async () => {
  const { page, boxes } = await opened()
  page.get('find').listeners.input({ target: { value: 'Heartbeat job' } })
  const found = boxes.filter((box) => !box.hidden).map(title)
  assert.ok(found.length > 0 && found.every((title) => /heartbeat/.test(title)), found.join())
})

await runAll()
