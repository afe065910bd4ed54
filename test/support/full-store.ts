import assert from 'node:assert/strict'
import { billDue, generateDue } from '../../src/worker/due.ts'
import { prepare } from '../api/every-route.ts'
import { dataOf, type Made } from '../api/tries.ts'
import { type Client, payer, type TestApi } from './api.ts'
import { openBanked } from './bank.ts'
import { decide, makeRecurring, makeSubscription } from './subscriptions.ts'

/** How many records of a kind a company has. */
export const MANY = 1000

const text = (length: number) => '😀'.repeat(length)
const address = (length: number) => `https://loja.example/${'a'.repeat(length - 21)}`

/** A customer with everything as long as it may be. */
export const LARGE_PAYER = {
  ...payer({ name: text(255) }),
  postalCode: '01310100',
  address: text(255),
  district: text(255),
  number: text(255),
  line1: text(255),
}
/** A product with everything as long as it may be. */
export const LARGE_PRODUCT = {
  name: text(255),
  description: text(4096),
  price: 1990,
  sku: text(255),
  imageUrl: address(2048),
  categories: ['Outros', 'UGC'],
  needShipping: true,
}

export const largeLink = (productId: string) => ({
  customer: LARGE_PAYER,
  devMode: true,
  externalId: text(255),
  needShipping: true,
  successUrl: address(2048),
  failedUrl: address(2048),
  items: Array.from({ length: 100 }, () => ({ productId, quantity: 1 })),
})

