import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, test } from 'node:test'
import { searchCharges, summarizeCharges } from '../../../src/core/charges/search.ts'
import { indexEmail } from '../../../src/core/customers/sealing.ts'
import { findIdsByName } from '../../../src/core/customers/search.ts'
import { findByPhone, listUnindexed } from '../../../src/core/customers/store.ts'
import { createTx, type Query, type Row, type Tx } from '../../../src/db/database.ts'
import { lowestIdAt, newId, toPublic } from '../../../src/lib/ids.ts'
import { chargeTxid, staticTxid } from '../../../src/provider/txid.ts'
import { startApi } from '../../support/api.ts'
import { isLong } from '../../support/long.ts'

const api = await startApi()
const { app } = api
/** Rows of the company that is asked about, and of others beside it. */
const ROWS = isLong ? 1_000_000 : 30_000
const OTHERS = 10_000
/** So many are inserted at once, because statements have a time limit. */
const PART = 100_000
/** Each customer has 30 charges. */
const CUSTOMERS = Math.ceil(ROWS / 30)
const LIMIT = isLong ? 50 : 20
const NOW = new Date('2026-08-16T12:00:00Z')
const YEARS_MS = 2 * 365 * 86_400_000
const companyId = (await api.client()).company.id
const otherId = newId()
const atOf = (n: number) => new Date(NOW.getTime() - Math.floor(((ROWS - n) * YEARS_MS) / ROWS))
const idOf = (n: number) => lowestIdAt(atOf(n)).slice(0, 24) + n.toString(16).padStart(12, '0')
const codeOf = (n: number) => `01800000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const uuidOf = (text: string) =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/**
 * A shop of two years: most charges are received or expired, all else is rare, and what is rare is
 * among the oldest, where a search that begins with the newest would find it last. Late
 * sales have another time than their ids.
 */
const FILL = `
  insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, external_id,
    customer_id, payer_name, payer_index, payer_sealed, link, br_code, end_to_end_id, created_at,
    expires_at, payment_date, settles_at, static_code_id, recurrence_id, email_index)
  select $1, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, kind,
    case when n = 77 then 4242 else 1000 + n % 10 end,
    case when n in (1, 2, 3) then 'CANCELED' when n % 3 = 0 then 'EXPIRED'
      when n > $2 - 200 then 'OPEN' else 'COMPLETED' end,
    case when n in (1, 2, 3) then 'PROCESSING' when n % 3 = 0 then 'EXPIRED'
      when n > $2 - 3 then 'PENDING' when n > $2 - 200 then 'PROCESSING'
      when n in (4, 5) then 'REFUNDED' else 'RECEIVED' end,
    n in (7, 8), case when n % 100 = 0 then 'order-' || n end,
    md5('customer' || n % $4)::uuid, 'Maria', payer_index, '\\x00',
    case when kind = 'LINK' then '{}'::jsonb end, '000201',
    case when n % 3 <> 0 and n > 3 and n <= $2 - 200 then 'E' || n end,
    at, at + interval '1 day',
    case when n % 3 <> 0 and n > 3 and n <= $2 - 200 then at + interval '5 minutes' end, at,
    case when kind = 'STATIC' then
      ('01800000-0000-7000-8000-' || lpad(to_hex(n % 10), 12, '0'))::uuid end,
    case when kind = 'RECURRING' then gen_random_uuid() end,
    case when n < 5000 then null when n < 8000 then $5 when n > $2 - 50 then $6
      else payer_index end
  from (
    select n, ms, is_late, to_timestamp(ms / 1000.0) - is_late::int * interval '1 hour' as at,
      case when n % $4 = 7 then $7 else decode(md5('payer' || n % $4), 'hex') end as payer_index,
      case when n in (10, 11) then 'LINK' when n in (13, 14) then 'RECURRING'
        when n between 100 and 200 then 'STATIC' else 'PIX' end as kind
    from (
      select n, n > $2 / 2 and n % 7 = 0 as is_late,
        (extract(epoch from $3::timestamptz) * 1000)::int8
          - div(($2 - n)::numeric * ${YEARS_MS}, $2)::int8 as ms
      from generate_series($8::int, least($2::int, $8 + ${PART - 1})) n) timed) made`

const email = indexEmail(app.vault, companyId, 'maria@example.com')
const busy = indexEmail(app.vault, companyId, 'busy@example.com')
/** The payer of customer 7 is known by a tax id that the vault can name. */
const seventh = app.vault.index(companyId, '52998224725')

before(async () => {
  const found = await api.rows<{ name: string; made: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as made
     from pg_index where indrelid = 'charges'::regclass and not indisprimary`,
  )
  // To build them at once is faster than to write a million entries one by one.
  for (const { name } of found) await api.rows(`drop index ${name}`)
  const fill = (id: string, rows: number, first: number) =>
    api.rows(FILL, [id, rows, NOW, CUSTOMERS, busy, email, seventh, first])
  await fill(otherId, OTHERS, 1)
  for (let first = 1; first <= ROWS; first += PART) await fill(companyId, ROWS, first)
  for (const { made } of found) await api.rows(made)
  await api.rows(
    `insert into customers (company_id, id, name, status, tax_id_index, sealed, origin, created_at,
       updated_at)
     select $1, md5('customer' || n)::uuid,
       case when n < 1000 then 'Maria' else 'Ana ' || md5('ana' || n) end, 'ACTIVE',
       case when n = 7 then $3 else decode(md5('payer' || n), 'hex') end,
       '\\x00', 'charge', now(), now() from generate_series(0, $2 - 1) n`,
    [companyId, CUSTOMERS, seventh],
  )
  await api.rows(
    `insert into customers (company_id, id, name, status, tax_id_index, sealed, phone_index, origin,
       created_at, updated_at)
     select $1, gen_random_uuid(), 'Rosa ' || md5('name' || n), 'ACTIVE', decode(md5('rosa' || n), 'hex'), '\\x00',
       decode(md5('phone' || n), 'hex'), 'charge', now(), now() from generate_series(1, 10000) n`,
    [companyId],
  )
  await api.rows(
    `insert into former_tax_ids (company_id, tax_id_index, customer_id)
     select $1, decode(md5('former' || n), 'hex'), gen_random_uuid()
     from generate_series(1, 5000) n`,
    [companyId],
  )
  // Half of those with the address are from before charges had it themselves.
  await api.rows(
    `insert into charge_emails (company_id, email_index, charge_id)
     select company_id, case when id < $3 then $2 when id < $5 then $6 else payer_index end, id
     from charges where company_id = $1 and id < $4`,
    [companyId, email, idOf(50), idOf(5000), idOf(3000), busy],
  )
  await api.rows('vacuum analyze charges, customers, charge_emails, former_tax_ids')
})

