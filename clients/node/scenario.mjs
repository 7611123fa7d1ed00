// Runs named scenarios one after the other and prints one line for each: `ok NAME`, or `FAIL NAME: why`.

import assert from 'node:assert/strict'
import path from 'node:path'

const SCENARIO_MS_MAX = 30_000
const scenarios = []

/** Scenarios run in the order in which they are written. */
export function scenario(name, run) {
  scenarios.push({ name, run })
}

export function fixture(name) {
  return path.join(process.env.CAUDAL_FIXTURES ?? path.join(import.meta.dirname, '..', 'fixtures'), name)
}

/** The one item there should be. */
export function only(items, what) {
  assert.equal(items.length, 1, `number of ${what}`)
  return items[0]
}

/** Waits until the condition gives something true, and returns it. */
export async function until(condition, what) {
  const deadline = Date.now() + SCENARIO_MS_MAX - 5_000
  while (Date.now() < deadline) {
    const found = await condition()
    if (found) return found
    await pause(20)
  }
  assert.fail(`did not come to pass: ${what}`)
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** The call must be refused, with words that match. */
export async function refused(call, pattern) {
  const error = await call.then(
    () => assert.fail(`expected a refusal like ${pattern}`),
    (error) => error,
  )
  const words = `${error.status ?? error.statusCode ?? error.code} ${error.message} ${error.response?.statusCode ?? ''}`
  assert.match(words, pattern)
}

export async function runAll() {
  let failures = 0
  for (const { name, run } of scenarios) {
    const began = Date.now()
    let timer
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`took more than ${SCENARIO_MS_MAX} ms`)), SCENARIO_MS_MAX)
    })
    try {
      await Promise.race([run(), limit])
      console.log(`ok ${name} (${(Date.now() - began) / 1000} s)`)
    } catch (error) {
      failures += 1
      console.log(`FAIL ${name}: ${String(error.message).split('\n')[0]}`)
      console.log(error)
    } finally {
      clearTimeout(timer)
    }
  }
  // Clients may keep connections or timers that would hold the process.
  process.exit(failures === 0 ? 0 : 1)
}
