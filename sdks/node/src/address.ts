/** Where a server is and what every request to it carries: what cannot be used is refused at once, in words without secrets. */

import type { ConnectionOptions } from './engine.js'

export const REST_DEFAULT = 'http://127.0.0.1:8080'

const HEADER_VALUE = /^[\x20-\x7e]*$/

/** An address of one of these schemes: a host, and a port if need be. */
export function locate(address: string, ...schemes: string[]): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const isOurs = url !== undefined && schemes.includes(url.protocol.slice(0, -1)) && url.hostname !== ''
  if (!isOurs) throw unusable(address, `it must begin with ${beginnings(schemes)}, and a host`)
  if (url.username !== '' || url.password !== '') {
    throw unusable(address, 'it must have no user or password: give a token or a header')
  }
  if (url.search !== '' || url.hash !== '') throw unusable(address, 'it must have no ? or #')
  return url
}

export function beginnings(schemes: string[]): string {
  return schemes.map((scheme) => `${scheme}://`).join(', ')
}

/** Whatever stands before an @ may be a password. */
export function unusable(address: string, why: string): TypeError {
  return new TypeError(`'${address.replace(/^.*@/s, '…@')}' is no address of a server: ${why}`)
}

/** What every request carries. A value that cannot be sent would later be in the error that says so. */
export function headersOf({ token, headers = {} }: ConnectionOptions): Record<string, string> {
  const all = token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }
  for (const [name, value] of Object.entries(all)) {
    if (!HEADER_VALUE.test(value)) throw new TypeError(`the header '${name}' has characters that cannot be sent`)
  }
  return all
}
