// What is heard on Kafka.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { connect } from '../src/index.js'
import { jobOf } from '../src/kafka.js'

function field(number: number, content: string | number): Buffer {
  const tag = number * 8 + (typeof content === 'number' ? 0 : 2)
  const head = tag < 128 ? [tag] : [(tag & 127) | 128, tag >> 7]
  if (typeof content === 'number') return Buffer.from([...head, content])
  return Buffer.concat([Buffer.from([...head, Buffer.byteLength(content)]), Buffer.from(content)])
}

test('an announcement is a job with every digit', () => {
  const variables = field(30, '{"n": 9007199254740993, "ü": "🦀"}')
  const ids = [field(1, 1), field(2, 'd'), field(10, '1'), field(11, '7'), field(12, '3'), field(13, 'work')]
  const more = [field(14, 'do'), field(21, 3), field(31, '{"percent": 40}'), field(32, '{"traceparent": "00-1"}')]
  const job = jobOf(Buffer.concat([...ids, field(20, 2), ...more, variables, field(40, '\x08\x01')]))
  assert.deepEqual([job?.id, job?.type, job?.instanceId, job?.stepExecutionId], ['1', 'work', '7', '3'])
  assert.deepEqual([job?.retriesRemaining, job?.variables], [2, { n: 9007199254740993n, ü: '🦀' }])
  assert.deepEqual([job?.stepId, job?.lease, job?.progress?.percent], ['do', 3, 40])
  assert.deepEqual(job?.traceContext, { traceparent: '00-1' })
})

test('what is no announcement is passed over', () => {
  assert.equal(jobOf(Buffer.from('no announcement')), undefined)
  assert.equal(jobOf(field(10, '1')), undefined)
})

test('an address must say where the server is', async () => {
  await assert.rejects(connect('kafka://127.0.0.1:9'), /engine=/)
})
