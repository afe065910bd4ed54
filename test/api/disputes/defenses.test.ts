import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds, noticeDisputes, sendDefenses } from '../../../src/worker/due.ts'
import { type Client, eventsOf, startApi } from '../../support/api.ts'
import { advance, startPlaying } from '../../support/clocks.ts'
import { decide, disputeNow, openDispute, requireClean } from '../../support/disputes.ts'
import { lettersOf } from '../../support/mail.ts'
import { makePaid } from '../../support/payments.ts'

const api = await startApi()
const { app } = api
startPlaying(api)
const HOUR_S = 3600

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(64, 7)])
const PNG = Buffer.from('89504e470d0a1a0a00', 'hex')
const JPEG = Buffer.from('ffd8ffe000104a46', 'hex')
const file = (content: Buffer, name = 'nota.pdf') => ({ name, content: content.toString('base64') })

async function disputed(client: Client, fields: { hours?: number } = {}): Promise<string> {
  const { endToEndId } = await makePaid(api, client, 1990)
  return (await openDispute(client, endToEndId, fields)).id
}

const defend = (client: Client, id: string, json: unknown) =>
  client.post(`/dispute/${id}/defense`, json)
const line = ({ body }: { body: { errors: { description: string }[] } }) =>
  body.errors[0]!.description

test('a defense with files is kept sealed and sent to the bank once, which then decides', async () => {
  const client = await api.client()
  const id = await disputed(client)
  const text = 'Entregue em 12/08, com a assinatura da Maria.'
  const files = [file(PDF), file(PNG, 'foto.png'), file(JPEG, 'foto.jpg')]
  const reply = await defend(client, id, { text, files })
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(reply.body.data.defense, {
    text,
    files: [
      { type: 'application/pdf', size: PDF.length },
      { type: 'image/png', size: PNG.length },
      { type: 'image/jpeg', size: JPEG.length },
    ],
  })
  await Promise.all([sendDefenses.run(app), sendDefenses.run(app)])
  const now = await disputeNow(client, id)
  assert.deepEqual([now.status, typeof now.defense.sentAt, now.held], ['DEFENDED', 'string', 1990])
  const [bank] = await api.rows<{ status: string }>(
    'select status from simulated_disputes where account_id = $1',
    [client.company.id],
  )
  assert.equal(bank!.status, 'DEFENDED')
  const rows = await api.rows<{ sealed: Buffer }>(
    `select defense_sealed as sealed from disputes where company_id = $1
     union all select sealed from dispute_files where company_id = $1`,
    [client.company.id],
  )
  assert.equal(rows.length, 4)
  for (const { sealed } of rows) {
    assert.ok(!sealed.includes('Maria') && !sealed.includes('nota') && !sealed.includes('PDF'))
  }
  assert.equal((await defend(client, id, { text })).body.errors[0].code, 'dispute_not_open')
  assert.equal((await decide(client, id, 'won')).status, 'WON')
  await requireClean(api, client)
})

test('what is wrong with a defense is told by field, and nothing is kept of it', async () => {
  const client = await api.client()
  const id = await disputed(client)
  const text = 'Entregue.'
  const six = [1, 2, 3, 4, 5, 6].map(() => file(PNG))
  const cases: [unknown, RegExp][] = [
    [{}, /^text:/],
    [{ text: '' }, /^text:/],
    [{ text: 'x'.repeat(4001) }, /^text:/],
    [{ text, files: six }, /^files:/],
    [{ text, files: [file(Buffer.from('<html>'))] }, /^files\[0\]\.content: must be a PDF/],
    [{ text, files: [{ name: 'a.pdf', content: 'não' }] }, /^files\[0\]\.content: must be a file/],
    [{ text, files: [{ content: 'AAAA' }] }, /^files\[0\]\.name:/],
    [{ text, filez: [] }, /^filez:/],
  ]
  for (const [json, expected] of cases) {
    const reply = await defend(client, id, json)
    assert.equal(reply.status, 400, reply.text)
    assert.match(line(reply), expected)
  }
  const tooLarge = await defend(client, id, { text, files: [file(Buffer.alloc(60_000, 37))] })
  assert.equal(tooLarge.status, 413)
  const now = await disputeNow(client, id)
  assert.deepEqual([now.status, now.defense], ['OPEN', undefined])
})

