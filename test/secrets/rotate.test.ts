import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { SERVICE } from '../../src/core/activity/rules.ts'
import { openConnection } from '../../src/core/banks/commands.ts'
import { checkoutUrl } from '../../src/core/charges/addresses.ts'
import { findPeople } from '../../src/core/customers/search.ts'
import { learnSecrets } from '../../src/core/installation.ts'
import { findLink, linkOf, makeLink } from '../../src/core/people/links.ts'
import { openTotpSecret, useRecoveryCode } from '../../src/core/people/second-factors.ts'
import { findPerson } from '../../src/core/people/store.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { unsubscribeUrl } from '../../src/core/reminders/addresses.ts'
import { isStopped } from '../../src/core/reminders/stops.ts'
import { listViews } from '../../src/core/saved-views.ts'
import { SEALED } from '../../src/core/secrets/columns.ts'
import { countSealed, type Rotation, rotate } from '../../src/core/secrets/rotate.ts'
import { secretContext } from '../../src/core/webhooks/rules.ts'
import type { Database, Row } from '../../src/db/database.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { createVault, isWrappedBy, keyIdOf, keysOf } from '../../src/lib/vault.ts'
import { LATEST } from '../../src/versions/history.ts'
import { type Client, payer, startApi, type TestApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lastCode, lettersOf } from '../support/mail.ts'
import { secretOf } from '../support/process.ts'
import { addApp } from '../support/totp.ts'
import { confirm, start } from '../support/withdrawals.ts'
import { fillAll, STOPPED } from './records.ts'

const OLD = secretOf('api')
const NEXT = secretOf('next')
const [OLD_ID, NEXT_ID] = [OLD, NEXT].map((text) => keysOf(Buffer.from(text, 'base64')).keyId)

const api = await startApi({ SECRET_KEY: OLD, SECRET_KEY_NEXT: NEXT }, { places: 2 })
const databases = appsOf(api.app).map(({ db }) => db)
await learnSecrets(databases[0]!, api.app.vault)

const rotationOf = (of: TestApi): Rotation => ({
  databases: appsOf(of.app).map(({ db }) => db),
  vault: of.app.vault,
  author: SERVICE,
  report() {},
  say() {},
  pause: async () => {},
  request_ms: 0,
})

/** The same service when the former secret is gone. */
async function withoutFormer(): Promise<TestApi> {
  const places = [api.places[0]!, api.places[1]!] as [string, string]
  const after = await startApi({ SECRET_KEY: NEXT }, { places })
  await learnSecrets(after.app.db.control, after.app.vault)
  return after
}

/** A client of the same company, at another server. */
const at = (other: TestApi, { company, key }: Client): Client => {
  const headers = { 'X-API-KEY': key }
  const call: Client['call'] = (method, path, options = {}) =>
    other.call(method, path, { ...options, headers: { ...headers, ...options.headers } })
  return {
    company,
    key,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, json, options) => call('POST', path, { json, ...options }),
    put: (path, json, options) => call('PUT', path, { json, ...options }),
    delete: (path, options) => call('DELETE', path, options),
  }
}

const [client, member] = await fillAll(api, LATEST.name)
const shop = await api.client()
const MARIA = payer({
  name: 'Maria Aparecida Ferreira',
  taxId: '52998224725',
  phone: '11987654321',
  email: 'Maria.Ferreira@Example.com',
})

/** What must work as before, at whatever server. */
const made = await prepareAll()

async function prepareAll() {
  const order = { amount: 4200, customer: MARIA, externalId: 'pedido 77' }
  const keyed = await shop.post('/charge/pix', order, { headers: { 'Idempotency-Key': 'k1' } })
  assert.equal(keyed.status, 201, keyed.text)
  const unkeyed = { ...order, externalId: 'pedido 78' }
  const first = await shop.post('/charge/pix', unkeyed)
  const batch = { charges: [{ ...order, externalId: 'lote 1' }] }
  const batched = await shop.post('/charge/batch', batch, { headers: { 'Idempotency-Key': 'b1' } })
  const withdrawal = await start(shop, 1000)
  const code = await lastCode(api, shop.company.id)
  const hook = await shop.post('/webhook', {
    name: 'loja',
    url: 'http://127.0.0.1:1/nobody',
    events: ['charge.paid'],
  })
  const person = await signIn(api, shop.company, { byLink: true })
  const { recoveryCodes } = await addApp(api, person)
  const now = api.clock.now()
  const { db, vault } = api.app
  const link = await makeLink(db.control, vault, '', linkOf('sign-in', person.person), now)
  const id = fromPublic('charge', keyed.body.data.id)!
  const named = { companyId: shop.company.id, id }
  const addressing = { publicUrl: '', vault }
  const page = checkoutUrl(addressing, named)
  const unsubscribe = unsubscribeUrl(addressing, named)
  const letters = await lettersOf(api, shop.company.id)
  return {
    order,
    keyed,
    unkeyed,
    first,
    batch,
    batched,
    withdrawal,
    code,
    hook,
    person,
    letters,
    recoveryCodes,
    token: link.url.split('/').at(-1)!,
    page,
    unsubscribe,
  }
}