/** Copies a row, with other values in some columns; `i` counts the copies. */
async function copy(
  api: TestApi,
  table: string,
  where: string,
  values: unknown[],
  changed: Record<string, string>,
  count = MANY,
): Promise<void> {
  const columns = await api.rows<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0
       and not attisdropped and attgenerated = ''`,
    [table],
  )
  const names = columns.map(({ name }) => name)
  const taken = names.map((name) => changed[name] ?? `s.${name}`)
  await api.rows(
    `insert into ${table} (${names}) select ${taken}
     from (select * from ${table} where ${where} limit 1) s, generate_series(1, ${count}) i`,
    values,
  )
}

const NEW_ID = { id: 'gen_random_uuid()' }

async function make(client: Client, path: string, json: unknown) {
  const reply = await client.post(path, json)
  assert.equal(reply.status, 201, reply.text)
  return dataOf(reply)
}

/** What is large, made as clients make it. */
async function makeLarge(api: TestApi, client: Client) {
  const product = (await make(client, '/product', LARGE_PRODUCT)).id
  const recurring = await makeRecurring(client, { ...LARGE_PRODUCT })
  const customer = (await make(client, '/client', { ...LARGE_PAYER, status: 'ACTIVE' })).id
  const link = await make(client, '/charge/payment-link', largeLink(product))
  const paid = await make(client, '/charge/payment-link', {
    ...largeLink(product),
    externalId: 'paid',
  })
  assert.equal((await client.post(`/charge/${paid.id}/simulate-payment`)).status, 200)
  const subscription = await makeSubscription(client)
  const approved = await makeSubscription(client)
  await decide(api, approved.emv, 'approve')
  await generateDue.run(api.app)
  await billDue.run(api.app)
  const code = await make(client, '/charge/pix/static', { amount: 100 })
  return { product, recurring, customer, link, paid, subscription, approved, code }
}

/** Addresses that need no key. */
type Paths = Record<'callback' | 'page' | 'asset' | 'theme' | 'preview' | 'location', string>

export type FullStore = Made & Awaited<ReturnType<typeof makeLarge>> & { client: Client } & Paths

/** A company with as much of everything as a page of it can have, of the largest size. */
export async function fillStore(api: TestApi): Promise<FullStore> {
  const [client, made] = await prepare(api, '2026-08-16')
  const large = await makeLarge(api, client)
  const { id: companyId } = client.company
  const of = (table: string, where: string, changed: Record<string, string>, count?: number) =>
    copy(api, table, `company_id = $1 and ${where}`, [companyId], changed, count)
  await of('products', `length(name) > 200 order by id desc`, NEW_ID)
  await of('customers', `length(name) > 200 order by id`, { ...NEW_ID, origin: `'client'` })
  const charge = { ...NEW_ID, fingerprint: 'sha256(i::text::bytea)' }
  await of('charges', `status = 'OPEN' and length(external_id) > 200`, charge)
  await of('events', 'true order by length(payload) desc', NEW_ID)
  await of('refunds', `status = 'FAILED'`, { ...NEW_ID, comment: `repeat('é', 140)` })
  const payment = { ...NEW_ID, end_to_end_id: `s.end_to_end_id || i` }
  await of('payments', `status = 'UNMATCHED'`, payment)
  await of('postings', 'true order by entry desc', { entry: 's.entry + i', ref: 's.ref || i' })
  await api.rows('update balances set entries = entries + $2 where company_id = $1', [
    companyId,
    MANY,
  ])
  await of('withdrawals', `status = 'COMPLETED'`, NEW_ID)
  const agreement = { ...NEW_ID, external_id: 's.external_id || i' }
  await of('recurrences', 'br_code is not null order by id desc', agreement)
  await fillSubscription(api, companyId)
  await fillDeliveries(api, companyId)
  await of('webhooks', 'true', NEW_ID, api.app.config.webhooksPerCompany - 3)
  await of('mails', 'true', NEW_ID)
  return { ...made, ...large, client, ...(await findPaths(api, client, large.link.url)) }
}

async function findPaths(api: TestApi, client: Client, url: string): Promise<Paths> {
  const { callback } = await openBanked(api, { payouts: 'bank' })
  const page = new URL(url).pathname
  const { text } = await api.call('GET', page)
  const find = (pattern: RegExp, where = text) => {
    const [found] = pattern.exec(where) ?? []
    assert.ok(found, `${pattern}`)
    return found
  }
  const { brCode } = await make(client, '/charge/pix', { amount: 700, customer: payer() })
  return {
    callback: new URL(callback).pathname,
    page,
    asset: find(/\/assets\/[\w.-]+\.js/),
    theme: find(/\/assets\/theme\/\w+\.css/),
    preview: find(/\/preview\/[\w-]+\/[\w-]+\.png/),
    location: find(/\/cob\/[\w-]+/, brCode).slice(0, -4),
  }
}

/** Deliveries of all events to one webhook, each with many attempts. */
async function fillDeliveries(api: TestApi, companyId: string): Promise<void> {
  await api.rows(
    `insert into delivery_log
       (company_id, webhook_id, event_id, status, attempts, created_at, finished_at)
     select d.company_id, d.webhook_id, e.id, 'FAILED',
       (select jsonb_agg(a) from generate_series(1, 40) g, jsonb_array_elements(d.attempts) a),
       d.created_at, d.finished_at
     from (select * from delivery_log where company_id = $1 limit 1) d,
       (select id from events e where company_id = $1 and not exists (
          select from deliveries p where p.company_id = e.company_id and p.event_id = e.id)
        order by id desc limit ${MANY}) e
     on conflict do nothing`,
    [companyId],
  )
}

/** A subscription that has been charged a thousand times. */
async function fillSubscription(api: TestApi, companyId: string): Promise<void> {
  const billed = 'company_id = $1 and recurrence_id is not null'
  await copy(api, 'charges', billed, [companyId], NEW_ID)
  await api.rows(
    `insert into billings (company_id, charge_id, recurrence_id, cycle, due_on, status)
     select company_id, id, recurrence_id, 100 + row_number() over (), '2026-08-20', 'CANCELED'
     from charges c where ${billed} and not exists (
       select from billings b where b.company_id = c.company_id and b.charge_id = c.id)`,
    [companyId],
  )
}