test('after the deadline there is no defense, but the money can still go back', async () => {
  const client = await api.client()
  const id = await disputed(client, { hours: 2 })
  await advance(client, 2 * HOUR_S + 1)
  const late = await defend(client, id, { text: 'Entregue.' })
  assert.equal(late.status, 409)
  assert.match(line(late), /^The deadline was 20.*Z: the bank takes no defense any more\.$/)
  assert.equal((await client.post(`/dispute/${id}/accept`)).status, 200)
})

test('a defense that the bank refuses leaves the dispute open, with the reason', async () => {
  const client = await api.client()
  const id = await disputed(client)
  assert.equal((await defend(client, id, { text: 'Entregue.' })).status, 200)
  await api.rows(
    "update simulated_disputes set deadline = opened_at - interval '1 s' where account_id = $1",
    [client.company.id],
  )
  await advance(client, 60)
  await sendDefenses.run(app)
  const now = await disputeNow(client, id)
  assert.deepEqual([now.status, now.defense.failureReason], ['OPEN', 'the deadline is over'])
  assert.equal((await defend(client, id, { text: 'Entregue, de novo.' })).status, 200)
})

test('a defense that was not sent when its dispute was accepted is sent if the refund fails', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 66_666)
  const { id } = await openDispute(client, endToEndId)
  assert.equal((await defend(client, id, { text: 'Entregue.' })).status, 200)
  assert.equal((await client.post(`/dispute/${id}/accept`)).status, 200)
  await sendDefenses.run(app)
  await carryOutRefunds.run(app)
  const reopened = await disputeNow(client, id)
  assert.deepEqual([reopened.status, reopened.defense.sentAt], ['DEFENDED', undefined])
  await sendDefenses.run(app)
  assert.equal(typeof (await disputeNow(client, id)).defense.sentAt, 'string')
  await requireClean(api, client)
})

test('a worker that died after the bank took a defense asks, and does not send it again', async () => {
  const client = await api.client()
  const id = await disputed(client)
  assert.equal((await defend(client, id, { text: 'Entregue.' })).status, 200)
  await api.rows(`update disputes set ordered_at = now(), attempts = 1 where company_id = $1`, [
    client.company.id,
  ])
  await api.rows(`update simulated_disputes set status = 'DEFENDED' where account_id = $1`, [
    client.company.id,
  ])
  await sendDefenses.run(app)
  assert.equal(typeof (await disputeNow(client, id)).defense.sentAt, 'string')
})

const noticesOf = async (client: Client) =>
  (await eventsOf(api, client.company.id)).flatMap(({ type, payload }) =>
    type === 'dispute.deadline' ? [payload.dispute.hoursLeft] : [],
  )

test('with the test clock a company is told 48, 24 and 6 hours before the deadline, each once', async () => {
  const client = await api.client()
  await disputed(client, { hours: 168 })
  const told: unknown[] = []
  for (const hours of [119, 1, 23, 1, 17, 1, 5, 2]) {
    await advance(client, hours * HOUR_S)
    told.push((await noticesOf(client)).length)
  }
  assert.deepEqual(told, [0, 1, 1, 2, 2, 3, 3, 3])
  assert.deepEqual(await noticesOf(client), [48, 24, 6])
  const letters = await lettersOf(api, client.company.id)
  assert.deepEqual(
    letters.flatMap(({ kind, subject }) => (kind === 'dispute' ? [subject] : [])).slice(1),
    [48, 24, 6].map((hours) => `Faltam ${hours} horas para responder à disputa`),
  )
})

test('moments that were missed are told as one, and who has answered is told nothing', async () => {
  const client = await api.client()
  const id = await disputed(client, { hours: 50 })
  await api.rows('update disputes set deadline = deadline - $2::interval where company_id = $1', [
    client.company.id,
    '30 hours',
  ])
  api.clock.advance(3 * HOUR_S)
  await Promise.all([noticeDisputes.run(app), noticeDisputes.run(app)])
  assert.deepEqual(await noticesOf(client), [24])
  assert.equal((await defend(client, id, { text: 'Entregue.' })).status, 200)
  api.clock.advance(24 * HOUR_S)
  await noticeDisputes.run(app)
  assert.deepEqual(await noticesOf(client), [24])
})

test('a dispute that opens shortly before its deadline is told only what is still ahead', async () => {
  const client = await api.client()
  await disputed(client, { hours: 20 })
  await advance(client, 21 * HOUR_S)
  assert.deepEqual(await noticesOf(client), [6])
})
