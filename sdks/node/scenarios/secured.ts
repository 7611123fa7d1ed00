// A server that speaks TLS, with a certificate of an authority that the world does not know. Node is told of it by NODE_EXTRA_CA_CERTS.

import { credentials } from '@grpc/grpc-js'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'

import { GrpcEngine } from '../src/grpc.js'
import { Client, Registry, RestEngine, Runner } from '../src/index.js'
import { scenario, startWork, TRANSPORT, WITHIN } from './world.js'

const given = (name: string): string => process.env[name] ?? ''

scenario('tls', async () => {
  const [rest, grpc] = [given('CAUDAL_TLS_REST'), given('CAUDAL_TLS_GRPC')]
  const authority = await readFile(given('CAUDAL_TLS_CA'))
  const engine =
    TRANSPORT === 'rest'
      ? new RestEngine(rest, { token: 't' })
      : new GrpcEngine(grpc, { token: 't', credentials: credentials.createSsl(authority) })
  const registry = new Registry().handler('work', () => ({ by: 'tls' }))
  const runner = new Runner(registry, engine, { pollWaitSeconds: 5, graceSeconds: 5 })
  const client = new Client(rest, { token: 't', headers: { 'x-api-key': 'k' } })
  void runner.run()
  const instance = await client.wait(await startWork(client), WITHIN)
  await runner.stop()
  await engine.close()
  assert.deepEqual([instance.status, instance.variables], ['COMPLETED', { by: 'tls' }])
})
