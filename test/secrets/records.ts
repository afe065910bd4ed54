import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connectBank } from '../../src/core/banks/commands.ts'
import { indexEmail } from '../../src/core/customers/sealing.ts'
import { addNote } from '../../src/core/notes/commands.ts'
import { remember } from '../../src/core/payers/store.ts'
import { noTraits } from '../../src/core/payers/traits.ts'
import { callbackContext } from '../../src/core/payments/sealing.ts'
import { insertCallbacks } from '../../src/core/payments/store.ts'
import { indexStop } from '../../src/core/reminders/stops.ts'
import { insertStop } from '../../src/core/reminders/store.ts'
import { saveView } from '../../src/core/saved-views.ts'
import { findProfile } from '../../src/provider/bacen/profiles.ts'
import { prepare, TRIES } from '../api/every-route.ts'
import { type Client, payer, type TestApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { addApp } from '../support/totp.ts'

/** Operations that leave something sealed, beside those that `prepare` uses. */
const SEALING = [
  'createPlan',
  'createPaymentLink',
  'createCustomer',
  'createRecipient',
  'startPayout',
  'startWithdrawal',
  'receivePayment',
  'openDispute',
  'defendDispute',
  'rotateWebhookSecret',
  'createSubscription',
  'createRecurrence',
]

export const STOPPED = 'nunca.mais@example.com'

/** A company, and a person, with something in every table that has something sealed. */
export async function fillAll(api: TestApi, apiVersion: string): Promise<[Client, Member]> {
  const [client, made] = await prepare(api, apiVersion)
  for (const { operationId, ask } of TRIES) {
    if (SEALING.includes(operationId)) await ask(client, made, api)
  }
  const member = await signIn(api, client.company, { byLink: true })
  await addApp(api, member)
  await addSealed(api, client, member)
  await changeTaxId(client)
  return [client, member]
}

async function addSealed(api: TestApi, client: Client, { person }: Member): Promise<void> {
  const { db, vault, clock } = api.app
  const { company } = client
  const now = clock.now()
  const [charge] = await api.rows<{ id: string }>('select id from charges where company_id = $1', [
    company.id,
  ])
  await db.transaction(async (tx) => {
    const on = { companyId: company.id, recordType: 'charge', recordId: charge!.id } as const
    await addNote(tx, vault, on, { id: person.id, name: person.name }, { text: 'Liga depois', now })
  })
  const owner = { db, vault, companyId: company.id, personId: person.id }
  await saveView(owner, 'charges', { name: 'Hoje', filters: { taxId: payer().taxId } }, now)
  const connection = { profile: findProfile('efi')!, clientId: 'c' }
  const bank = { ...connection, payouts: 'manual', certificateEndsAt: new Date('2036-01-01') }
  await db.transaction((tx) => connectBank(tx, vault, company.id, bank as never, now))
  const id = randomUUID()
  const sealed = vault.seal('{"pix":[]}', callbackContext(company.id, id))
  const times = { receivedAt: now, nextAttemptAt: new Date('2099-01-01') }
  await insertCallbacks(db, [{ companyId: company.id, id, provider: 'custom', sealed, ...times }])
  const memory = { traits: noTraits(), owned: [], shared: [] }
  const index = vault.index(company.id, '52998224725')
  await remember(db, vault, company.id, { ...memory, index, id: randomUUID(), now })
  await insertStop(db, company.id, indexStop(vault, company.id, STOPPED), now)
  await api.rows('insert into charge_emails values ($1, $2, $3)', [
    company.id,
    indexEmail(vault, company.id, 'antes@example.com'),
    charge!.id,
  ])
}

/** So that the customer has had another one. */
async function changeTaxId(client: Client): Promise<void> {
  const made = await client.post('/client', {
    ...payer({ taxId: '39053344705' }),
    status: 'ACTIVE',
  })
  const { id } = made.body.data ?? made.body
  const changed = await client.put('/client', { id, taxId: '11144477735' })
  assert.equal(changed.status, 200, changed.text)
}