type Plan = Row & { 'Node Type': string; Plans?: Plan[]; 'Relation Name'?: string }

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Rows that a node has taken into its hands, whether or not it gave them on. */
const readBy = (node: Plan): number => {
  const of = (name: string) => Number(node[name] ?? 0)
  const rows = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck']
  return rows.reduce((sum, name) => sum + of(name), 0) * of('Actual Loops')
}

const blocksOf = (plan: Plan): number =>
  Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks'])

/** A page is read by id and then by row, for a payer or a state also once for each branch. */
const MOST_ROWS = 25 * LIMIT
const MOST_BLOCKS = 20 * LIMIT
/**
 * A name is looked for in 5,000 customers, in a page of each of 100 of them and in the 2,000 newest
 * charges, for a period in both of its parts.
 */
const MOST_FOR_NAMES = 5000 + 2 * (100 * LIMIT + 2000)

/** Runs statements as they are, and explains each as it was run. */
function explaining(): { db: Tx; plans: Plan[] } {
  const plans: Plan[] = []
  const db = createTx({
    wake: () => {},
    notify: () => {},
    async query<R extends Row>(query: Query) {
      const text = `explain (analyze, buffers, format json) ${query.text}`
      const [row] = await app.db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>({ ...query, text })
      plans.push(row!['QUERY PLAN'][0]!.Plan)
      return app.db.query<R>(query)
    },
  })
  return { db, plans }
}

