import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../../src/core/audits/commands.ts'
import { carryOutRefunds, payOutWithdrawals } from '../../../src/worker/due.ts'
import { type Client, startApi } from '../../support/api.ts'
import { openDispute } from '../../support/disputes.ts'
import { lastCode } from '../../support/mail.ts'
import { dataOf, makeRecipients, makeSettled } from '../../support/splits.ts'
import { confirm } from '../../support/withdrawals.ts'

/* Each row of disputes and recipients that says something else than the books. */

const api = await startApi()
const { app } = api

const audit = async ({ company }: Client, whole = true): Promise<string> =>
  (await auditCompany(app, company.id, { whole })).faults.join('; ')

/** A company with everything: parts, a payout, a refund that is disputed in part, and a dispute. */
async function openShop() {
  const client = await api.client()
  const [one, two] = await makeRecipients(client, 2)
  const split = [
    { recipientId: one!, percent: 3000 },
    { recipientId: two!, amount: 200 },
  ]
  const charge = await makeSettled(api, client, 1000, split)
  const { withdrawId } = dataOf(await client.post(`/recipient/${one}/payout`, { value: 250 }))
  dataOf(await confirm(client, withdrawId, await lastCode(api, client.company.id)))
  await payOutWithdrawals.run(app)
  await openDispute(client, charge.endToEndId, { value: 600 })
  dataOf(await client.post(`/refund/${charge.id}`, { value: 500 }))
  await carryOutRefunds.run(app)
  const other = await makeSettled(api, client, 1000, split)
  await openDispute(client, other.endToEndId, { value: 400 })
  assert.equal(await audit(client, false), '')
  return client
}

/** Changes what no command of ours would. */
const change = ({ company }: Client, sql: string) =>
  app.db.transaction(async (tx) => {
    await tx.query({ text: `set local session_replication_role = 'replica'` })
    const rows = await tx.query({ text: `${sql} returning 1`, values: [company.id] })
    assert.ok(rows.length > 0, 'something is damaged')
  })

const ENTRY = `insert into recipient_entries
  (company_id, recipient_id, entry, kind, ref, charge_id, amount, balance, posted, created_at)`
const LAST = `(select * from recipient_entries e where company_id = $1 and not exists
  (select from recipient_entries n where n.company_id = $1 and n.recipient_id = e.recipient_id
   and n.entry > e.entry) order by balance limit 1) e`

const DAMAGES: Record<string, [sql: string, says: RegExp]> = {
  'a dispute holds a cent more': [
    'update disputes set held = held + 1 where company_id = $1 and held > 0 and held < amount',
    /disputed is \d+, the disputes make \d+/,
  ],
  'a dispute holds nothing any more': [
    'update disputes set held = 0 where company_id = $1 and held > 0',
    /disputed is \d+, the disputes make 0/,
  ],
  'a dispute held more when it was opened': [
    'update disputes set hold = hold - 1 where company_id = $1',
    /DISPUTE_HELD of \d+ for dispute_\w+, is not what its record says/,
  ],
  'a dispute is of another charge': [
    'update disputes set charge_id = null where company_id = $1',
    /DISPUTE_HELD of \d+ for dispute_\w+, is not what its record says/,
  ],
  'a dispute is gone': ['delete from disputes where company_id = $1', /disputed is/],
  'a refund took more of a dispute': [
    'update refunds set disputed = disputed + 1 where company_id = $1',
    /DISPUTE_ACCEPTED of \d+ for rfnd_\w+, is not what its record says/,
  ],
  'a part of a charge is more': [
    `update charges set split = jsonb_set(split, '{1,amount}', '300') where company_id = $1`,
    /a recipient has got \d+ of the charge/,
  ],
  'a charge is not split': [
    'update charges set split = null where company_id = $1',
    /entries of recipients are of no charge that names them/,
  ],
  'an entry of a recipient is more': [
    `update recipient_entries set amount = amount + 1 where company_id = $1 and kind = 'SPLIT_SETTLED'`,
    /entries of recipients do not follow|a recipient has got/,
  ],
  'the balance of a recipient is more': [
    `update recipient_entries e set balance = e.balance + 1 from ${LAST.slice(0, -2)} l
     where e.company_id = $1 and e.recipient_id = l.recipient_id and e.entry = l.entry`,
    /do not follow/,
  ],
  'an entry of a recipient is missing': [
    `delete from recipient_entries where company_id = $1 and kind = 'WITHDRAWAL_HELD'`,
    /recipients is \d+|do not follow|WITHDRAWAL_HELD/,
  ],
  'all entries of recipients are missing': [
    'delete from recipient_entries where company_id = $1',
    /recipients is \d+, the entries of recipients make 0/,
  ],
  'a recipient owes what nothing says': [
    `${ENTRY} select company_id, recipient_id, entry + 1, 'SPLIT_TAKEN', 'rfnd_x', null, -5,
       balance - 5, posted, created_at from ${LAST}`,
    /1 entries of recipients are of no charge that names them/,
  ],
  'a recipient owes a payout that was not': [
    `${ENTRY} select company_id, recipient_id, entry + 1, 'WITHDRAWAL_HELD', 'wd_x', null, -5,
       balance - 5, posted, created_at from ${LAST}`,
    /1 entries of recipients are of no charge that names them, and of no payout/,
  ],
  'a recipient owes more of a charge': [
    `${ENTRY} select company_id, recipient_id, entry + 1, 'SPLIT_TAKEN', 'rfnd_x',
       (select id from charges where company_id = $1 order by id limit 1), -5,
       balance - 5, posted, created_at from ${LAST}`,
    /a recipient has got/,
  ],
  'a payout is not of a recipient': [
    'update withdrawals set recipient_id = null, key_sealed = null where company_id = $1',
    /WITHDRAWAL_HELD of 250 for wd_\w+, is not what its record says/,
  ],
  'a posting of parts says more': [
    `update postings set amount = amount + 1 where company_id = $1 and kind = 'SPLIT_SETTLED'`,
    /SPLIT_SETTLED of \d+ for \w+, is not what its record says/,
  ],
  'a posting holds less than it should': [
    `update postings set disputed = disputed - 1 where company_id = $1 and kind = 'DISPUTE_HELD'`,
    /does not follow from the one before/,
  ],
  'the balance of disputes is less': [
    'update balances set disputed = disputed - 1 where company_id = $1',
    /disputed is \d+, its postings make \d+/,
  ],
  'the balance of recipients is less': [
    'update balances set recipients = recipients - 1 where company_id = $1',
    /recipients is \d+, its postings make \d+/,
  ],
  'a dispute has given back what it had not': [
    `update disputes set status = 'WON', closed_at = now(), released = held, held = 0,
       notice_at = null where company_id = $1 and held > 0`,
    /disputed is/,
  ],
}

for (const [name, [sql, says]] of Object.entries(DAMAGES)) {
  test(`the audit finds that ${name}`, async () => {
    const client = await openShop()
    await change(client, sql)
    assert.match(await audit(client), says)
  })
}
