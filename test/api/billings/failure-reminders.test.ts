import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { billDue } from '../../../src/worker/due.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, startApi } from '../../support/api.ts'
import { approvedSubscription, at, chargesOf, feedOf, moveTo } from '../../support/billing.ts'
import { startPlaying } from '../../support/clocks.ts'
import { startSmtp } from '../../support/smtp.ts'

const smtp = await startSmtp()
const api = await startApi({ SMTP_URL: smtp.url })
startPlaying(api)

beforeEach(async () => {
  await sendDueMails(api.app)
  smtp.received.length = 0
})

const on = (channel = 'EMAIL') => ({ failedCharges: { enabled: true, channel } })
const remindersOf = async (client: Client) =>
  (await feedOf(client)).filter(({ type }) => type === 'charge.reminder').map(({ data }) => data)
const mailed = async () => {
  await sendDueMails(api.app)
  return smtp.received.splice(0).map(({ mail }) => mail)
}

/** A subscription whose payer never has the money, and the day on which its charge is due. */
async function unpaid(client: Client): Promise<string> {
  const { id } = await approvedSubscription(api, client, {}, false)
  return id
}
/** The clock of the tests is on 20 August 2026; by then every attempt is over. */
const END = at('2026-09-30')

test('the payer hears of each debit that failed, what comes next, and of the end', async () => {
  const client = await api.client({ name: 'Clube' })
  await client.put('/reminder', on())
  const id = await unpaid(client)
  const seen: { subject: string; text: string }[] = []
  const days = Array.from(
    { length: 41 },
    (_, day) => new Date(Date.parse(at('2026-08-21')) + day * 86_400_000),
  )
  for (const day of days) {
    await moveTo(client, day.toISOString())
    for (const { subject, text } of await mailed()) seen.push({ subject: subject!, text: text! })
  }
  const told = (await remindersOf(client)).map(({ reminder }) => reminder)
  const [charge] = await chargesOf(client, id)
  const first = told.slice(0, 4)
  assert.deepEqual(
    first.map(({ attempt }) => attempt),
    [1, 2, 3, null],
  )
  for (const one of first) {
    assert.deepEqual([one.occasion, one.mailed], ['COLLECTION_FAILED', true])
    assert.equal(one.nextTry === null, one.attempt === null)
  }
  assert.equal(charge!.status, 'EXPIRED')
  assert.match(seen[0]!.subject, /^Clube: não foi possível debitar R\$/)
  for (const [i, { nextTry }] of first.slice(0, 3).entries()) {
    const day = nextTry.split('-').toReversed().join('/')
    assert.ok(seen[i]!.text.includes(`Seu banco tenta novamente em ${day}`), seen[i]!.text)
  }
  assert.match(seen[3]!.text, /Não haverá nova tentativa de débito/)
  assert.match(seen[3]!.text, /Não quero mais lembretes de Clube/)
})

test('however often the bank is asked, each failure is said once', async () => {
  const client = await api.client()
  await client.put('/reminder', on('WEBHOOK'))
  await unpaid(client)
  await moveTo(client, at('2026-08-27', '23:00:00'))
  const count = (await remindersOf(client)).length
  assert.ok(count >= 1, 'the first debit has failed')
  for (const _ of [1, 2, 3]) {
    await api.rows(
      `update billings set next_at = $2 where company_id = $1 and next_at is not null`,
      [client.company.id, api.clock.now()],
    )
    await billDue.run(api.app)
  }
  assert.equal((await remindersOf(client)).length, count)
  assert.deepEqual(await mailed(), [])
})

test('a mail says the day that the bank has told, whatever of it is written already', async () => {
  const client = await api.client()
  await client.put('/reminder', on())
  await unpaid(client)
  for (let day = 21; (await remindersOf(client)).length === 0; day += 1) {
    await moveTo(client, at(`2026-08-${day}`, '23:00:00'))
  }
  const [{ reminder }] = (await remindersOf(client)) as [{ reminder: { nextTry: string } }]
  const { now } = (await client.get('/sandbox/clock')).body.data
  // As if the process had ended before it wrote the billing: its claim is still there.
  await api.rows('update billings set next_at = $2 where company_id = $1', [
    client.company.id,
    new Date(Date.parse(now) + 60_000),
  ])
  const [mail] = await mailed()
  const day = reminder.nextTry.split('-').toReversed().join('/')
  assert.ok(mail!.text!.includes(`Seu banco tenta novamente em ${day}`), mail!.text)
})

test('without the rule nothing is said, and the events come as before', async () => {
  const client = await api.client()
  await unpaid(client)
  await moveTo(client, END)
  assert.deepEqual(await remindersOf(client), [])
  assert.deepEqual(await mailed(), [])
  const types = (await feedOf(client)).map(({ type }) => type)
  assert.ok(types.includes('subscription.charge.failed'))
})
