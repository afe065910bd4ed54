import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany, auditDue } from '../../../src/core/audits/commands.ts'
import { TASK } from '../../../src/core/tasks.ts'
import type { Account } from '../../../src/ledger/recipes.ts'
import { carryOutRefunds, releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { hostedVintemIn } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/process.ts'

const api = await startApi()
const { app } = api

async function charge(client: Client, amount = 1990) {
  const { body } = await client.post('/charge/pix', { amount, customer: payer() })
  return body.data as { id: string; brCode: string }
}

const pay = (brCode: string, fields: Record<string, unknown> = {}) =>
  api.call('POST', '/bank/pix', { json: { brCode, ...fields } })

async function audit(client: Client, whole = false) {
  const { faults } = await auditCompany(app, client.company.id, { whole })
  return faults
}

const stopped = async (client: Client) => {
  const [row] = await api.rows<{ difference: string | null }>(
    'select difference from audits where company_id = $1',
    [client.company.id],
  )
  return row?.difference ?? null
}

/** Damages what no command of ours would, with the guards of the table put aside. */
async function damage(sql: string, values: unknown[]): Promise<void> {
  await app.db.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = 'replica'` })
    await tx.query({ text: sql, values })
  })
}

async function busyCompany(): Promise<Client> {
  const client = await api.client()
  const [one, two] = [await charge(client), await charge(client, 2500)]
  await pay(one.brCode)
  await pay(two.brCode)
  await pay(two.brCode)
  await pay((await charge(client)).brCode, { amount: 999 })
  api.clock.advance(60)
  await releaseDueCharges.run(app)
  await client.post(`/refund/${one.id}`, { value: 500 })
  await carryOutRefunds.run(app)
  await client.post('/account-balance/withdraw', { value: 700 })
  await pay((await charge(client)).brCode)
  return client
}

test('books that only commands have written agree, in parts and as a whole', async () => {
  const client = await busyCompany()
  assert.deepEqual(await audit(client), [])
  await pay((await charge(client)).brCode)
  api.clock.advance(300)
  assert.deepEqual(await audit(client), [])
  assert.deepEqual(await audit(client, true), [])
  assert.equal(await stopped(client), null)
})

const ACCOUNTS: Account[] = ['available', 'pending', 'held', 'unmatched']

for (const account of ACCOUNTS) {
  test(`a cent that is not in the postings is found in ${account}`, async () => {
    const client = await busyCompany()
    await damage(`update balances set ${account} = ${account} + 1 where company_id = $1`, [
      client.company.id,
    ])
    const [fault] = await audit(client)
    assert.match(fault!, new RegExp(`^${account} is \\d+, its postings make \\d+$`))
    assert.match((await stopped(client))!, new RegExp(account))
  })
}

test('a posting that was changed, and one that is gone, are found', async () => {
  const [changed, gone] = [await busyCompany(), await busyCompany()]
  await damage('update postings set amount = amount + 1 where company_id = $1 and entry = 3', [
    changed.company.id,
  ])
  assert.ok(
    (await audit(changed)).some((fault) => fault === 'entry 3 does not follow from the one before'),
  )
  await damage('delete from postings where company_id = $1 and entry = 2', [gone.company.id])
  const faults = await audit(gone)
  assert.ok(
    faults.some((fault) => /^\d+ entries are not \d+$/.test(fault)),
    faults.join(),
  )
})

test('money that a record has and the ledger does not is found', async () => {
  const client = await busyCompany()
  await damage(
    `update withdrawals set status = 'CANCELED', otp_hash = null, finished_at = created_at
     where company_id = $1`,
    [client.company.id],
  )
  assert.deepEqual(await audit(client), ['held is 700, the open withdrawals and refunds make 0'])
})

test('what only the bank has is found after the callback’s grace, and what only we have too', async () => {
  const client = await busyCompany()
  assert.deepEqual(await audit(client), [])
  const id = client.company.id
  const { endToEndId } = await app.providers.simulator.pay(
    { id },
    { txid: null, amount: 321 as never },
  )
  assert.deepEqual(await audit(client), [], 'its callback may still arrive')
  api.clock.advance(121)
  const [missing] = await audit(client)
  assert.equal(missing, `the bank has received 321 in ${endToEndId}, our books say nothing`)
  await api.rows('delete from simulated_transfers where account_id = $1 and end_to_end_id = $2', [
    id,
    endToEndId,
  ])
  assert.deepEqual(await audit(client), [], 'and agrees again once it is explained')
  assert.equal(await stopped(client), null)
  await api.rows(
    `update simulated_transfers set amount = amount + 1
    where account_id = $1 and direction = 'returned'`,
    [id],
  )
  const faults = await audit(client, true)
  assert.equal(faults.length, 1)
  assert.match(faults[0]!, /^the bank has returned 501 in D\w+, our books say 500$/)
})

test('a difference stops payouts and refunds, and shows in /ready and /metrics until it is gone', async () => {
  const client = await busyCompany()
  const other = await busyCompany()
  const change = (cents: number) =>
    api.rows(
      `update simulated_transfers set amount = amount + $2
       where account_id = $1 and direction = 'returned'`,
      [client.company.id, cents],
    )
  await change(1)
  api.clock.advance(121)
  await audit(client)
  const ready = await api.operator('/ready')
  assert.deepEqual([ready.status, ready.body.status], [200, 'degraded'])
  assert.match(ready.body.warnings[0], /books of \d+ companies differ.*vintem ledger audit/)
  assert.match((await api.operator('/metrics')).text, /vintem_ledger_differing_companies [1-9]/)
  for (const one of [client, other]) {
    const { id, brCode } = await charge(one)
    await pay(brCode)
    await one.post(`/refund/${id}`)
    await carryOutRefunds.run(app)
    const { body: listed } = await one.get(`/refund/charge/${id}`)
    assert.equal(listed.data[0].status, one === client ? 'PROCESSING' : 'COMPLETED')
  }
  await change(-1)
  assert.deepEqual(await audit(client), [])
  await carryOutRefunds.run(app)
  const [row] = await api.rows(
    'select status from refunds where company_id = $1 order by id desc',
    [client.company.id],
  )
  assert.equal(row!.status, 'COMPLETED')
})

test('the task audits companies with new postings, and one that fails does not stop the others', async () => {
  const [sound, broken] = [await busyCompany(), await busyCompany()]
  await damage('update balances set held = held + 1 where company_id = $1', [broken.company.id])
  await auditDue(app)
  assert.equal(await stopped(sound), null)
  assert.match((await stopped(broken))!, /^held is 701/)
  const [row] = await api.rows<{ checked_entry: number; entries: number }>(
    `select a.checked_entry, b.entries from audits a join balances b using (company_id)
     where company_id = $1`,
    [sound.company.id],
  )
  assert.equal(row!.checked_entry, row!.entries, 'what was proved is not read again')
})

/** The operator's command in a process of its own; the code it ends with, and what it printed. */
async function audited(client: Client): Promise<{ code: number; text: string }> {
  const { secretKey, dataDir } = app.config
  const SECRET_KEY = secretKey.toString('base64')
  const own = { PLACES: api.places.join(' '), DATA_DIR: dataDir, SECRET_KEY }
  const words = ['ledger', 'audit', '--company', client.company.id]
  const { code, stdout } = await hostedVintemIn(temporaryFolder())(words, own)
  return { code, text: stdout }
}

test('the operator’s audit names a difference and ends with 1, and with 0 when there is none', async () => {
  const [sound, broken] = [await busyCompany(), await busyCompany()]
  await damage('update balances set held = held + 1 where company_id = $1', [broken.company.id])
  const [clean, wrong] = [await audited(sound), await audited(broken)]
  assert.equal(clean.code, 0, clean.text)
  assert.match(clean.text, /The books agree\.\n$/)
  assert.equal(wrong.code, 1, wrong.text)
  assert.match(wrong.text, new RegExp(`${broken.company.id}: held is 701, its postings make 700`))
  assert.match(wrong.text, /no payout and no refund of theirs is sent/)
})

test('the oldest audit is measured in each place, also of a company whose audits fail', async () => {
  const own = await startApi({}, { places: 2 })
  const ages = async () =>
    [...(await own.operator('/metrics')).text.matchAll(/^vintem_audit_oldest_seconds\S* (\S+)$/gm)]
      .map(([, age]) => Number(age))
      .sort((one, other) => one - other)
  assert.deepEqual(await ages(), [0, 0])
  const [broken] = [await own.client(), await own.client()]
  await auditDue(own.app)
  own.clock.advance(601)
  const fail = ({ company }: Client) =>
    own.app.setbacks.failed(TASK.audit, company.id, new Error('x'))
  await fail(broken)
  await auditDue(own.app)
  assert.deepEqual(await ages(), [0, 601], 'the others are audited')
  own.clock.advance(601)
  await auditDue(own.app)
  assert.deepEqual(await ages(), [0, 0])
  await fail(await own.client())
  own.clock.advance(599)
  await auditDue(own.app)
  assert.deepEqual(await ages(), [0, 599], 'one that was never audited')
})
