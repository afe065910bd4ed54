import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { atNode, withSchema } from '../../src/db/citus.ts'
import { payer } from '../support/api.ts'
import {
  CITUS_BIN,
  type CitusNode,
  joinNodes,
  NO_CITUS,
  startCitus,
} from '../support/citus-nodes.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { type Running, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { databaseAt, on } from './cluster.ts'

const NAME = 'shop'
const folder = temporaryFolder()
const run = hostedVintemIn(folder)
const settings = { SECRET_KEY: secretOf('citus'), DATA_DIR: folder, ALLOW: 'mail-files,http' }

async function ask<T>(args: string[], env: Record<string, string>): Promise<T> {
  const { code, stdout, stderr } = await run([...args, '--json'], { ...settings, ...env })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as T
}

const serve = (env: Record<string, string>) =>
  startServer({ ...settings, ...env, PUBLIC_URL: 'http://127.0.0.1' })

async function stop({ child, ended }: Running): Promise<void> {
  child.kill('SIGTERM')
  await ended
}

const COMPANY = ['--name', 'Padaria', '--tax-id', '11222333000181', '--email', 'dona@example.com']

/** The functions of our schemas, as a node has them. */
const functionsOf = (node: CitusNode) =>
  on(databaseAt(node.url, NAME), async (client) => {
    const { rows } = await client.query(
      `select oid::regprocedure::text as name, prosrc, proconfig from pg_proc
       where pronamespace::regnamespace::text in ('p1', 'p2') order by 1`,
    )
    return rows
  })

/** The address of the node that a command has named. */
function addressAt(node: string, schema: string, url: string): string {
  const [host, port] = node.split(':')
  return withSchema(atNode(url, { host: host!, port: Number(port) }), schema)
}

test('a database becomes a place of Citus, and its company moves to another node', {
  skip: CITUS_BIN ? false : NO_CITUS,
}, async () => {
  const nodes = await startCitus(2)
  for (const node of nodes) await node.query(`create database ${NAME}`)
  const url = databaseAt(nodes[0].url, NAME)
  const before = { DATABASE_URL: url }
  const { companyId, apiKey } = await ask<{ companyId: string; apiKey: string }>(
    ['company', 'create', ...COMPANY],
    before,
  )
  const headers = { 'X-API-KEY': apiKey, 'content-type': 'application/json' }
  const send = async (at: string, path: string, json: object) => {
    const reply = await fetch(at + path, { method: 'POST', headers, body: JSON.stringify(json) })
    assert.ok(reply.ok, `${path}: ${reply.status}`)
    return ((await reply.json()) as { data: { id: string } }).data
  }
  const sell = async (at: string) => {
    const { id } = await send(at, '/charge/pix', { amount: 500, customer: payer(), devMode: true })
    await send(at, `/charge/${id}/simulate-payment`, {})
    return id
  }
  const plain = await serve(before)
  const sold = [await sell(plain.url)]
  await joinNodes(nodes, NAME)
  const early = await run(['place', 'distribute', '1', 'p1'], { ...settings, ...before })
  assert.match(early.stderr, /Stop all of them/)
  await stop(plain)
  const first = await ask<{ node: string; left: string[] }>(
    ['place', 'distribute', '1', 'p1'],
    before,
  )
  assert.deepEqual(first.left, [])
  const held = addressAt(first.node, 'p1', url)
  const second = await ask<{ node: string }>(['place', 'add', withSchema(url, 'p2')], {
    DATABASE_URL: held,
  })
  assert.notEqual(second.node, first.node)
  const PLACES = `${held} ${addressAt(second.node, 'p2', url)}`
  const [functions, ...others] = await Promise.all(nodes.map(functionsOf))
  for (const other of others) assert.deepEqual(other, functions)
  const server = await serve({ PLACES })
  // Registered after the end of the server, and so run after it.
  after(() => Promise.all(nodes.map((node) => node.stop())))
  sold.push(await sell(server.url))
  await ask(['place', 'move', companyId, '2'], { PLACES })
  sold.push(await sell(server.url))
  const reply = await fetch(`${server.url}/charge`, { headers })
  const { data } = (await reply.json()) as { data: { id: string; paymentStatus: string }[] }
  assert.deepEqual(data.map(({ id }) => id).sort(), sold.sort())
  assert.ok(data.every(({ paymentStatus }) => paymentStatus !== 'PROCESSING'))
  await ask(['ledger', 'audit'], { PLACES })
})
