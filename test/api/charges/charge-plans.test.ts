import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { searchCharges, summarizeCharges } from '../../../src/core/charges/search.ts'
import { indexEmail } from '../../../src/core/customers/sealing.ts'
import {
  findByPhone,
  findByWords,
  findIdsByName,
  listUnindexed,
} from '../../../src/core/customers/store.ts'
import { asOnePlace, type Query, type Row, type Tx } from '../../../src/db/database.ts'
import { newId } from '../../../src/lib/ids.ts'
import { chargeTxid, staticTxid } from '../../../src/provider/txid.ts'
import { startApi } from '../../support/api.ts'

const api = await startApi()
const { app } = api
/** Rows of the company that is asked about, and of others beside it. */
const ROWS = 30_000
const OTHERS = 10_000
const LIMIT = 20
const NOW = new Date('2026-08-16T12:00:00Z')
const companyId = (await api.client()).company.id
const otherId = newId()
const idOf = (n: number) => `01900000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
const codeOf = (n: number) => `01800000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

/**
 * A shop of two years: most charges are received or expired, all else is rare, and what is rare is
 * among the oldest, where a search that begins with the newest would find it last.
 */
const FILL = `
  insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, external_id,
    customer_id, payer_name, payer_index, payer_sealed, link, br_code, end_to_end_id, created_at,
    expires_at, payment_date, settles_at, static_code_id, recurrence_id)
  select $1, ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, kind,
    case when n = 77 then 4242 else 1000 + n % 10 end,
    case when n in (1, 2, 3) then 'CANCELED' when n % 3 = 0 then 'EXPIRED'
      when n > $2 - 200 then 'OPEN' else 'COMPLETED' end,
    case when n in (1, 2, 3) then 'PROCESSING' when n % 3 = 0 then 'EXPIRED'
      when n > $2 - 3 then 'PENDING' when n > $2 - 200 then 'PROCESSING'
      when n in (4, 5) then 'REFUNDED' else 'RECEIVED' end,
    n in (7, 8), case when n % 100 = 0 then 'order-' || n end,
    md5('customer' || n % 1000)::uuid, 'Maria', decode(md5('payer' || n % 1000), 'hex'), '\\x00',
    case when kind = 'LINK' then '{}'::jsonb end, '000201',
    case when n % 3 <> 0 and n > 3 and n <= $2 - 200 then 'E' || n end,
    at, at + interval '1 day',
    case when n % 3 <> 0 and n > 3 and n <= $2 - 200 then at + interval '5 minutes' end, at,
    case when kind = 'STATIC' then
      ('01800000-0000-7000-8000-' || lpad(to_hex(n % 10), 12, '0'))::uuid end,
    case when kind = 'RECURRING' then gen_random_uuid() end
  from (
    select n, $3::timestamptz - ($2 - n) * interval '2 years' / $2 as at,
      case when n in (10, 11) then 'LINK' when n in (13, 14) then 'RECURRING'
        when n between 100 and 200 then 'STATIC' else 'PIX' end as kind
    from generate_series(1, $2) n) made`

