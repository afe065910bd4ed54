import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST_COMPANY } from '../../../src/core/due.ts'
import type { FullApp } from '../../../src/core/full-app.ts'
import * as mails from '../../../src/core/mails/store.ts'
import { claimCallbacks } from '../../../src/core/payments/store.ts'
import { returnMoney } from '../../../src/core/refunds/returns.ts'
import { claimDueRefunds } from '../../../src/core/refunds/store.ts'
import { payOut } from '../../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts } from '../../../src/core/withdrawals/store.ts'
import type { Tx } from '../../../src/db/database.ts'
import type { Outcome, Provider } from '../../../src/provider/port.ts'
import { carryOutRefunds, payOutWithdrawals } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import { balancesOf, makePaid, movementsOf, transfersOf } from '../../support/payments.ts'
import { dueNow } from '../../support/requests.ts'
import { balanceOf, confirmed, start } from '../../support/withdrawals.ts'

const api = await startApi()
const bank = api.app.providers.simulator
const SILENT = { kind: 'unknown', reason: 'no answer' } as const
const REFUSED = { kind: 'rejected', reason: 'the account is closed' } as const

/** The app with a bank that answers this to every order, and to every question about one. */
function answering(outcome: Outcome<never>): FullApp {
  const answer = async () => outcome
  const changed: Provider = { ...bank, refund: answer, findRefund: answer }
  const payouts = { ...bank, send: answer, findSent: answer }
  const providers = { ...api.app.providers, of: () => changed, payoutsOf: () => payouts }
  return { ...api.app, providers }
}

async function refunding(amount: number): Promise<Client> {
  const client = await api.client()
  const { id } = await makePaid(api, client, amount)
  assert.equal((await client.post(`/refund/${id}`)).status, 201)
  return client
}

const stateOf = async (table: 'refunds' | 'withdrawals' | 'mails', { company }: Client) => {
  const [row] = await api.rows<{ attempts: number; next_attempt_at: Date | null; status?: string }>(
    `select * from ${table} where company_id = $1`,
    [company.id],
  )
  const next = row!.next_attempt_at ?? api.clock.now()
  const left_s = (next.getTime() - api.clock.now().getTime()) / 1000
  return { status: row!.status, attempts: row!.attempts, left_s }
}

test('a refusal of a refund that comes late does not undo what another worker gets done', async () => {
  const client = await refunding(1990)
  const [slow] = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  api.clock.advance(60)
  const [quick] = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  await returnMoney(answering(REFUSED), slow!)
  const taken = { status: 'PROCESSING', attempts: 2, left_s: 60 }
  assert.deepEqual(await stateOf('refunds', client), taken)
  await returnMoney(api.app, quick!)
  assert.equal((await stateOf('refunds', client)).status, 'COMPLETED')
  for (const claim of [slow!, quick!]) {
    await returnMoney(answering(REFUSED), claim)
    await returnMoney(api.app, claim)
  }
  const moved = (await movementsOf(api, client)).map(([kind]) => kind)
  assert.deepEqual(moved, ['CHARGE_PAID', 'REFUND_HELD', 'REFUND_PAID'])
  const returned = (await transfersOf(api, client)).filter(([way]) => way === 'returned')
  assert.equal(returned.length, 1)
  assert.equal((await balancesOf(api, client)).held, 0)
})

test('a silence about a refund that comes late leaves the lease of the other worker alone', async () => {
  const client = await refunding(1990)
  const [slow] = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  api.clock.advance(60)
  const [quick] = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  await returnMoney(answering(SILENT), slow!)
  assert.equal((await stateOf('refunds', client)).left_s, 60)
  await returnMoney(answering(SILENT), quick!)
  assert.equal((await stateOf('refunds', client)).left_s, 30, 'its own word counts')
  api.clock.advance(30)
  await carryOutRefunds.run(api.app)
})

test('refunds are leased for a minute: one worker has them, and the next when it is over', async () => {
  const client = await refunding(1990)
  assert.equal((await claimDueRefunds(api.app.db, dueNow(api.app, 10))).length, 1)
  api.clock.advance(59.999)
  assert.deepEqual(await claimDueRefunds(api.app.db, dueNow(api.app, 10)), [])
  api.clock.advance(0.001)
  const [claim] = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  assert.equal(claim!.orderedBefore, true, 'the bank may have got the order')
  await returnMoney(api.app, claim!)
  assert.equal((await stateOf('refunds', client)).status, 'COMPLETED')
})

test('a silence about a payout that comes late leaves the lease of the other worker alone', async () => {
  const client = await api.client()
  await confirmed(api, client, 5000)
  const [slow] = await claimDuePayouts(api.app.db, dueNow(api.app, 10))
  api.clock.advance(60)
  const [quick] = await claimDuePayouts(api.app.db, dueNow(api.app, 10))
  await payOut(answering(SILENT), slow!)
  assert.equal((await stateOf('withdrawals', client)).left_s, 60)
  await payOut(api.app, quick!)
  assert.equal((await stateOf('withdrawals', client)).status, 'COMPLETED')
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 0 })
})

/** As many mails as there are in this file. */
const ALL = 1000

