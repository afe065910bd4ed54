import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SERVICE } from '../../../src/core/activity/rules.ts'
import { connectBank, disconnectBank } from '../../../src/core/banks/commands.ts'
import { findCompany } from '../../../src/core/companies/store.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import { acceptPayment } from '../../../src/core/payments/commands.ts'
import { matchPayments } from '../../../src/core/payments/match.ts'
import type { Front } from '../../../src/core/places/front.ts'
import * as manually from '../../../src/core/withdrawals/manual-payouts.ts'
import { listWaiting } from '../../../src/core/withdrawals/store.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { toCents } from '../../../src/lib/money.ts'
import { Problem } from '../../../src/lib/problems.ts'
import { findProfile } from '../../../src/provider/bacen/profiles.ts'
import type { Payouts } from '../../../src/provider/port.ts'
import { payOutWithdrawals } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import { lettersOf } from '../../support/mail.ts'
import { balanceOf, confirmed, PATH, rowOf, start } from '../../support/withdrawals.ts'

const completeManually = (app: Front, id: string, endToEndId: string) =>
  manually.completeManually(app, id, endToEndId, SERVICE)
const failManually = (app: Front, id: string, reason: string) =>
  manually.failManually(app, id, reason, SERVICE)

const api = await startApi()

let count = 0
const newEndToEndId = () => `E12345678202608201500${String(count++).padStart(11, '0')}`

/** A live company with R$ 1.000,00 that came to its key. */
async function rich(): Promise<Client> {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const { company } = client
  const now = api.clock.now()
  const pix = { endToEndId: newEndToEndId(), txid: null, amount: toCents(100_000), receivedAt: now }
  await api.app.db.transaction(async (tx) => {
    await matchPayments(tx, api.app, company, [pix], { source: 'bank', now })
    await acceptPayment(tx, company.id, pix.endToEndId, now)
  })
  return client
}

/** A withdrawal of R$ 50,00 that waits for an operator. */
async function waiting() {
  const client = await rich()
  const id = await confirmed(api, client, 5000)
  return { client, id, uuid: fromPublic('wd', id)! }
}

const shown = async (client: Client, id: string) => (await client.get(`${PATH}/${id}`)).body.data
const withdrawalEvents = async ({ company }: Client) =>
  (await eventsOf(api, company.id)).filter(({ type }) => type.startsWith('withdrawal.'))
const kindsOf = async ({ company }: Client) =>
  (await lettersOf(api, company.id)).map(({ kind }) => kind)

async function refusal(act: Promise<unknown>): Promise<string> {
  const fault = await act.then(
    () => assert.fail('nothing was refused'),
    (error) => error,
  )
  assert.ok(fault instanceof Problem, String(fault))
  return fault.message
}

test('where no bank sends, a confirmed withdrawal waits for an operator, and nobody takes it up', async () => {
  const { client, id } = await waiting()
  for (let hours = 0; hours < 72; hours += 24) {
    await payOutWithdrawals.run(api.app)
    api.clock.advance(24 * 3600)
  }
  assert.equal((await shown(client, id)).status, 'PROCESSING')
  const { manual, attempts, ordered_at: ordered } = await rowOf(api, id)
  assert.deepEqual([manual, attempts, ordered], [true, 0, null])
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 5000 })
  const [one, ...others] = await listWaiting(api.app.db, client.company.id)
  assert.deepEqual([one!.value, one!.destination, others], [5000, 'dona@example.com', []])
  assert.equal((await client.post(PATH, { value: 1 })).status, 409, 'one at a time, as ever')
})