/** Searches, sessions, retries, addresses. What works only once is tried apart. */
async function requireAll(of: TestApi): Promise<void> {
  const own = at(of, shop)
  const { body } = await own.get(`/charge/${made.keyed.body.data.id}`)
  assert.equal(body.data.customer.taxId, '***.***.247-25')
  for (const query of [`taxId=${MARIA.taxId}`, `email=${MARIA.email}`]) {
    const found = await own.get(`/charge?${query}`)
    assert.equal(found.body.data.length, 3, `${query} ${found.text}`)
  }
  assert.equal((await own.get(`/client?taxId=${MARIA.taxId}`)).body.data.length, 1)
  const { db, vault } = (await of.app.places.find(shop.company.id))!
  const where = { db, vault, companyId: shop.company.id, isMasked: false }
  for (const text of ['529.982.247-25', '11987654321', '4321', 'arecida', 'maria.ferr', '24725']) {
    const { customers } = await findPeople(where, text, 5)
    assert.deepEqual(
      customers.map(({ phone }) => phone?.replaceAll(/\D/g, '').slice(-11)),
      [MARIA.phone],
      text,
    )
  }
  const retries = [
    [
      made.keyed,
      await own.post('/charge/pix', made.order, { headers: { 'Idempotency-Key': 'k1' } }),
    ],
    [
      made.batched,
      await own.post('/charge/batch', made.batch, { headers: { 'Idempotency-Key': 'b1' } }),
    ],
  ] as const
  for (const [before, again] of retries) {
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.text, before.text)
  }
  const blind = await own.post('/charge/pix', made.unkeyed)
  assert.equal(blind.body.data.id, made.first.body.data.id)
  const other = await own.post(
    '/charge/pix',
    { ...made.order, amount: 4300 },
    { headers: { 'Idempotency-Key': 'k1' } },
  )
  assert.equal(other.body.errors[0].code, 'idempotency_key_reused')
  const home = await fetch(of.url + made.person.home, { headers: { cookie: made.person.cookie } })
  assert.equal(home.status, 200)
  assert.equal((await of.call('GET', made.page)).status, 200)
  assert.equal((await of.call('GET', made.unsubscribe)).status, 200)
  assert.equal((await of.call('GET', `${made.page.slice(0, -1)}x`)).status, 404)
  assert.equal(await isStopped({ db, vault }, client.company.id, STOPPED), true)
  const control = of.app.db.control
  assert.ok(await findLink(control, vault, 'sign-in', made.token, api.clock.now()))
  assert.deepEqual(await lettersOf(of, shop.company.id), made.letters)
  const view = { db, vault, companyId: client.company.id, personId: member.person.id }
  assert.equal((await listViews(view, 'charges'))[0]!.name, 'Hoje')
  const connection = await openConnection(db, vault, client.company.id)
  assert.equal(connection?.clientId, 'c')
  const person = (await findPerson(control, made.person.person.id))!
  assert.match(openTotpSecret(vault, person, person.totpSecret!), /^[A-Z2-7]{32}$/)
}

async function rowsOf(db: Database, table: string): Promise<Row[]> {
  return db.query({ text: `select * from ${table}` })
}

test('while it is replaced, and after, everything is found and opened by either server', async () => {
  await requireAll(api)
  const half = interruptedAfter(12)
  await assert.rejects(rotate({ ...rotationOf(api), report: half }), /killed/)
  assert.equal(api.app.vault.keyId, NEXT_ID)
  await requireAll(api)
  const made = await at(api, shop).post('/charge/pix', { amount: 500, customer: MARIA })
  assert.equal(made.status, 201, made.text)
  const customers = await api.rows(`select from customers where company_id = $1`, [shop.company.id])
  assert.equal(customers.length, 1, 'the payer is known, whichever secret has hashed who they are')
  await api.rows('delete from charges where id = $1', [fromPublic('charge', made.body.data.id)])
  const rotated = await rotate(rotationOf(api))
  assert.deepEqual([rotated?.former, rotated?.present, rotated?.unreadable], [OLD_ID, NEXT_ID, 0])
  await requireAll(api)
})

/** Throws when so many tables were looked through, as if the process had been killed. */
function interruptedAfter(tables: number): Rotation['report'] {
  let done = 0
  return ({ isDone }) => {
    done += Number(isDone)
    if (done === tables) throw new Error('killed')
  }
}

