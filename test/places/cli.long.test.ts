import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { hostedVintemIn, type Result } from '../support/cli.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { secretOf, startServer, temporaryFolder } from '../support/process.ts'

const [first, second, third] = await Promise.all([
  cloneDatabase(),
  emptyDatabase(),
  emptyDatabase(),
])
const folder = temporaryFolder()
const settings = { SECRET_KEY: secretOf('places'), DATA_DIR: folder, ALLOW: 'mail-files,http' }
const run = hostedVintemIn(folder)
const places = { ...settings, PLACES: `${first} ${second}` }
const vintem = (args: string[], env: Record<string, string> = places): Promise<Result> =>
  run(args, env)

async function ask<T>(args: string[]): Promise<T> {
  const { code, stdout, stderr } = await vintem([...args, '--json'])
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout) as T
}

const company = (name: string, ...more: string[]) =>
  ask<{ companyId: string; apiKey: string }>([
    'company',
    'create',
    '--name',
    name,
    '--tax-id',
    '11222333000181',
    '--email',
    'dona@example.com',
    ...more,
  ])

type Place = { place: number; companies: number; moving: number }
const counts = async () => (await ask<Place[]>(['place', 'list'])).map(({ companies }) => companies)

test('from one database to two: added, listed, divided, moved, while a server works', async () => {
  const one = { ...settings, DATABASE_URL: first! }
  const added = await vintem(['place', 'add', second!], one)
  assert.equal(added.code, 0, added.stderr)
  assert.match(added.stdout, /PLACES="<address of place 1> <this address>"/)
  assert.doesNotMatch(added.stdout, /postgres:\/\//)
  const a = await company('Padaria A', '--place', '1')
  const b = await company('Padaria B')
  assert.deepEqual(await counts(), [1, 1], 'a new company goes where the fewest are')
  const { url } = await startServer({ ...places, PUBLIC_URL: 'http://127.0.0.1' })
  const read = async (apiKey: string) => {
    const reply = await fetch(`${url}/company`, { headers: { 'X-API-KEY': apiKey } })
    return ((await reply.json()) as { data: { name: string } }).data.name
  }
  assert.deepEqual([await read(a.apiKey), await read(b.apiKey)], ['Padaria A', 'Padaria B'])
  const wrong = await fetch(`${url}/company`, { headers: { 'X-API-KEY': `${a.apiKey}0` } })
  assert.equal(wrong.status, 401)
  const revoked = await ask<{ keyId: string }>(['key', 'create', '--company', b.companyId])
  assert.ok(revoked.keyId)
  const names = await ask<{ name: string }[]>(['company', 'list'])
  assert.deepEqual(names.map(({ name }) => name).sort(), ['Padaria A', 'Padaria B'])
  const moved = await ask<{ place: number; refusedMs: number }>(['place', 'move', a.companyId, '2'])
  assert.equal(moved.place, 2)
  assert.ok(moved.refusedMs < 5_000)
  assert.deepEqual(await counts(), [0, 2])
  assert.deepEqual([await read(a.apiKey), await read(b.apiKey)], ['Padaria A', 'Padaria B'])
  const again = await vintem(['place', 'move', a.companyId, '2'])
  assert.match(again.stdout, /lives in place 2 already/)
})

test('while a place is down, the companies of the others work, and a server starts', async () => {
  const { companyId, apiKey } = await company('Padaria C', '--place', '1')
  const away = new URL(second!)
  away.port = '1'
  const down = { ...places, PLACES: `${first} ${away.href}` }
  const key = await vintem(['key', 'create', '--company', companyId], down)
  assert.equal(key.code, 0, key.stderr)
  assert.match(key.stderr, /Place 2 does not answer/)
  const { url } = await startServer({ ...down, PUBLIC_URL: 'http://127.0.0.1' })
  const reply = await fetch(`${url}/company`, { headers: { 'X-API-KEY': apiKey } })
  assert.equal(reply.status, 200)
})

test('companies are moved by a file and by their work, and one that cannot be stops no other', async () => {
  const made = []
  for (const name of ['D', 'E', 'F']) made.push(await company(name, '--place', '1'))
  const unknown = '019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80'
  const file = join(folder, 'ids.txt')
  writeFileSync(file, `# three\n${made[0]!.companyId}\n\n${unknown}\n${made[1]!.companyId} # E\n`)
  const before = await counts()
  const moved = await vintem(['place', 'move', '--companies', file, '2'])
  assert.equal(moved.code, 1)
  assert.match(moved.stdout, /2 of 3 companies are where they should be/)
  assert.match(moved.stdout, new RegExp(`repeat the command to go on:\\n +${unknown} `))
  assert.deepEqual(await counts(), [before[0]! - 2, before[1]! + 2])
  const wrong = await vintem(['place', 'move', '--companies', join(folder, 'none'), '2'])
  assert.match(wrong.stderr, /none cannot be read/)

  const plan = await ask<{ from: number; to: number }[]>(['place', 'balance', '--dry-run'])
  assert.ok(plan.length > 0 && plan.every(({ from, to }) => from === 2 && to === 1))
  assert.equal((await vintem(['place', 'balance'])).code, 0)
  const [first, second] = await counts()
  assert.ok(Math.abs(first! - second!) <= 1, `${first} ${second}`)
  assert.match((await vintem(['place', 'balance'])).stdout, /The places are balanced/)
})

test('places in another order, missing, foreign or used ones are refused', async () => {
  const orders = [
    `${second} ${first}`,
    `${first}`,
    `${first} ${third} ${second}`,
    `${first} ${second} ${first}`,
  ]
  for (const PLACES of orders) {
    const { code, stderr } = await vintem(['place', 'list'], { ...settings, PLACES })
    assert.notEqual(code, 0)
    assert.match(stderr, /PLACES/)
  }
  // What was refused has left no number behind.
  const { code, stderr } = await vintem(['place', 'list'], places)
  assert.equal(code, 0, stderr)
})

test('a place may have several servers, of which one accepts writes', async () => {
  const { host, pathname } = new URL(third!)
  const several = third!.replace(host, `${host},${host}`)
  const added = await vintem(['place', 'add', several])
  assert.equal(added.code, 0, added.stderr)
  const three = { ...settings, PLACES: `${first} ${second} ${several}` }
  const listed = await vintem(['place', 'list'], three)
  assert.ok(listed.stdout.includes(` ${host},${host}${pathname}`), listed.stderr)
})
