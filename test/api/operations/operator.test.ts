import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { countRestarts } from '../../../src/processes/machine.ts'
import { startApi } from '../../support/api.ts'
import { cloneDatabase } from '../../support/database.ts'
import { longTest, variants } from '../../support/long.ts'
import { freePort, secretOf, startServer, temporaryFolder } from '../../support/process.ts'
import { serve } from '../../support/servers.ts'

test('strangers learn whether the service is ready, and operators why and how it works', async () => {
  const api = await startApi()
  const ready = await api.call('GET', '/ready')
  assert.deepEqual([ready.status, ready.body], [200, { status: 'ready' }])
  const metrics = await api.call('GET', '/metrics')
  assert.deepEqual([metrics.status, metrics.body.errors[0].code], [404, 'route_not_found'])
  assert.deepEqual((await api.operator('/ready')).body, {
    status: 'ready',
    faults: [],
    warnings: [],
  })
  assert.match((await api.operator('/metrics')).text, /^vintem_database_connections\{/m)
  assert.equal((await api.operator('/charge')).status, 404)
})

test('the guide to operation names every metric of ours, and none that does not exist', async () => {
  const api = await startApi()
  const machine = new Registry()
  countRestarts(machine, { onRestart: () => {} })
  const text = `${(await api.operator('/metrics')).text}\n${await machine.metrics()}`
  const ours = [...text.matchAll(/^# TYPE (vintem_\w+) /gm)].map(([, name]) => name)
  const guide = readFileSync(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
  const named = guide.match(/\bvintem_\w+/g) ?? []
  assert.deepEqual([...new Set(named)].sort(), ours.sort())
})

test('OPERATOR_PORT is served on the loopback by servers and workers, and is off by default', async () => {
  const DATABASE_URL = await cloneDatabase()
  const environment = {
    DATABASE_URL,
    SECRET_KEY: secretOf('operator'),
    DATA_DIR: temporaryFolder(),
  }
  for (const role of variants(['worker', 'api'])) {
    const OPERATOR_PORT = String(await freePort())
    const server = await startServer({ ...environment, OPERATOR_PORT }, ['--role', role])
    const url = `http://127.0.0.1:${OPERATOR_PORT}`
    const { faults } = (await (await fetch(`${url}/ready`)).json()) as { faults: string[] }
    assert.deepEqual(faults, [], server.output())
    assert.match(await (await fetch(`${url}/metrics`)).text(), /^vintem_due_oldest_seconds\{/m)
    if (role === 'api') assert.equal((await fetch(`${server.url}/metrics`)).status, 404)
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    await assert.rejects(fetch(`${url}/health`), 'it has ended')
  }
})

longTest('an operator port that is taken is reported in a sentence', async () => {
  const { port } = await serve(() => {})
  const server = await startServer({
    DATABASE_URL: await cloneDatabase(),
    SECRET_KEY: secretOf('operator'),
    OPERATOR_PORT: String(port),
  })
  assert.equal(await server.ended, 2)
  assert.match(server.output(), new RegExp(`127.0.0.1:${port} already.*another OPERATOR_PORT`))
})