test('completed by hand ends like an automatic one, and only once', async () => {
  const { client, id, uuid } = await waiting()
  const endToEndId = newEndToEndId()
  const done = await completeManually(api.app, uuid, endToEndId)
  const now = api.clock.now()
  api.clock.advance(60)
  assert.deepEqual(await completeManually(api.app, uuid, endToEndId), done, 'the same answer again')
  const { status, finishedAt, endToEndId: stored } = await shown(client, id)
  assert.deepEqual([status, finishedAt, stored], ['COMPLETED', now.toISOString(), endToEndId])
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 0 })
  const withdrawal = { id, status: 'COMPLETED', value: 5000 }
  assert.deepEqual(await withdrawalEvents(client), [
    {
      type: 'withdrawal.completed',
      payload: { event: 'Withdrawal.Completed', withdrawal, externalId: null },
    },
  ])
  assert.deepEqual(await kindsOf(client), ['withdrawal-code', 'withdrawal-completed'])
  const entries = await api.rows(
    `select record_id, details from activity where company_id = $1
     and action = 'withdrawal.complete'`,
    [client.company.id],
  )
  assert.deepEqual(entries, [{ record_id: id, details: { value: 5000 } }])
  assert.match(
    await refusal(completeManually(api.app, uuid, newEndToEndId())),
    /COMPLETED as E1234/,
  )
  assert.match(await refusal(failManually(api.app, uuid, 'the key is gone')), /COMPLETED as E1234/)
  assert.deepEqual(await listWaiting(api.app.db, client.company.id), [])
})

test('failed by hand gives the money back with the reason, and only once', async () => {
  const { client, id, uuid } = await waiting()
  await failManually(api.app, uuid, 'the key\nis gone')
  await failManually(api.app, uuid, 'the key is gone')
  const { status, failureReason } = await shown(client, id)
  assert.deepEqual([status, failureReason], ['FAILED', 'the key is gone'])
  assert.deepEqual(await balanceOf(api, client), { available: 100_000, held: 0 })
  assert.deepEqual(
    (await withdrawalEvents(client)).map(({ type }) => type),
    ['withdrawal.failed'],
  )
  assert.deepEqual(await kindsOf(client), ['withdrawal-code', 'withdrawal-failed'])
  assert.match(await refusal(completeManually(api.app, uuid, newEndToEndId())), /FAILED: the key/)
  assert.match(await refusal(failManually(api.app, uuid, 'no account')), /FAILED: the key is gone/)
})

test('what is no id of a Pix that was sent, or is one of another, completes nothing', async () => {
  const { client, id, uuid } = await waiting()
  const [before, other] = [await waiting(), newEndToEndId()]
  await completeManually(api.app, before.uuid, other)
  const [{ end_to_end_id: received }] = (await api.rows(
    'select end_to_end_id from payments where company_id = $1',
    [client.company.id],
  )) as [{ end_to_end_id: string }]
  const wrong = ['', 'E1', `D${other.slice(1)}`, `${other}0`, 'E12345678202613201500abcdefghijk']
  for (const text of [...wrong, 'E12345678202602301500abcdefghijk']) {
    assert.match(await refusal((async () => completeManually(api.app, uuid, text))()), /32 char/)
  }
  assert.match(await refusal(completeManually(api.app, uuid, other)), /another withdrawal, wd_/)
  assert.match(await refusal(completeManually(api.app, uuid, received)), /has received/)
  for (const reason of ['', ' \n', 'x'.repeat(141)]) {
    assert.match(await refusal((async () => failManually(api.app, uuid, reason))()), /^reason: /)
  }
  assert.equal((await shown(client, id)).status, 'PROCESSING')
})

test('only what waits for an operator can be ended by one', async () => {
  const client = await rich()
  const pending = fromPublic('wd', await start(client, 5000))!
  const end = (id: string) => completeManually(api.app, id, newEndToEndId())
  assert.match(await refusal(end(pending)), /PENDING_OTP: its one-time code did not confirm it/)
  const sandbox = await api.client()
  const automatic = fromPublic('wd', await confirmed(api, sandbox, 5000))!
  assert.match(await refusal(end(automatic)), /The bank sends this withdrawal/)
  await payOutWithdrawals.run(api.app)
  assert.match(await refusal(end(automatic)), /COMPLETED as E/)
  assert.match(await refusal(end('01a1dd72-59aa-7000-95e6-7e9739663010')), /no withdrawal/)
})

