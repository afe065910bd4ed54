import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readQueues } from '../../src/core/due.ts'
import { requireSameSecret } from '../../src/core/installation.ts'
import { acceptPayment } from '../../src/core/payments/commands.ts'
import { fromPublic, newId, suffixOf, toPublic } from '../../src/lib/ids.ts'
import { createDeliveryWorker } from '../../src/worker/deliver.ts'
import { generateDue, payOutWithdrawals, reconcileDue } from '../../src/worker/due.ts'
import { sendDueMails } from '../../src/worker/mail.ts'
import { type Client, payer, startApi, type TestApi } from '../support/api.ts'
import { type Banked, openBanked } from '../support/bank.ts'
import { approvedSubscription } from '../support/billing.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { makeDueWork } from '../support/due-work.ts'
import { variants } from '../support/long.ts'
import { secretOf } from '../support/process.ts'
import { makeReceiver } from '../support/webhooks.ts'
import { confirmed, rowOf } from '../support/withdrawals.ts'
import { copySecret, makeAgeKeys } from './keys.ts'

const home = mkdtempSync(join(tmpdir(), 'vintem-restored-'))
after(() => rmSync(home, { recursive: true, force: true }))
const vintem = hostedVintemIn(home)
const keys = await makeAgeKeys(home)
const SECRET_KEY = secretOf('api')
const common = { SECRET_KEY, PUBLIC_URL: 'https://pix.example.com', DATA_DIR: join(home, 'data') }

let files = 0

async function backUp(api: TestApi): Promise<string> {
  return (await backUpAt(api)).file
}

/** Also says of which moment it is. */
async function backUpAt(api: TestApi): Promise<{ file: string; at: string }> {
  const file = join(home, `${files++}.vintem`)
  const options = ['--recipient', keys.recipient, '--secret-copy', copySecret(home, SECRET_KEY)]
  const env = { ...common, DATABASE_URL: api.databaseUrl }
  await requireSameSecret(api.app.db, api.app.vault)
  const { code, stdout, stderr } = await vintem(['backup', file, ...options, '--json'], env)
  assert.equal(code, 0, stderr)
  return { file, at: JSON.parse(stdout).at }
}

/** The service on a restored database. The former one has run until now, by a clock of before. */
async function restored(
  former: TestApi,
  file: string,
  options: string[] = ['--verify'],
): Promise<TestApi> {
  const databaseUrl = await emptyDatabase()
  const args = ['restore', file, '--identity', keys.identityFile]
  const { code, stdout, stderr } = await vintem([...args, ...options], {
    ...common,
    DATABASE_URL: databaseUrl,
  })
  assert.equal(code, 0, stdout + stderr)
  if (options.includes('--verify')) assert.match(stdout, /^Verdict: YES\. /m)
  const api = await startApi({}, { databaseUrl })
  api.clock.advance((former.clock.now().getTime() - api.clock.now().getTime()) / 1000)
  return api
}

