import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parse, stringify } from '../src/json.js'

test('integers beyond 2^53 are bigint, and nothing else is', () => {
  const text = '{"a":9007199254740993,"b":[-123456789012345678901,1.5,9007199254740991],"c":"9007199254740993 \\" 1"}'
  const value = parse(text)
  assert.deepEqual(value, {
    a: 9007199254740993n,
    b: [-123456789012345678901n, 1.5, 9007199254740991],
    c: '9007199254740993 " 1',
  })
  assert.equal(stringify(value), text)
  assert.deepEqual(parse('[1234567890123456.5, 1234567890123456e2]'), [1234567890123456.5, 1234567890123456e2])
})
