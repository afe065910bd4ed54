import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import pg from 'pg'
import type { Person } from '../../src/core/customers/rules.ts'
import { sealPerson } from '../../src/core/customers/sealing.ts'
import { findOrCreate } from '../../src/core/customers/store.ts'
import type { Uuid } from '../../src/lib/ids.ts'
import { payer, startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { isLong } from '../support/long.ts'
import { ON_PLAIN } from '../support/on-plain.ts'

const api = await startApi()
const client = await api.client()
const owner = await signIn(api, client.company)

/** Customers and charges of the company, and some of another one before them. */
const ROWS = isLong ? 300_000 : 20_000
const PART = 2000
const KNOWN = payer({ email: 'maria.silva@padaria.com.br', phone: '11988887777' })
/** What the tables hold that a search may read as a whole, because it is bounded or small. */
const SMALL = 500

/** So many statements a search may send, and so many rows these may read. */
const MOST_STATEMENTS = 40
const MOST_ROWS = 30_000

const FIRST = ['Maria', 'João', 'Ana', 'José', 'Rosa', 'Caio', 'Lia']
const LAST = ['da Silva', 'Souza', 'Lima', 'Pereira', 'Prado', 'Melo', 'Reis', 'Sá', 'Costa']

/** Somebody like those who pay: many have each name, few each phone. */
function personOf(n: number): Person {
  const [first, last] = [FIRST[n % FIRST.length]!, LAST[n % LAST.length]!]
  const service = n % 3 === 0 ? `loja${n % 40}.com.br` : 'gmail.com'
  return {
    name: `${first} ${last} ${n.toString(36)}`,
    taxId: String(10_000_000_000 + ((n * 7919) % 10_000_000_000)),
    phone: `119${String((n * 104_729) % 100_000_000).padStart(8, '0')}`,
    email: `${first}.${last}${n}@${service}`.replaceAll(' ', '').toLowerCase(),
  }
}

async function fill(companyId: Uuid, count: number): Promise<void> {
  const at = api.clock.now()
  for (let first = 0; first < count; first += PART) {
    const people = Array.from({ length: PART }, (_, i) => personOf(first + i))
    const wanted = people.map((person) => {
      const payer = { name: person.name, ...sealPerson(api.app.vault, companyId, person) }
      return { companyId, payer, at }
    })
    const ids = await findOrCreate(api.app.db, wanted)
    await api.rows(
      `insert into charges select r.*
       from (select c from charges c where company_id = $1 limit 1) t,
         unnest($3::uuid[], $4::text[]) with ordinality k (customer_id, name, i),
         lateral (select $2::int + i::int as n) n,
         jsonb_populate_record(t.c, jsonb_build_object(
           'id', ('01900000-' || lpad(to_hex(n / 65536), 4, '0') || '-7000-8000-' ||
             lpad(to_hex(n), 12, '0'))::uuid,
           'external_id', 'Order-' || n, 'customer_id', k.customer_id, 'payer_name', k.name,
           'created_at', (t.c).created_at - n * interval '1 minute', 'amount', 1000 + n % 5000)) r`,
      [companyId, first, ids, people.map(({ name }) => name)],
    )
  }
}

before(async () => {
  const other = await api.client()
  for (const shop of [other, client]) {
    const made = await shop.post('/charge/pix', { amount: 1000, customer: KNOWN })
    assert.equal(made.status, 201, made.text)
    await fill(shop.company.id, shop === client ? ROWS : ROWS / 5)
  }
  await api.rows('vacuum analyze customers, charges, payments, withdrawals, recurrences')
})

type Sent = { text: string; values: unknown[] }
const sent: Sent[] = []
const { query } = pg.Client.prototype as { query: (...asked: unknown[]) => unknown }
Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...asked: unknown[]) {
    const [first] = asked as [string | { text?: string; values?: unknown[] }]
    if (typeof first !== 'string' && first.text) {
      sent.push({ text: first.text, values: first.values ?? [] })
    }
    return query.apply(this, asked)
  },
})
after(() => Object.assign(pg.Client.prototype, { query }))

type Plan = Record<string, unknown> & { 'Node Type': string; Plans?: Plan[] }
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

const readBy = (node: Plan): number => {
  const of = (name: string) => Number(node[name] ?? 0)
  const rows = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck']
  return rows.reduce((sum, name) => sum + of(name), 0) * of('Actual Loops')
}

/** What was sent for a page, each statement explained as it was run. */
async function costOf(path: string): Promise<{ statements: number; rows: number; slow: string[] }> {
  sent.length = 0
  const page = await owner.get(path)
  assert.ok(page.status < 400, page.text)
  const asked = sent.filter(({ text }) => /^\s*(?:\(*select|with)\b/i.test(text))
  const cost = { statements: asked.length, rows: 0, slow: [] as string[] }
  for (const { text, values } of [...asked]) {
    if (/\b(?:insert|update|delete)\b/i.test(text)) continue
    const explained = await api.app.db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({
      text: `explain (analyze, format json) ${text}`,
      values,
    })
    const scans = nodesOf(explained[0]!['QUERY PLAN'][0]!.Plan).filter((node) =>
      /Scan/.test(node['Node Type']),
    )
    for (const node of scans) {
      const rows = readBy(node)
      // A bitmap is a list of places. What it costs is told by the rows that are read by it.
      if (node['Node Type'] !== 'Bitmap Index Scan') cost.rows += rows
      if (node['Node Type'] === 'Seq Scan' && rows > SMALL) cost.slow.push(text)
    }
  }
  return cost
}

const TEXTS = [
  'silva',
  'ilv',
  'Maria da Silva',
  'maria',
  'ninguém assim',
  'zzz',
  '7777',
  '98888',
  '(11) 98888-7777',
  '(11) 98888-0000',
  '4725',
  '0000',
  '529.982.247-25',
  '390.533.447-05',
  'maria.silva@padaria.com.br',
  'ninguem@padaria.com.br',
  'padaria',
  '@pad',
  'com',
  'order-12345',
  'ORDER-1',
  'order',
  '10,00',
  '1042',
  '9.999.999,00',
  'E12345678202601010000abcdefghijk',
  'E123456782026',
  'charge_01j',
  'charge_01j00000000000000000000000',
  'clnt_0000',
  'senha',
  '<b>',
]

test(
  'a search sends a bounded number of statements, none of which reads a table',
  ON_PLAIN,
  async () => {
    const lists = ['silva', 'ilv', 'zzz', '7777', 'padaria', 'order', 'ninguém assim']
    for (const [path, texts] of [
      ['/search', TEXTS],
      ['/charges', lists],
      ['/customers', lists],
    ] as const) {
      for (const q of texts) {
        const what = `${path} ${q}`
        const { statements, rows, slow } = await costOf(`${path}?${new URLSearchParams({ q })}`)
        assert.deepEqual(slow, [], what)
        assert.ok(statements <= MOST_STATEMENTS, `${what}: ${statements} statements`)
        assert.ok(rows <= MOST_ROWS, `${what}: ${rows} rows`)
      }
    }
  },
)
