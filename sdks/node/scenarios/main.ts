// The scenarios of `sdks/scenarios` with this package and a real server: prints `ok NAME` or `FAIL NAME: why`.

import './everyday.js'
import './faults.js'
import './secured.js'
import './trace.js'
import { bench, workerProcess } from './worker.js'
import { scenarios } from './world.js'

const AT_ONCE = 4

async function play(name: string): Promise<boolean> {
  try {
    await scenarios.get(name)?.()
    console.log(`ok ${name}`)
    return true
  } catch (error) {
    console.error(error)
    console.log(`FAIL ${name}: ${String(error).split('\n').join(' ').slice(0, 300)}`)
    return false
  }
}

const [first, ...rest] = process.argv.slice(2)
if (first === 'worker') {
  await workerProcess(rest[0] ?? '', rest[1] ?? '')
  process.exit()
} else if (first === 'bench') {
  await bench(rest[0] ?? '', Number(rest[1]))
  process.exit()
} else {
  const names = first === undefined ? [...scenarios.keys()] : [first, ...rest]
  const results: boolean[] = []
  const player = async () => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) results.push(await play(name))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, player))
  process.exit(results.includes(false) ? 1 : 0)
}