test('of operators who say different things at once, one is followed', async () => {
  const { client, uuid } = await waiting()
  const said = await Promise.allSettled([
    completeManually(api.app, uuid, newEndToEndId()),
    failManually(api.app, uuid, 'no money in the account'),
    completeManually(api.app, uuid, newEndToEndId()),
  ])
  assert.equal(said.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal((await withdrawalEvents(client)).length, 1)
  const { available, held } = await balanceOf(api, client)
  assert.deepEqual([held, [95_000, 100_000].includes(available)], [0, true])
})

test('two withdrawals cannot be completed by the same Pix at once', async () => {
  const [one, two, endToEndId] = [await waiting(), await waiting(), newEndToEndId()]
  const said = await Promise.allSettled(
    [one, two].map(({ uuid }) => completeManually(api.app, uuid, endToEndId)),
  )
  assert.deepEqual(said.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
})

/** A bank that sends withdrawals is connected. */
async function connect({ company }: Client, payouts: 'bank' | 'manual'): Promise<void> {
  const certificate = { kind: 'pem', certificate: '', key: '', passphrase: null } as const
  const now = api.clock.now()
  await api.app.db.transaction((tx) =>
    connectBank(
      tx,
      api.app.vault,
      company.id,
      {
        profile: findProfile('efi')!,
        clientId: 'c',
        clientSecret: 's',
        appKey: null,
        certificate,
        ca: null,
        account: null,
        payouts,
        certificateEndsAt: new Date(now.getTime() + 365 * 24 * 3600 * 1000),
      },
      now,
    ),
  )
}

const disconnect = ({ company }: Client) =>
  api.app.db.transaction((tx) => disconnectBank(tx, company.id))

/** The app with a bank that answers nothing, but may have the order. */
const withSilence = (send: Payouts['send']): FullApp => ({
  ...api.app,
  providers: {
    ...api.app.providers,
    payoutsOf: () => ({ ...api.app.providers.simulator, send }),
  },
})

test('a bank that is connected later does not send what an operator may have sent', async () => {
  const { client, id } = await waiting()
  await connect(client, 'bank')
  const send = () => assert.fail('nobody takes it up')
  await payOutWithdrawals.run(withSilence(send))
  assert.equal((await rowOf(api, id)).attempts, 0)
})

test('who sends is decided when the code is confirmed, by the bank of that moment', async () => {
  const client = await rich()
  for (const [payouts, manual] of [
    ['bank', false],
    ['manual', true],
  ] as const) {
    await connect(client, payouts)
    const company = await findCompany(api.app.db, client.company.id)
    assert.equal(company!.payouts, payouts)
    const id = await confirmed(api, client, 5000)
    assert.equal((await rowOf(api, id)).manual, manual)
    if (!manual) await disconnect(client)
    await payOutWithdrawals.run(api.app)
    await failManually(api.app, fromPublic('wd', id)!, 'enough')
  }
})

test('what a bank was to send is left to an operator when it is gone, and says whether it was ordered', async () => {
  const [ordered, notOrdered] = [await rich(), await rich()]
  for (const client of [ordered, notOrdered]) await connect(client, 'bank')
  const [first, second] = [
    await confirmed(api, ordered, 5000),
    await confirmed(api, notOrdered, 5000),
  ]
  const askedAt = api.clock.now()
  const silent = withSilence(async () => ({ kind: 'unknown', reason: 'no answer' }))
  await payOutWithdrawals.run(silent, undefined, null)
  await api.rows('update withdrawals set ordered_at = null, attempts = 0 where id = $1', [
    fromPublic('wd', second),
  ])
  for (const client of [ordered, notOrdered]) await disconnect(client)
  api.clock.advance(3600)
  await payOutWithdrawals.run(api.app)
  const orderedOf = async ({ company }: Client) =>
    (await listWaiting(api.app.db, company.id)).map(({ orderedAt }) => orderedAt)
  assert.deepEqual([await orderedOf(ordered), await orderedOf(notOrdered)], [[askedAt], [null]])
  assert.equal((await rowOf(api, first)).next_attempt_at, null)
  await completeManually(api.app, fromPublic('wd', first)!, newEndToEndId())
  assert.deepEqual(await balanceOf(api, ordered), { available: 95_000, held: 0 })
})