before(async () => {
  for (const [id, rows] of [
    [companyId, ROWS],
    [otherId, OTHERS],
  ]) {
    await api.rows(FILL, [id, rows, NOW])
  }
  await api.rows(
    `insert into customers (company_id, id, name, status, tax_id_index, sealed, origin, created_at,
       updated_at)
     select $1, md5('customer' || n)::uuid, 'Maria', 'ACTIVE', decode(md5('payer' || n), 'hex'),
       '\\x00', 'charge', now(), now() from generate_series(0, 999) n`,
    [companyId],
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
  const email = indexEmail(app.vault, companyId, 'maria@example.com')
  const busy = indexEmail(app.vault, companyId, 'busy@example.com')
  await api.rows(
    `insert into charge_emails (company_id, email_index, charge_id)
     select company_id, case when id < $3 then $2 when id < $5 then $6 else payer_index end, id
     from charges where company_id = $1 and id < $4`,
    [companyId, email, idOf(50), idOf(5000), idOf(3000), busy],
  )
  await api.rows(
    `update charges set email_index = case when id > $3 then $2 when id < $5 then $6
       else payer_index end
     where company_id = $1 and id >= $4`,
    [companyId, email, idOf(ROWS - 50), idOf(5000), idOf(8000), busy],
  )
  // The payer of customer 7 is known by a tax id that the vault can name.
  const index = app.vault.index(companyId, '52998224725')
  await api.rows(
    `update customers set tax_id_index = $2 where company_id = $1
       and id = md5('customer7')::uuid`,
    [companyId, index],
  )
  await api.rows(
    `update charges set payer_index = $2 where company_id = $1
       and customer_id = md5('customer7')::uuid`,
    [companyId, index],
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

/** Runs statements as they are, and explains each as it was run. */
function explaining(): { db: Tx; plans: Plan[] } {
  const plans: Plan[] = []
  const db = asOnePlace({
    wake: () => {},
    notify: () => {},
    async query<R extends Row>(query: Query) {
      const text = `explain (analyze, format json) ${query.text}`
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

async function listCost(query: Asked, after: string | null = null): Promise<[number, number]> {
  const { db, plans } = explaining()
  const where = { db, vault: app.vault, companyId, now: NOW }
  const found = await searchCharges(where, query, { limit: LIMIT, after })
  return [found.length, costOf(plans, JSON.stringify(query))]
}

/** Each filter, and how many it finds up to a page of 20. */
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
  [{ devMode: false, kind: 'STATIC', status: 'EXPIRED' }, LIMIT],
  [{ externalId: 'order-100' }, 1],
  [{ taxId: '52998224725' }, LIMIT],
  [{ taxId: '39053344705' }, 0],
  [{ email: 'Maria@example.com' }, LIMIT],
  [{ email: 'nobody@example.com' }, 0],
  [{ email: 'busy@example.com' }, LIMIT],
  [{ endToEndId: 'E100' }, 1],
  [{ txid: chargeTxid(idOf(100_000)) }, 0],
  [{ txid: chargeTxid(idOf(20)) }, 1],
  [{ txid: staticTxid(codeOf(3)) }, 10],
  [{ amount: 4242 }, 1],
  [{ amount: 1001 }, LIMIT],
  [{ createdTo: '2024-08-20' }, LIMIT],
  [{ createdFrom: '2025-02-01', createdTo: '2025-02-01' }, LIMIT],
  [{ paidTo: '2024-08-20' }, LIMIT],
  [{ paidFrom: '2025-02-01', paidTo: '2025-02-01' }, LIMIT],
  [{ taxId: '52998224725', status: 'EXPIRED' }, 10],
  [{ email: 'maria@example.com', kind: 'LINK' }, 2],
  [{ email: 'maria@example.com', createdTo: '2025-01-01' }, LIMIT],
  [{ paidFrom: '2025-02-01', paidTo: '2025-02-02', kind: 'PIX' }, LIMIT],
  [{ amount: 4242, createdFrom: '2024-01-01' }, 1],
  [{ status: 'CANCELED', createdFrom: '2024-01-01' }, 3],
  [{ status: 'OPEN', createdFrom: '2026-01-01' }, LIMIT],
]

test('each filter of the list is found by an index, and reads little more than its page', async () => {
  for (const [query, expected] of FILTERS) {
    const [found, read] = await listCost(query)
    const what = `${JSON.stringify(query)} finds ${found} and reads ${read}`
    assert.equal(found, expected, what)
    // A page is read by id and then by row, for a payer or a state also once for each branch.
    assert.ok(read <= 15 * LIMIT, what)
  }
})

test('customers are found by an index, by names and phones that nobody has too', async () => {
  const { db, plans } = explaining()
  for (const words of [['ninguem'], ['zzz'], ['rosa', 'ninguem']]) {
    assert.deepEqual(await findIdsByName(db, companyId, words, LIMIT), [])
    assert.deepEqual(await findByWords(db, app.vault, companyId, words, LIMIT), [])
  }
  assert.deepEqual(await findByPhone(db, app.vault, companyId, '11988888888', LIMIT), [])
  assert.equal((await listUnindexed(db, LIMIT)).length, LIMIT)
  assert.ok(costOf(plans, 'customers') <= 3 * LIMIT)
})

test('customers are found by words of their names, also if their company has the id of a number', async () => {
  for (const start of ['019e6db8', '8e581e0f', 'fcd55f74', '00000012']) {
    const id = `${start}-0000-7000-8000-000000000000`
    await api.rows(
      `insert into companies
       select (jsonb_populate_record(c, jsonb_build_object('id', $2::text))).*
       from companies c where c.id = $1`,
      [companyId, id],
    )
    await api.rows(
      `insert into customers
       select (jsonb_populate_record(c, jsonb_build_object(
         'company_id', $2::text, 'name', 'João 3e5 D''Ávila Ltda.'))).*
       from customers c where c.company_id = $1 limit 1`,
      [companyId, id],
    )
    for (const words of [['joao'], ['avil', 'jo'], ['3e5'], ['ltda', 'd']]) {
      assert.equal((await findIdsByName(app.db, id, words, LIMIT)).length, 1, words.join(' '))
    }
    assert.deepEqual(await findIdsByName(app.db, id, ['joana'], LIMIT), [])
  }
})

test('a later page costs no more than the first', async () => {
  const after = idOf(15_000)
  for (const query of [
    {},
    { kind: 'PIX' },
    { status: 'COMPLETED' },
    { amount: 1001 },
    { createdTo: '2026-08-01' },
    { paidTo: '2026-08-01' },
    { taxId: '52998224725' },
    { email: 'busy@example.com' },
  ] as Asked[]) {
    const place = 'paidTo' in query || 'createdTo' in query ? idOf(15_001) : after
    const [found, read] = await listCost(query, place)
    const what = `${JSON.stringify(query)} finds ${found} and reads ${read}`
    assert.ok(found > 0, what)
    assert.ok(read <= 15 * LIMIT, what)
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
    const where = { db, vault: app.vault, companyId, now: NOW }
    await summarizeCharges(where, query)
    const read = costOf(plans, JSON.stringify(query))
    // A bitmap is counted twice, by its index and by its rows.
    assert.ok(read <= 2.2 * most, `${JSON.stringify(query)} reads ${read}`)
  }
})
