import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { LEASE_S } from '../../src/core/due.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { removeOrphans } from '../../src/worker/due.ts'
import { startApi } from '../support/api.ts'
import { openBanked, pixBody } from '../support/bank.ts'
import { longTest } from '../support/long.ts'
import { temporaryFolder } from '../support/process.ts'
import { becomes, holdingOf } from './hold.ts'
import { createVictim, lowPort } from './victim.ts'

/** Another server of the same database, whose time the test moves. */
const api = await startApi()
const letPass = (seconds: number) =>
  api.clock.advance((Date.now() - api.clock.now().getTime()) / 1000 + seconds)
letPass(0)
const shop = await openBanked(api, { callbacks: false })
const { bank } = shop

const environment = {
  ...api.databases,
  DATA_DIR: temporaryFolder(),
  SECRET_KEY: api.app.config.secretKey.toString('base64'),
}
// Its tasks would do at once what here is looked at step by step.
const victim = createVictim(await lowPort(), environment, ['--role', 'api'])
await victim.start()
after(() => victim.end('SIGKILL'))

type Answer = { status: number; replayed: boolean; id: string | null; code: string | null }

/** Orders a charge, under a key of its own. Null if no answer came. */
async function order(key: string, url = victim.url): Promise<Answer | null> {
  const headers = {
    'content-type': 'application/json',
    'X-API-KEY': shop.key,
    'Idempotency-Key': key,
  }
  const body = JSON.stringify({ ...pixBody(), customer: PAYER })
  const reply = await fetch(`${url}/charge/pix`, { method: 'POST', headers, body }).catch(noReply)
  if (!reply) return null
  const { data, errors } = (await reply.json()) as Body
  return {
    status: reply.status,
    replayed: reply.headers.get('idempotent-replayed') === 'true',
    id: data?.id ?? null,
    code: errors[0]?.code ?? null,
  }
}
type Body = { data: { id: string } | null; errors: { code: string }[] }
const noReply = () => null
const PAYER = pixBody().customer

const rowsOf = (table: string) =>
  api.rows<{ id: string }>(`select id from ${table} where company_id = $1`, [shop.company.id])

/** What is here: how many charges, and how many that a bank may know before they are. */
async function counts() {
  await api.app.charges.removeIntent.idle()
  return {
    intents: (await rowsOf('charge_intents')).length,
    charges: (await rowsOf('charges')).length,
  }
}

/** What is active at the bank are our charges, each once, and nothing else. */
async function requireAgreement(): Promise<void> {
  const ours = (await rowsOf('charges')).map(({ id }) => suffixOf(id))
  const active = [...bank.state().charges.values()].flatMap(({ txid, status }) =>
    status === 'ATIVA' ? [txid] : [],
  )
  assert.deepEqual(active.sort(), ours.sort())
}

const txidOf = (id: string) => id.slice('charge_'.length)
const isHeld = (what: string) => async () => bank.faults.made.some((one) => one.what === what)
const { hold, waiting } = holdingOf(api)

/** Two clients order: one comes again, the other does not. */
const keysOf = (step: string) => [`${step} again`, `${step} once`] as const

/** The server is killed, and started again; nothing is free before the lease is over. */
async function killAndStart(): Promise<void> {
  await victim.end('SIGKILL')
  bank.faults.clear()
  bank.faults.made.length = 0
  await victim.start()
}

/** The client that comes again gets its charge, once; the other's is taken back at the bank. */
async function comeAgain(again: string): Promise<string> {
  const early = (await order(again))!
  assert.deepEqual([early.status, early.code], [409, 'idempotency_in_progress'])
  letPass(LEASE_S + 1)
  const made = (await order(again, api.url))!
  assert.equal(made.status, 201, JSON.stringify(made))
  await removeOrphans.run(api.app)
  await requireAgreement()
  const kept = (await order(again))!
  assert.deepEqual([kept.status, kept.replayed, kept.id], [201, true, made.id])
  return made.id!
}

longTest(
  'killed after the intent is written and before the bank has the order: one charge',
  async () => {
    const [again, once] = keysOf('token')
    bank.faults.next('POST token', 'slow')
    const answers = Promise.all([order(again), order(once)])
    await becomes('two wait for a token', async () => (await counts()).intents === 2)
    await becomes('the bank is asked for a token', isHeld('POST token'))
    await killAndStart()
    assert.deepEqual(await answers, [null, null])
    assert.equal(bank.state().charges.size, 0)
    const id = await comeAgain(again)
    assert.deepEqual([...bank.state().charges.keys()], [txidOf(id)])
    assert.deepEqual(await counts(), { intents: 0, charges: 1 })
  },
)

test('killed after the bank has the charge and before it is written: it is the same charge', async () => {
  const [again, once] = keysOf('order')
  const before = new Set(bank.state().charges.keys())
  const { charges } = await counts()
  bank.faults.next('PUT /cob/{txid}', 'slow', 2)
  const first = order(again)
  await becomes('the bank has it', async () => bank.state().charges.size > before.size)
  const [issued] = [...bank.state().charges.keys()].filter((txid) => !before.has(txid))
  const second = order(once)
  await becomes('the other is begun', async () => (await counts()).intents === 2)
  await killAndStart()
  assert.deepEqual([await first, await second], [null, null])
  assert.deepEqual(await counts(), { intents: 2, charges })
  const id = await comeAgain(again)
  assert.equal(txidOf(id), issued, 'the bank has issued no other')
  assert.deepEqual(await counts(), { intents: 0, charges: charges + 1 })
})

longTest(
  'killed while the charge is being written: it is written or not, and never twice',
  async () => {
    const [again, once] = keysOf('write')
    const release = await hold('charges')
    const answers = Promise.all([order(again), order(once)])
    await becomes('a charge waits to be written', async () => (await waiting()) > 0)
    await becomes('both are begun', async () => (await counts()).intents === 2)
    await killAndStart()
    assert.deepEqual(await answers, [null, null])
    // The database may not have noticed that nobody waits for its answer.
    await release()
    await becomes('nothing waits', async () => (await waiting()) === 0)
    const early = (await order(again))!
    letPass(LEASE_S + 1)
    const made = (await order(again, api.url))!
    assert.equal(made.status, 201, JSON.stringify(made))
    if (early.status === 201) assert.equal(early.id, made.id)
    else assert.equal(early.code, 'idempotency_in_progress')
    await removeOrphans.run(api.app)
    await requireAgreement()
    assert.equal((await counts()).intents, 0)
  },
)

longTest(
  'killed after the charge is written and before its intent is removed: it stays',
  async () => {
    const [again] = keysOf('removal')
    bank.faults.next('PUT /cob/{txid}', 'slow')
    const answer = order(again)
    await becomes('the bank has it', isHeld('PUT /cob/{txid}'))
    const release = await hold('charge_intents')
    bank.faults.release()
    const made = (await answer)!
    assert.equal(made.status, 201)
    await becomes('the removal of the intent waits', async () => (await waiting()) > 0)
    await killAndStart()
    // Else the database would carry out the removal: it has not noticed that nobody waits.
    await api.rows('select pg_terminate_backend(pid) from pg_locks where not granted')
    await release()
    assert.equal((await counts()).intents, 1)
    const kept = (await order(again))!
    assert.deepEqual([kept.status, kept.replayed, kept.id], [201, true, made.id])
    letPass(LEASE_S + 1)
    await removeOrphans.run(api.app)
    await requireAgreement()
    assert.equal((await counts()).intents, 0)
  },
)
