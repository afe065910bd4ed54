import assert from 'node:assert/strict'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import pg from 'pg'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { ROUTES as PAGES } from '../../../src/web/dashboard/routes.ts'
import { TASKS } from '../../../src/worker/worker.ts'
import { startApi } from '../../support/api.ts'
import { signIn } from '../../support/dashboard.ts'
import { fillStore, MANY } from '../../support/full-store.ts'
import { assertYields } from '../../support/loop.ts'
import { ASKS, type Ask, OPEN_ASKS } from '../../support/loop-asks.ts'

// Nothing moves the clock here, so nobody is to wait for it.
const api = await startApi({ CLOCK_WAIT_SECONDS: '0' })
const store = await fillStore(api)

const FORM = 'application/x-www-form-urlencoded'
const DAY_S = 24 * 3600

type Answer = { status: number; bytes: number }

/** Reads an answer without doing anything with it, since this thread is measured. */
function read(asking: ClientRequest, reply: IncomingMessage, { until }: Ask): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0
    if (until === 'headers') {
      asking.destroy()
      resolve(bytes)
    }
    reply.on('error', () => resolve(bytes))
    reply.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    reply.on('end', () => resolve(bytes))
  })
}

function send(method: string, ask: Ask): Promise<Answer> {
  const body = ask.form ?? (ask.json === undefined ? undefined : JSON.stringify(ask.json))
  const type = ask.form === undefined ? 'application/json' : FORM
  const headers = {
    'X-API-KEY': store.client.key,
    'Accept-Encoding': 'gzip',
    ...(body === undefined ? {} : { 'Content-Type': type }),
  }
  return new Promise((resolve, reject) => {
    const asking = request(api.url + ask.path, { method, headers }, async (reply) => {
      resolve({ status: reply.statusCode!, bytes: await read(asking, reply, ask) })
    })
    asking.on('error', reject)
    asking.end(body)
  })
}

async function assertQuick(method: string, asks: Ask[]): Promise<void> {
  assert.ok(asks.length > 0)
  for (const ask of asks) {
    const what = `${method} ${ask.path}`
    assert.ok(!ask.path.includes('{'), `${what} needs a record, see support/loop-asks.ts`)
    await assertYields(what, async () => {
      const { status } = await send(method, ask)
      assert.ok(status < 500, `${what} answers ${status}`)
    })
  }
}

for (const { operationId, method, path, example } of ROUTES) {
  const asks = ASKS[operationId]?.(store) ?? [{ path, json: example }]
  test(`with a full store no request keeps the event loop for 50 ms: ${operationId}`, () =>
    assertQuick(method, asks))
}

for (const [route, asks] of Object.entries(OPEN_ASKS)) {
  test(`with a full store no request keeps the event loop for 50 ms: ${route}`, () =>
    assertQuick(route.split(' ')[0]!, asks(store)))
}

const owner = await signIn(api, store.client.company, { hasSecondFactor: true })
/** A file has as many lines as one likes, so the beginning of one with long charges is enough. */
async function readBeginning(path: string): Promise<number> {
  const reply = await fetch(api.url + owner.home + path, { headers: { cookie: owner.cookie } })
  let bytes = 0
  for await (const chunk of reply.body!) {
    bytes += chunk.length
    if (bytes > 4 * 1024 * 1024) break
  }
  assert.ok(bytes > 1024 || !path.startsWith('/charges.csv'))
  return reply.status
}

for (const { path } of PAGES.filter(({ method, path }) => method === 'GET' && !/:/.test(path))) {
  test(`with a full store no page keeps the event loop for 50 ms: ${path || '/'}`, () =>
    assertYields(path, async () => {
      const status = await readBeginning(path === '/charges.csv' ? `${path}?kind=LINK` : path)
      assert.ok(status < 400, `${path} answers ${status}`)
    }))
}

/** Pages of people who sign in. They are tried in test/dashboard, test/people and test/account. */
const OF_PEOPLE = [
  'dashboard',
  'operator',
  'account',
  'sign-in',
  'sign-out',
  'password',
  'invitation',
  'logos',
  'sandbox/dashboard',
]
const isOfPeople = (address: string): boolean =>
  OF_PEOPLE.some((start) => new RegExp(`^\\w+ /${start}\\b`).test(address))