type Asked = Parameters<typeof searchCharges>[1]

/** How many rows were read, and by which scans; fails where a whole table was. */
function costOf(plans: Plan[], what: string): number {
  const scans = plans.flatMap(nodesOf).filter((node) => /Scan/.test(node['Node Type']))
  const described = scans.map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`)
  const isWhole = scans.some(
    (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== undefined,
  )
  assert.ok(!isWhole, `${what}: ${described}`)
  return scans.reduce((sum, node) => sum + readBy(node), 0)
}

/** Lists a page and returns how many it finds. It must not read much more than these. */
async function list(query: Asked, after: string | null = null): Promise<number> {
  const { db, plans } = explaining()
  const where = { db, vault: app.vault, companyId, now: NOW, isMasked: false }
  const found = await searchCharges(where, query, { limit: LIMIT, after })
  const read = costOf(plans, JSON.stringify(query))
  const blocks = plans.reduce((sum, plan) => sum + blocksOf(plan), 0)
  const what = `${JSON.stringify(query)} finds ${found.length} in ${read} rows, ${blocks} blocks`
  const more = 'name' in query ? MOST_FOR_NAMES : 0
  assert.ok(read <= MOST_ROWS + more && blocks <= MOST_BLOCKS + 2 * more, what)
  return found.length
}

/** Each filter, and how many charges there are, of which it finds a page. */
const FILTERS: [query: Asked, found: number][] = [
  [{}, LIMIT],
  [{ status: 'CANCELED' }, 3],
  [{ status: 'OPEN' }, LIMIT],
  [{ status: 'EXPIRED' }, LIMIT],
  [{ status: 'COMPLETED' }, LIMIT],
  [{ paymentStatus: 'REFUNDED' }, 2],
  [{ paymentStatus: 'PENDING' }, 2],
  [{ paymentStatus: 'PAID' }, 0],
  [{ kind: 'LINK' }, 2],
  [{ kind: 'RECURRING' }, 2],
  [{ kind: 'PIX' }, LIMIT],
  [{ devMode: true }, 2],
  [{ devMode: false, kind: 'STATIC', status: 'EXPIRED' }, 33],
  [{ externalId: 'order-100' }, 1],
  [{ customerId: toPublic('clnt', uuidOf('customer8')) }, 30],
  [{ customerId: toPublic('clnt', uuidOf('customer8')), createdFrom: '2024-08-20' }, 29],
  [{ taxId: '52998224725' }, 30],
  [{ taxId: '52998224725', createdTo: '2026-08-01' }, 30],
  [{ taxId: '39053344705' }, 0],
  [{ email: 'Maria@example.com' }, LIMIT],
  [{ email: 'nobody@example.com' }, 0],
  [{ email: 'busy@example.com' }, LIMIT],
  [{ name: 'Maria' }, LIMIT],
  [{ name: 'Maria', createdFrom: '2025-02-01', createdTo: '2026-02-01' }, LIMIT],
  [{ name: 'Ninguém' }, 0],
  [{ name: 'Ninguém', createdTo: '2026-02-01' }, 0],
  [{ endToEndId: 'E100' }, 1],
  [{ txid: chargeTxid(idOf(ROWS + 1)) }, 0],
  [{ txid: chargeTxid(idOf(20)) }, 1],
  [{ txid: staticTxid(codeOf(3)) }, 10],
  [{ amount: 4242 }, 1],
  [{ amount: 1001 }, LIMIT],
  [{ createdTo: '2024-08-20' }, LIMIT],
  [{ createdTo: '2026-08-01' }, LIMIT],
  [{ createdFrom: '2024-08-20' }, LIMIT],
  [{ createdFrom: '2025-06-01', createdTo: '2025-12-01' }, LIMIT],
  [{ createdFrom: '2026-02-01', createdTo: '2026-02-01' }, LIMIT],
  [{ createdFrom: '2025-02-01', createdTo: '2025-02-01' }, LIMIT],
  [{ paidTo: '2024-08-20' }, LIMIT],
  [{ paidFrom: '2025-02-01', paidTo: '2025-02-01' }, LIMIT],
  [{ taxId: '52998224725', status: 'EXPIRED' }, 10],
  [{ email: 'maria@example.com', kind: 'LINK' }, 2],
  [{ email: 'maria@example.com', createdTo: '2025-01-01' }, 49],
  [{ paidFrom: '2025-02-01', paidTo: '2025-02-02', kind: 'PIX' }, LIMIT],
  [{ amount: 4242, createdFrom: '2024-01-01' }, 1],
  [{ status: 'CANCELED', createdFrom: '2024-01-01' }, 3],
  [{ status: 'OPEN', createdFrom: '2026-01-01' }, LIMIT],
  [{ status: 'COMPLETED', createdFrom: '2025-01-01' }, LIMIT],
  [{ amount: 1001, createdTo: '2026-01-01' }, LIMIT],
]

test('each filter of the list is found by an index, and reads little more than its page', async () => {
  for (const [query, expected] of FILTERS) {
    assert.equal(await list(query), Math.min(expected, LIMIT), JSON.stringify(query))
  }
})

test('customers are found by an index, by names and phones that nobody has too', async () => {
  const { db, plans } = explaining()
  const where = { db, vault: app.vault, companyId, isMasked: false }
  for (const text of ['ninguem', 'zzz', 'rosa ninguem']) {
    assert.deepEqual(await findIdsByName(where, text, LIMIT), { ids: [], isCut: false }, text)
  }
  assert.deepEqual(await findByPhone(db, app.vault, companyId, '11988888888', LIMIT), [])
  assert.equal((await listUnindexed(db, LIMIT)).length, LIMIT)
  assert.ok(costOf(plans, 'customers') <= 3 * LIMIT)
})

test('a later page costs no more than the first', async () => {
  // All of them are paid.
  for (const part of [1 / 2, 3 / 4]) {
    const after = idOf(Math.floor((ROWS * part) / 3) * 3 + 1)
    for (const query of [
      {},
      { kind: 'PIX' },
      { status: 'COMPLETED' },
      { amount: 1001 },
      { createdTo: '2026-08-01' },
      { createdFrom: '2024-08-20', amount: 1001 },
      { paidTo: '2026-08-01' },
      { taxId: '52998224725' },
      { email: 'busy@example.com' },
    ] as Asked[]) {
      const found = await list(query, after)
      // The addresses are those of old charges.
      assert.ok(found > 0 || 'email' in query, JSON.stringify(query))
    }
  }
})

test('a summary reads the charges of its period and no others', async () => {
  const queries: [Asked, number][] = [
    [{}, (ROWS * 31) / 730],
    [{ createdFrom: '2025-02-01', createdTo: '2025-02-28' }, (ROWS * 28) / 730],
    [{ paidFrom: '2025-02-01', paidTo: '2025-02-28' }, (ROWS * 28) / 730],
    [{ taxId: '52998224725', createdFrom: '2025-09-01' }, 50],
    [{ amount: 4242, createdFrom: '2025-09-01' }, 50],
    [{ email: 'maria@example.com', paidFrom: '2025-09-01' }, 150],
  ]
  for (const [query, most] of queries) {
    const { db, plans } = explaining()
    const where = { db, vault: app.vault, companyId, now: NOW, isMasked: false }
    await summarizeCharges(where, query)
    const read = costOf(plans, JSON.stringify(query))
    // A bitmap is counted three times, by its two indexes and by its rows.
    assert.ok(read <= 3.2 * most, `${JSON.stringify(query)} reads ${read}`)
  }
})