test('a mail that is given back late stays with the worker that has it meanwhile', async () => {
  const client = await api.client()
  await start(client, 700)
  const claim = async () => {
    for (let after = FIRST_COMPANY; ; ) {
      const [mail] = await mails.claimMails(api.app.db, 'first', { ...dueNow(api.app, 1), after })
      if (mail!.companyId === client.company.id) return mail!
      after = mail!.companyId
    }
  }
  const slow = await claim()
  api.clock.advance(mails.LEASE_S)
  const quick = await claim()
  await mails.postpone(api.app.db, slow, api.clock.now())
  assert.equal((await stateOf('mails', client)).left_s, mails.LEASE_S)
  const ending = { reason: null, at: api.clock.now() }
  await mails.finish(api.app.db, [{ mail: quick, outcome: 'SENT', ...ending }])
  await mails.finish(api.app.db, [{ mail: slow, outcome: 'FAILED', ...ending }])
  await mails.postpone(api.app.db, quick, api.clock.now())
  const [row] = await api.rows('select outcome, sealed from mails where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(row, { outcome: 'SENT', sealed: null })
})

test('the time of the first order of a refund stays, however often it is sent', async () => {
  const client = await refunding(1990)
  const orderedAt = async () =>
    (await api.rows('select ordered_at from refunds where company_id = $1', [client.company.id]))[0]
  await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  const first = await orderedAt()
  api.clock.advance(60)
  const [again] = await claimDueRefunds(api.app.db, dueNow(api.app, 10))
  assert.ok(again!.orderedBefore)
  assert.deepEqual(await orderedAt(), first)
  await returnMoney(api.app, again!)
})

test('what one worker is about to claim is left to it by the others, who do not wait', async () => {
  const client = await refunding(1990)
  await confirmed(api, client, 700)
  const now = api.clock.now()
  const { db } = api.app
  const request = dueNow(api.app, 10)
  const claims: Record<string, (tx: Tx) => Promise<unknown[]>> = {
    refunds: (tx) => claimDueRefunds(tx, request),
    withdrawals: (tx) => claimDuePayouts(tx, request),
    callbacks: (tx) => claimCallbacks(tx, request),
    mails: (tx) => mails.claimMails(tx, 'payers', dueNow(api.app, ALL)),
  }
  await api.rows('update bank_callbacks set processed_at = null, next_attempt_at = $1', [now])
  await api.rows(`update mails set next_attempt_at = $1, kind = 'receipt'`, [now])
  for (const [name, claim] of Object.entries(claims)) {
    await db.transaction(async (tx) => {
      assert.ok((await claim(tx)).length > 0, name)
      assert.deepEqual(await claim(db), [], name)
    })
  }
})

test('a company in its own time whose books differ returns and pays out nothing', async () => {
  const client = await refunding(1990)
  await confirmed(api, client, 700)
  const { id } = client.company
  await api.rows('insert into test_clocks (company_id, ahead_ms) values ($1, 60000)', [id])
  await api.rows(`insert into audits values ($1, 0, null, 'R$ 1 is missing', now())`, [id])
  for (const only of [null, id]) {
    assert.deepEqual(await claimDueRefunds(api.app.db, dueNow(api.app, 10, only)), [])
    assert.deepEqual(await claimDuePayouts(api.app.db, dueNow(api.app, 10, only)), [])
  }
  await api.rows('delete from audits where company_id = $1', [id])
  assert.equal((await claimDueRefunds(api.app.db, dueNow(api.app, 10, id))).length, 1)
  assert.equal((await claimDuePayouts(api.app.db, dueNow(api.app, 10, id))).length, 1)
})

test('a lease that is renewed late does not bring a mail forward that was given back', async () => {
  const client = await api.client()
  await start(client, 700)
  const now = api.clock.now()
  const later = (s: number) => new Date(now.getTime() + s * 1000)
  const claimed = await mails.claimMails(api.app.db, 'first', dueNow(api.app, ALL))
  const mail = claimed.find(({ companyId }) => companyId === client.company.id)!
  await mails.postpone(api.app.db, mail, later(300))
  await mails.renewLeases(api.app.db, [mail], later(10))
  assert.equal((await stateOf('mails', client)).left_s, 300)
})

test('what says that a bank may get an order is on disk before the bank gets it', async () => {
  const client = await refunding(1990)
  await confirmed(api, client, 700)
  const { db } = api.app
  const claims: string[] = []
  const light = {
    ...db.light,
    // What is done by these connections may be lost in a power cut.
    query: (...asked: Parameters<typeof db.light.query>) => {
      claims.push(asked[0].text)
      return db.light.query(...asked)
    },
  }
  for (const task of [carryOutRefunds, payOutWithdrawals]) {
    await task.run({ ...api.app, db: { ...db, light: light as typeof db.light } })
  }
  const [row] = await api.rows(
    `select (select status from refunds where company_id = $1) as refund,
       (select status from withdrawals where company_id = $1) as withdrawal`,
    [client.company.id],
  )
  assert.deepEqual(row, { refund: 'COMPLETED', withdrawal: 'COMPLETED' })
  assert.deepEqual(
    claims.filter((text) => /update (refunds|withdrawals)/.test(text)),
    [],
  )
})