/** The same client at another service: its key works there as it is. */
const at = (api: TestApi, { key, company }: Client): Client => {
  const call: Client['call'] = (method, path, options = {}) =>
    api.call(method, path, { ...options, headers: { 'X-API-KEY': key, ...options.headers } })
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

/**
 * What becomes of each kind of due work. held: it was due before and is not done again. asked: a
 * bank is asked what became of it. again: it changes the database alone, or only asks.
 */
const AFTER_RESTORE: Record<string, 'held' | 'asked' | 'again'> = {
  'send mail': 'held',
  'deliver webhooks': 'held',
  'due dates': 'held',
  'deadlines of disputes': 'held',
  'generate charges': 'held',
  'watch webhooks': 'held',
  'bill charges': 'asked',
  'carry out refunds': 'asked',
  'pay out withdrawals': 'asked',
  'send defenses': 'asked',
  'remove orphans': 'asked',
  'follow agreements': 'again',
  reconcile: 'again',
  'settle callbacks': 'again',
  'expire charges': 'again',
  'expire withdrawals': 'again',
  'receive charges': 'again',
  'follow reminder rules': 'again',
  'collect at the simulated bank': 'again',
}

test('after a restore nothing is due that would be sent or collected a second time', async () => {
  const api = await startApi({}, { places: 1 })
  await makeDueWork(api)
  const names = new Set(api.app.due.map(({ source }) => source.name))
  assert.deepEqual(Object.keys(AFTER_RESTORE).sort(), [...names].sort(), 'a new kind is decided on')
  const due = async ({ app }: TestApi) =>
    (await readQueues(app.db, app.due, app.clock.now()))
      // How many deliveries there are is estimated, and since when is not.
      .filter(({ due, since }) => due > 0 && since !== null)
      .map(({ name }) => name)
  const before = await due(api)
  for (const name of ['send mail', 'generate charges']) assert.ok(before.includes(name), name)
  const file = await backUp(api)
  // Some of what is sealed here is made up, so that it is not verified.
  const held = await due(await restored(api, file, []))
  assert.deepEqual(
    held.filter((name) => AFTER_RESTORE[name] === 'held'),
    [],
  )
  const again = await restored(api, file, ['--resend'])
  assert.ok((await due(again)).includes('send mail'), 'what is asked for is sent again')
})

test('old webhooks and mails are not sent, can be replayed, and new ones are sent', async () => {
  const api = await startApi({}, { places: 1 })
  const client = await api.client()
  const { receiver, webhook } = await makeReceiver(client, ['charge.pending', 'charge.paid'])
  const sell = (shop: Client) =>
    shop.post('/charge/pix', { amount: 1990, customer: payer(), devMode: true })
  await sell(client)
  await client.put('/company', { email: 'nova@example.com' })
  const file = await backUp(api)
  const now = await restored(api, file)
  const shop = at(now, client)
  const worker = createDeliveryWorker(now.app)
  const [waiting] = await now.rows<{ count: string }>(
    'select count(*) from mails where finished_at is null',
  )
  assert.equal(Number(waiting!.count), 0)
  await sendDueMails(now.app)
  await worker.run()
  assert.deepEqual(receiver.received, [])
  const reasons = await now.rows('select distinct outcome, reason from mails')
  assert.deepEqual(reasons, [{ outcome: 'FAILED', reason: 'RESTORED' }])

  await sell(shop)
  await worker.run()
  assert.equal(receiver.received.length, 1, 'what happens now is sent')
  const replayed = await shop.post(`/webhook/${webhook.id}/replay`, {})
  assert.equal(replayed.status, 200, replayed.text)
  await worker.run()
  assert.equal(receiver.received.length, 2, 'what was held can be replayed')
  await worker.close()
})

test('a mail that was being sent at the moment of the backup is not sent again', async () => {
  const api = await startApi({}, { places: 1 })
  const client = await api.client()
  await client.put('/company', { email: 'nova@example.com' })
  // As a claim leaves it. The former server sends it and stops before the lease ends.
  await api.rows(
    `update mails set attempts = 1, next_attempt_at = clock_timestamp() + interval '8 seconds'`,
  )
  const { file, at: stopped } = await backUpAt(api)
  const now = await restored(api, file, ['--stopped-at', stopped])
  const outcomes = await now.rows('select distinct outcome, reason from mails')
  assert.deepEqual(outcomes, [{ outcome: 'FAILED', reason: 'RESTORED' }])
})

test('the cycle of a company that was suspended at the backup is not generated again', async () => {
  const api = await startApi({}, { places: 1 })
  const client = await api.client()
  const { id: publicId } = await approvedSubscription(api, client)
  const id = fromPublic('rec', publicId)!
  const [{ next }] = (await api.rows<{ next: Date }>(
    'select next_at as next from recurrences where id = $1',
    [id],
  )) as [{ next: Date }]
  const wait_s = Math.ceil((next.getTime() - api.clock.now().getTime()) / 1000)
  api.clock.advance(Math.max(0, wait_s))
  const suspend = (at: TestApi, since: Date | null) =>
    at.rows('update companies set suspended_at = $2 where id = $1', [client.company.id, since])
  const cyclesOf = async (at: TestApi) => {
    await suspend(at, null)
    await generateDue.run(at.app)
    return at.rows('select cycle from billings where recurrence_id = $1', [id])
  }
  await suspend(api, api.clock.now())
  const file = await backUp(api)
  assert.equal((await cyclesOf(api)).length, 1, 'the former service generates it after that')
  assert.deepEqual(await cyclesOf(await restored(api, file)), [])
})

test('a cursor from after the backup is told where to go on, and none skips an event', async () => {
  const api = await startApi({}, { places: 1 })
  const client = await api.client()
  const sell = (shop: Client) => shop.post('/charge/pix', { amount: 1990, customer: payer() })
  const feed = async (shop: Client, query = '') => {
    const { status, body, text } = await shop.get(`/event${query}`)
    assert.equal(status, 200, text)
    return body.data.map(({ id }: { id: string }) => id) as string[]
  }
  await sell(client)
  const known = await feed(client)
  const file = await backUp(api)
  await sell(client)
  const lost = (await feed(client)).at(-1)!
  assert.ok(!known.includes(lost))
  const now = await restored(api, file)
  const shop = at(now, client)
  assert.deepEqual(await feed(shop), known)
  await sell(shop)
  const fresh = (await feed(shop)).slice(known.length)
  assert.ok(fresh.length > 0)
  assert.deepEqual(await feed(shop, `?after=${known.at(-1)}`), fresh)

  const refused = await shop.get(`/event?after=${lost}`)
  assert.equal(refused.status, 400)
  const [{ description }] = refused.body.errors
  assert.match(description, /newer than .*, the moment to which the service was restored/)
  const [, next] = /Continue with after=(evt_\w{26})/.exec(description)!
  assert.deepEqual(await feed(shop, `?after=${next}`), fresh, 'what it says leads on')

  // The position of a redelivery is given again, so it is not taken for the one that is lost.
  const redelivery = `rdl_2_${suffixOf(fromPublic('evt', lost)!)}`
  const other = await shop.get(`/event?include=redeliveries&after=${redelivery}`)
  assert.equal(other.status, 400, other.text)
  const unknown = await shop.get(`/event?after=${toPublic('evt', newIdAt('2020-01-01'))}`)
  assert.match(unknown.text, /must be the id of an event of this company/)
  assert.doesNotMatch(unknown.text, /restored/)
})

/** An id that was made on a day. */
function newIdAt(day: string): ReturnType<typeof newId> {
  const hex = new Date(day).getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}` as ReturnType<typeof newId>
}

/** A company that withdraws through its bank. */
async function rich(api: TestApi, sends: 'efi' | 'inter' | 'sicoob'): Promise<Banked> {
  const shop = await openBanked(api, { style: { sends }, payouts: 'bank' })
  const { endToEndId } = shop.bank.payer.payKey(shop.company.pixKey, 100_000)
  api.clock.advance(61)
  await reconcileDue.run(api.app)
  const { db, clock } = api.app
  await db.transaction((tx) => acceptPayment(tx, shop.company.id, endToEndId, clock.now()))
  return shop
}

for (const sends of variants(['efi', 'inter', 'sicoob'])) {
  test(`${sends}: a withdrawal that was sent after the backup is not sent again`, async () => {
    const api = await startApi({}, { places: 1 })
    const shop = await rich(api, sends)
    const id = await confirmed(api, shop, 5000)
    const file = await backUp(api)
    await payOutWithdrawals.run(api.app)
    assert.equal(shop.bank.state().sends.size, 1, 'the former service sends it')
    const now = await restored(api, file, sends === 'efi' ? ['--verify', '--resend'] : ['--verify'])
    for (let i = 0; i < 3; i++) {
      now.clock.advance(60)
      await payOutWithdrawals.run(now.app)
    }
    assert.equal(shop.bank.state().sends.size, 1, 'the restored one does not')
    const { status, manual } = await rowOf(now, id)
    // Sicoob knows no id of ours, so a person has to look.
    const expected = sends === 'sicoob' ? ['PROCESSING', true] : ['COMPLETED', false]
    assert.deepEqual([status, manual], expected)
  })
}

test('no server starts with a database of which a restore has not ended', async () => {
  const databaseUrl = await cloneDatabase()
  const api = await startApi({}, { databaseUrl })
  await requireSameSecret(api.app.db, api.app.vault)
  await api.rows('update installation set restoring_since = now()')
  const env = { ...common, DATABASE_URL: databaseUrl }
  const { code, stderr } = await vintem(['company', 'list'], env)
  assert.equal(code, 1)
  assert.match(stderr, /is being restored since/)
})
