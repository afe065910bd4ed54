import assert from 'node:assert/strict'
import { test } from 'node:test'
import { post } from '../../../src/ledger/post.ts'
import {
  chargePaid,
  chargeReleased,
  type Posting,
  paymentUnmatched,
  withdrawalHeld,
} from '../../../src/ledger/recipes.ts'
import { newId, toPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { type Client, type Reply, startApi } from '../../support/api.ts'

const api = await startApi()
const STATEMENT = '/account-balance/statement'
const START = api.clock.now().toISOString()

const book = ({ company }: Client, ...postings: Posting[]) =>
  api.app.db.transaction((tx) => post(tx, company.id, postings, api.clock.now()))

const dataOf = ({ body }: Reply) => body.data ?? body
const entriesOf = (reply: Reply): number[] =>
  dataOf(reply).map(({ entry }: { entry: number }) => entry)

const chargeId = newId()
const payment = { endToEndId: 'E1', amount: toCents(1990), chargeId }

/** A company with five entries, a minute between each. */
async function withHistory(apiVersion?: string): Promise<Client> {
  const client = await api.client({}, apiVersion ? { apiVersion } : {})
  const story = [
    chargePaid(payment),
    paymentUnmatched({ endToEndId: 'E2', amount: toCents(80), chargeId: null }),
    chargeReleased(payment),
    withdrawalHeld({ ref: 'wd_1', amount: toCents(50_000) }),
  ]
  for (const posting of story) {
    api.clock.advance(60)
    await book(client, posting)
  }
  return client
}

for (const version of VERSION_NAMES) {
  const bare = version === '2025-01-01'

  test(`${version}: a sandbox company starts with R$ 1.000,00 of play money`, async () => {
    const client = await api.client({}, { apiVersion: version })
    const reply = await client.get('/account-balance')
    const balance = { available: 100_000, pending: 0, held: 0, unmatched: 0 }
    const envelope = { status: 200, message: 'Balance found.', data: balance, errors: [] }
    assert.deepEqual([reply.status, reply.body], [200, bare ? balance : envelope])
    const [opening, ...others] = dataOf(await client.get(STATEMENT))
    assert.deepEqual(others, [])
    assert.deepEqual(opening, {
      entry: 1,
      createdAt: api.clock.now().toISOString(),
      type: 'OPENING',
      amount: 100_000,
      debit: 'bank',
      credit: 'available',
      reference: 'opening',
      balance,
    })
  })

  test(`${version}: a live company starts with nothing`, async () => {
    const live = { mode: 'live', pixKey: 'dona@example.com' } as const
    const client = await api.client(live, { apiVersion: version })
    const balance = { available: 0, pending: 0, held: 0, unmatched: 0 }
    assert.deepEqual(dataOf(await client.get('/account-balance')), balance)
    assert.deepEqual(dataOf(await client.get(STATEMENT)), [])
    const { text } = await client.get(`${STATEMENT}?format=csv`)
    assert.equal(text.split('\r\n').length, 2, 'the heading alone')
  })

  test(`${version}: a statement as a file is the same page, without an envelope`, async () => {
    const client = await withHistory(version)
    const entries = dataOf(await client.get(STATEMENT))
    const times = entries.map(({ createdAt }: { createdAt: string }) => createdAt)
    const charge = toPublic('charge', chargeId)
    const reply = await client.get(`${STATEMENT}?format=csv`)
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.equal(reply.headers.get('content-disposition'), 'attachment; filename="statement.csv"')
    assert.equal(reply.headers.get('x-api-version'), version)
    assert.deepEqual(reply.text.split('\r\n'), [
      'entry,created_at,type,amount_cents,debit,credit,reference,charge_id,' +
        'available_cents,pending_cents,held_cents,unmatched_cents',
      `5,${times[0]},WITHDRAWAL_HELD,50000,available,held,wd_1,,51990,0,50000,80`,
      `4,${times[1]},CHARGE_SETTLED,1990,pending,available,E1,${charge},101990,0,0,80`,
      `3,${times[2]},PAYMENT_UNMATCHED,80,bank,unmatched,E2,,100000,1990,0,80`,
      `2,${times[3]},CHARGE_PAID,1990,bank,pending,E1,${charge},100000,1990,0,0`,
      `1,${times[4]},OPENING,100000,bank,available,opening,,100000,0,0,0`,
      '',
    ])
    const page = await client.get(`${STATEMENT}?format=csv&limit=2&account=pending`)
    assert.equal(page.text.split('\r\n')[2], reply.text.split('\r\n')[4], 'filters hold in a file')
    assert.equal(page.headers.get('link'), null)
  })
}

test('entries come newest first, each with the balances as they were after it', async () => {
  const client = await withHistory()
  const entries = dataOf(await client.get(STATEMENT))
  const reference = toPublic('charge', chargeId)
  const shown = entries.map(({ entry, type, amount, debit, credit, chargeId, balance }: Entry) => [
    entry,
    type,
    amount,
    debit,
    credit,
    chargeId,
    Object.values(balance),
  ])
  assert.deepEqual(shown, [
    [5, 'WITHDRAWAL_HELD', 50_000, 'available', 'held', undefined, [51_990, 0, 50_000, 80]],
    [4, 'CHARGE_SETTLED', 1990, 'pending', 'available', reference, [101_990, 0, 0, 80]],
    [3, 'PAYMENT_UNMATCHED', 80, 'bank', 'unmatched', undefined, [100_000, 1990, 0, 80]],
    [2, 'CHARGE_PAID', 1990, 'bank', 'pending', reference, [100_000, 1990, 0, 0]],
    [1, 'OPENING', 100_000, 'bank', 'available', undefined, [100_000, 0, 0, 0]],
  ])
  assert.deepEqual(dataOf(await client.get('/account-balance')), entries[0].balance)
})

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an entry
type Entry = any

test('each filter finds what it names: from is inclusive, to is not', async () => {
  const client = await withHistory()
  const times = dataOf(await client.get(STATEMENT)).map((entry: Entry) => entry.createdAt)
  const [fifth, fourth, , second] = times
  const filters: Record<string, number[]> = {
    'type=CHARGE_PAID': [2],
    'type=REFUND_PAID': [],
    'account=available': [5, 4, 1],
    'account=pending': [4, 2],
    'account=held': [5],
    'account=unmatched': [3],
    [`from=${second}`]: [5, 4, 3, 2],
    [`to=${second}`]: [1],
    [`from=${second}&to=${fourth}`]: [3, 2],
    [`from=${fourth}&account=held`]: [5],
    [`from=${fifth}&to=${second}`]: [],
    [`from=${encodeURIComponent(fourth.replace('Z', '+00:00'))}`]: [5, 4],
    'type=OPENING&account=pending': [],
    'format=json&type=OPENING': [1],
  }
  for (const [query, entries] of Object.entries(filters)) {
    assert.deepEqual(entriesOf(await client.get(`${STATEMENT}?${query}`)), entries, query)
  }
})

/** Follows the links from one page to the next. */
async function pagesFrom(client: Client, first: string): Promise<Reply[]> {
  const pages: Reply[] = []
  for (let path: string | undefined = first; path; ) {
    const reply = await client.get(path)
    assert.equal(reply.status, 200, reply.text)
    pages.push(reply)
    const link: string = reply.headers.get('link') ?? ''
    path = /^<http:\/\/vintem\.test(\/[^>]+)>; rel="next"$/.exec(link)?.[1]
  }
  return pages
}

test('pages show every entry once while newer ones arrive, in JSON as in CSV', async () => {
  const client = await withHistory()
  const tail = await pagesFrom(client, `${STATEMENT}?limit=2`)
  assert.deepEqual(tail.map(entriesOf), [[5, 4], [3, 2], [1]])
  const first = await client.get(`${STATEMENT}?limit=3`)
  await book(client, withdrawalHeld({ ref: 'wd_2', amount: toCents(1) }))
  const link = first.headers.get('link')!
  assert.equal(link, `<http://vintem.test${STATEMENT}?limit=3&after=3>; rel="next"`)
  assert.deepEqual(entriesOf(await client.get(`${STATEMENT}?limit=3&after=3`)), [2, 1])
  const files = await pagesFrom(client, `${STATEMENT}?format=csv&limit=4&from=${START}`)
  const numbers = files.map(({ text }) => text.match(/^\d+/gm)?.map(Number))
  assert.deepEqual(numbers, [
    [6, 5, 4, 3],
    [2, 1],
  ])
  const held = await pagesFrom(client, `${STATEMENT}?account=held&limit=1`)
  assert.deepEqual(held.map(entriesOf), [[6], [5]])
})

test('a wrong query is answered in JSON with every violation, also for a file', async () => {
  const client = await api.client()
  const wrong: Record<string, string> = {
    'limit=0': 'limit',
    'limit=1001': 'limit',
    'after=0': 'after',
    'after=x': 'after',
    'after=1.5': 'after',
    'after=9007199254740992': 'after',
    'type=NOPE': 'type',
    'account=bank': 'account',
    'from=2026-08-20': 'from',
    'to=yesterday': 'to',
    'format=xml': 'format',
  }
  for (const [query, field] of Object.entries(wrong)) {
    const { status, headers, body } = await client.get(`${STATEMENT}?${query}`)
    assert.equal(status, 400, query)
    assert.match(headers.get('content-type')!, /^application\/json/)
    assert.match(body.errors[0].description, new RegExp(`^${field}: `), query)
  }
  const { body, headers } = await client.get(`${STATEMENT}?format=csv&limit=0&type=x`)
  assert.deepEqual([body.status, body.errors.length], [400, 2])
  assert.equal(headers.get('content-disposition'), null)
})

test('a company sees its own entries only, and only with the scope for it', async () => {
  const [client, other] = [await withHistory(), await api.client()]
  assert.deepEqual(entriesOf(await other.get(`${STATEMENT}?after=5`)), [1])
  assert.equal(dataOf(await other.get('/account-balance')).held, 0)
  assert.equal(dataOf(await client.get('/account-balance')).held, 50_000)
  const blind = await api.client({}, { scopes: ['payments:read', 'balance:write'] })
  for (const path of ['/account-balance', STATEMENT, `${STATEMENT}?format=csv`]) {
    const { status, body } = await blind.get(path)
    assert.deepEqual([status, body.errors[0].code], [403, 'insufficient_scope'], path)
  }
})

test('the document says that the statement is also a file', async () => {
  const { body } = await api.call('GET', '/openapi.json')
  const contentOf = (path: string) => Object.keys(body.paths[path].get.responses[200].content)
  assert.deepEqual(contentOf(STATEMENT), ['application/json', 'text/csv'])
  assert.deepEqual(contentOf('/account-balance'), ['application/json'])
})