test('afterwards no stored value is of the former secret, in any table and place', async () => {
  const keys = keysOf(Buffer.from(NEXT, 'base64'))
  for (const table of SEALED) {
    let rows = 0
    for (const [i, db] of databases.entries()) {
      for (const row of await rowsOf(db, table.name)) {
        rows += 1
        const opened: Record<string, string> = {}
        for (const [column, contextOf] of Object.entries(table.sealed)) {
          const envelope = row[column] as Buffer | null
          if (!envelope?.length) continue
          assert.equal(keyIdOf(envelope), NEXT_ID, `${table.name}.${column} of place ${i + 1}`)
          opened[column] = keys.open(envelope, contextOf(row))
        }
        const computed = Object.keys(opened).length > 0 ? table.compute?.(keys, row, opened) : {}
        for (const [column, value] of Object.entries(computed ?? {})) {
          const stored = table.computed[column] === 'int4[]' ? `{${row[column]}}` : row[column]
          assert.deepEqual(stored, value, `${table.name}.${column}`)
        }
        for (const column of table.hashed) {
          const hash = row[column] as Buffer | null
          if (hash && table.name !== 'charges')
            assert.ok(isWrappedBy(NEXT_ID!, hash), `${table.name}.${column}`)
        }
      }
    }
    assert.ok(rows > 0, `${table.name} has something to look at`)
  }
  for (const { counts, table } of await countSealed(databases)) {
    assert.deepEqual(
      [...counts.keys()].filter((id) => id !== NEXT_ID),
      [],
      table,
    )
  }
})

test('when the former secret is gone, all that was there works on', async () => {
  const after = await withoutFormer()
  await requireAll(after)
  const own = at(after, shop)
  assert.equal((await confirm(own, made.withdrawal, made.code)).status, 200)
  const person = (await findPerson(after.app.db.control, made.person.person.id))!
  const [code, another] = made.recoveryCodes as [string, string]
  assert.equal(await useRecoveryCode(after.app, person, code), true)
  assert.equal(await useRecoveryCode(after.app, person, code), false)
  assert.equal(await useRecoveryCode(after.app, person, another), true)
  const { secret, id } = made.hook.body.data
  const [stored] = await api.rows<Row>('select * from webhooks where id = $1', [id])
  const context = secretContext(shop.company.id, id)
  assert.equal(after.app.vault.open(stored!.secret_sealed as Buffer, context), secret)
})

test('what the former secret could still make is refused', async () => {
  const after = await withoutFormer()
  const stolen = createVault(Buffer.from(OLD, 'base64'))
  const charge = await at(after, shop).post('/charge/pix', { amount: 600, customer: MARIA })
  const id = fromPublic('charge', charge.body.data.id)!
  const page = checkoutUrl({ publicUrl: '', vault: stolen }, { companyId: shop.company.id, id })
  await databases[0]!.query({
    text: `update secret_keys set replaced_at = now() - interval '1 hour'`,
  })
  await learnSecrets(after.app.db.control, after.app.vault)
  assert.equal((await after.call('GET', page)).status, 404)
})

test('a hash that a request of before writes while it is waited for is hashed again too', async () => {
  const own = await startApi({ SECRET_KEY: OLD, SECRET_KEY_NEXT: NEXT }, { places: 1 })
  await learnSecrets(own.app.db, own.app.vault)
  const seller = await own.client()
  const plan = { total: 90_000, count: 3, firstDueDate: '2026-10-20', customer: MARIA }
  const reply = await seller.post('/charge/plan', { ...plan, externalId: 'x' })
  assert.equal(reply.status, 201, reply.text)
  const [row] = await own.rows<{ plan: object }>('select to_jsonb(p) as plan from charge_plans p')
  // Its request has not written it yet.
  await own.rows('delete from charge_plans')
  // A server that has changed already.
  const name = `vintem keys ${NEXT_ID} ${OLD_ID}`
  const server = new pg.Client({ connectionString: own.databaseUrl, application_name: name })
  await server.connect()
  const insert =
    'insert into charge_plans select * from jsonb_populate_record(null::charge_plans, $1)'
  let isWaiting = false
  await rotate({
    ...rotationOf(own),
    request_ms: 600_000,
    say: (line) => {
      isWaiting ||= /looked through once more/.test(line)
    },
    async pause() {
      if (!isWaiting) return
      isWaiting = false
      await own.rows(insert, [JSON.stringify(row!.plan)])
    },
  })
  await server.end()
  const [after] = await own.rows<{ fingerprint: Buffer }>('select fingerprint from charge_plans')
  assert.ok(isWrappedBy(NEXT_ID!, after!.fingerprint))
})