/** Every address that the server has, as Fastify prints them in a tree. */
function addresses(): string[] {
  const above: string[] = []
  const lines = api.service.server.printRoutes({ commonPrefix: false }).split('\n')
  return lines.flatMap((line) => {
    const [, indent, part, methods] = /^(.*?)[├└]── (\S+)(?: \((.+)\))?$/.exec(line) ?? []
    if (indent === undefined || part === undefined) return []
    const depth = indent.length / 4
    above[depth] = (depth > 0 ? above[depth - 1]! : '') + part
    const found = methods?.split(', ') ?? []
    return found.map((method) => `${method} ${plain(above[depth]!)}`)
  })
}

/** An address without the names of its parameters, and without a slash at its end. */
const plain = (path: string): string =>
  path.replaceAll(/:[\w|:]+|\{\w+\}/g, ':').replace(/:\/$/, ':')

test('every address of the server is tried', () => {
  const known = new Set([
    ...ROUTES.map(({ method, path }) => `${method} ${plain(path)}`),
    ...Object.keys(OPEN_ASKS).map(plain),
  ])
  const found = addresses().filter((address) => !address.startsWith('HEAD '))
  assert.ok(found.length > 80, 'the tree was read')
  assert.deepEqual(
    found.filter((address) => !known.has(address) && !isOfPeople(address)),
    [],
  )
})

test('lists are full: they are what the limits are for', async () => {
  const { bytes } = await send('GET', { path: '/charge?limit=1000' })
  assert.ok(bytes > 8 * 1024 * 1024 && bytes < 32 * 1024 * 1024, `${bytes}`)
  const paths = ['/pix-automatic/recurrences', `/refund/charge/${store.refunded}`]
  for (const path of [...paths, '/event?limit=1000', '/account-balance/statement?limit=1000']) {
    const { headers } = await store.client.get(path)
    assert.match(headers.get('link') ?? '', /rel="next"/, path)
  }
})

test('many requests at once keep the event loop no longer than one', async () => {
  const { link } = store
  for (const path of [`/charge/${link.id}`, '/client?limit=50']) {
    await assertYields(`16 times ${path}`, () =>
      Promise.all(Array.from({ length: 16 }, () => send('GET', { path }))),
    )
  }
})

test('charges expire and are released by themselves, however many they are', async () => {
  const { id } = store.client.company
  const count = async () => {
    const [row] = await api.rows<{ open: number }>(
      `select count(*)::int as open from charges
       where company_id = $1 and status = 'OPEN' and kind = 'LINK'`,
      [id],
    )
    return row!.open
  }
  assert.ok((await count()) >= MANY)
  await api.rows('delete from test_clocks where company_id = $1', [id])
  api.clock.advance(8 * DAY_S)
  const { signal } = new AbortController()
  for (const task of TASKS.filter(({ name }) => /^(expire|receive) charges$/.test(name))) {
    assert.ok('run' in task)
    await task.run(api.app, signal)
  }
  assert.equal(await count(), 0)
})

test('a charge with many items is not remembered, because many of them would fill the memory', async () => {
  const asked: (string | undefined)[] = []
  const original = pg.Client.prototype.query
  // biome-ignore lint/suspicious/noExplicitAny: the driver has a dozen forms of this call
  pg.Client.prototype.query = function query(this: pg.Client, ...given: any[]) {
    asked.push(given[0]?.name)
    // biome-ignore lint/suspicious/noExplicitAny: as above
    return (original as any).apply(this, given)
  } as typeof original
  try {
    for (const id of [store.link.id, store.open, store.link.id, store.open]) {
      await send('GET', { path: `/charge/${id}/status` })
    }
  } finally {
    pg.Client.prototype.query = original
  }
  const finds = asked.filter((name) => /^(find|refresh)_charges$/.test(name ?? ''))
  assert.deepEqual(finds.slice(-2), ['find_charges', 'refresh_charges'])
})
