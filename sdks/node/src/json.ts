/** JSON that keeps integers no `number` holds: they are `bigint`, both ways. */

// Texts first, so that digits inside them are left alone; then integers of so many digits that they may be too large.
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g
const LONG = /\d{16}/
/** No text that people write begins so. */
const MARK = '\u0000bigint:'
const WRITTEN = /"\\u0000bigint:(-?\d+)"/g

export function parse(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text)
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"\\u0000bigint:${token}"`,
  )
  if (marked === text) return JSON.parse(text)
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  )
}

export function stringify(value: unknown): string {
  const mark = (_: string, item: unknown) => (typeof item === 'bigint' ? `${MARK}${item.toString()}` : item)
  return JSON.stringify(value, mark).replace(WRITTEN, '$1')
}
