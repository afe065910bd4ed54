import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { purgeFinished } from '../../../src/core/mails/store.ts'
import { FOLLOW_AFTER_MS, noticeCharges } from '../../../src/core/reminders/commands.ts'
import { listSaid } from '../../../src/core/reminders/store.ts'
import { dayFaults } from '../../../src/core/reminders/view.ts'
import { fromPublic } from '../../../src/lib/ids.ts'
import { addDays, atHour } from '../../../src/pix/local-time.ts'
import { noticeDueDates } from '../../../src/worker/due.ts'
import { sendDueMails } from '../../../src/worker/mail.ts'
import { type Client, payer, type Reply, startApi } from '../../support/api.ts'
import { feedOf, moveTo } from '../../support/billing.ts'
import { startPlaying } from '../../support/clocks.ts'
import { assertShort, assertYields } from '../../support/loop.ts'
import { startSmtp } from '../../support/smtp.ts'

const smtp = await startSmtp()
const api = await startApi({ SMTP_URL: smtp.url })
const { app } = api
startPlaying(api)

beforeEach(async () => {
  await sendDueMails(app)
  smtp.received.length = 0
})

// The clock of the tests is on Thursday, 20 August 2026. A Friday:
const DUE = '2026-08-28'
const rule = (day: number, more: object = {}) => ({ day, enabled: true, channel: 'EMAIL', ...more })

async function shopWith(days: number[], more: object = {}): Promise<Client> {
  const client = await api.client(more)
  const reply = await client.put('/reminder', { rules: days.map((day) => rule(day)) })
  assert.equal(reply.status, 200, reply.text)
  return client
}
const create = async (client: Client, more: object = {}): Promise<{ id: string; url: string }> => {
  const terms = { dueDate: DUE, fine: { type: 'PERCENT', value: 200 } }
  const body = { amount: 100_000, customer: payer(), devMode: true, ...terms, ...more }
  const reply = await client.post('/charge/pix', body)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data
}
/** Nine o'clock of a day so many days after the due day. */
const nine = (day: number) => atHour(addDays(DUE, day), 9)
const goTo = (client: Client, day: number, hour = 12) =>
  moveTo(client, atHour(addDays(DUE, day), hour).toISOString())
const remindersOf = async (client: Client) =>
  (await feedOf(client)).filter(({ type }) => type === 'charge.reminder')
const daysSaid = async (client: Client) =>
  (await remindersOf(client)).map(({ data }) => data.reminder.day)
const mailed = async () => {
  await sendDueMails(app)
  return smtp.received.splice(0).map(({ mail, to }) => ({ ...mail, to }))
}
const faultsOf = ({ body }: Reply) =>
  body.errors.map(({ description }: { description: string }) => description)

test('a payer is reminded at nine on the days of the rules, with the amount of that day', async () => {
  const client = await shopWith([-3, 0, 5], { name: 'Padaria Ana' })
  const { id, url } = await create(client, { externalId: 'order-7', description: 'Mensalidade' })
  await goTo(client, -3, 8)
  assert.deepEqual(await remindersOf(client), [])
  await goTo(client, -3, 10)
  const [event] = await remindersOf(client)
  assert.equal(event!.createdAt, nine(-3).toISOString())
  assert.deepEqual(event!.data, {
    event: 'Charge.Reminder',
    charge: { id, status: 'PROCESSING', total: 100_000 },
    due: { dueDate: DUE, amount: event!.data.due.amount },
    reminder: { occasion: 'DUE_DATE', day: -3, mailed: true },
    externalId: 'order-7',
  })
  const [first] = await mailed()
  assert.equal(first!.subject, 'Padaria Ana: cobrança de R$ 1.000,00 vence em 28/08/2026')
  for (const part of ['Olá, Maria da Silva!', 'R$ 1.000,00', 'Mensalidade', url]) {
    assert.ok(first!.text!.includes(part), `${part} in ${first!.text}`)
  }
  await goTo(client, 0)
  assert.match((await mailed())[0]!.subject!, /vence hoje/)
  await goTo(client, 5)
  const [late] = await mailed()
  assert.match(late!.subject!, /cobrança de R\$ 1\.020,00 venceu em 28\/08\/2026/)
  assert.match(late!.text!, /Multa: R\$ 20,00/)
  assert.deepEqual(await daysSaid(client), [-3, 0, 5])
  await goTo(client, 20)
  assert.deepEqual([await daysSaid(client), await mailed()], [[-3, 0, 5], []])
})

test('two workers that find the same charge remind once', async () => {
  const client = await shopWith([0])
  await create(client)
  const [row] = await api.rows<{ id: string }>('select id from charges where company_id = $1', [
    client.company.id,
  ])
  const then = { ...app, clock: { now: () => nine(0) } }
  const say = () =>
    app.db.transaction((tx) => noticeCharges(tx, then, client.company.id, [row!.id]))
  assert.deepEqual((await Promise.all([say(), say(), say()])).sort(), [0, 0, 1])
  assert.deepEqual(await daysSaid(client), [0])
  assert.equal((await mailed()).length, 1)
})

test('if it ends before the commit, nothing is said, and it is said once later', async () => {
  const client = await shopWith([0])
  await create(client)
  const { id: companyId } = client.company
  const [row] = await api.rows<{ id: string }>('select id from charges where company_id = $1', [
    companyId,
  ])
  const then = { ...app, clock: { now: () => nine(0) } }
  const killed = new Error('killed')
  const say = (end?: Error) =>
    app.db.transaction(async (tx) => {
      await noticeCharges(tx, then, companyId, [row!.id])
      if (end) throw end
    })
  await assert.rejects(say(killed), killed)
  const count = async () =>
    (
      await api.rows<{ n: number }>(
        `select (select count(*) from reminders where company_id = $1)
           + (select count(*) from mails where company_id = $1 and kind = 'reminder')
           + (select count(*) from events where company_id = $1 and type = 'charge.reminder')
           as n`,
        [companyId],
      )
    ).map(({ n }) => Number(n))[0]
  assert.equal(await count(), 0)
  await say()
  await say()
  assert.equal(await count(), 3, 'one reminder, one mail, one event')
  await api.rows('update charges set notice_at = $2 where company_id = $1', [companyId, nine(0)])
  await say()
  assert.equal(await count(), 3, 'what was said is not said again, whatever the moment says')
})

for (const [end, act] of [
  ['paid', (client: Client, id: string) => client.post(`/charge/${id}/simulate-payment`)],
  ['canceled', (client: Client, id: string) => client.post(`/charge/${id}/cancel`)],
] as const) {
  test(`whose charge is ${end} is not reminded any more, not even by a mail that waits`, async () => {
    const client = await shopWith([-1, 0], { mailsReceipts: false })
    const { id } = await create(client)
    await goTo(client, -1)
    assert.deepEqual(await daysSaid(client), [-1])
    await act(client, id)
    assert.deepEqual(await mailed(), [])
    await goTo(client, 3)
    assert.deepEqual([await daysSaid(client), await mailed()], [[-1], []])
  })
}

test('an expired charge is not reminded of', async () => {
  const client = await shopWith([3])
  await create(client, { daysAfterDue: 0 })
  await goTo(client, 5)
  assert.deepEqual(await daysSaid(client), [])
})

test('of the reminders that were missed only the latest is said, and none out of its time', async () => {
  const missed = async (days: number[], now: Date) => {
    const client = await shopWith(days)
    await create(client)
    const rows = await api.rows<{ id: string }>('select id from charges where company_id = $1', [
      client.company.id,
    ])
    const then = { ...app, clock: { now: () => now } }
    await app.db.transaction((tx) => noticeCharges(tx, then, client.company.id, [rows[0]!.id]))
    return daysSaid(client)
  }
  assert.deepEqual(await missed([-3, -1, 0, 1, 3], nine(4)), [3])
  assert.deepEqual(await missed([-3, -1], nine(0)), [-1], 'the due date is not over')
  assert.deepEqual(await missed([-3, 0], nine(4)), [], 'before the due date, after it')
  const night = atHour(DUE, 22)
  assert.deepEqual(await missed([-1, 0], night), [], 'its mail would wait for a day too late')
})

test('whose rule has no mail, or who has no address, gets none, and the event says so', async () => {
  const client = await shopWith([-1])
  const { email, ...nobody } = payer()
  assert.ok(email)
  await create(client, { customer: nobody })
  await goTo(client, -1)
  const other = await api.client()
  await other.put('/reminder', { rules: [rule(-1, { channel: 'WEBHOOK' })] })
  await create(other)
  await goTo(other, -1)
  const told = [...(await remindersOf(client)), ...(await remindersOf(other))]
  assert.deepEqual(
    told.map(({ data }) => data.reminder),
    ['NO_ADDRESS', 'CHANNEL'].map((unmailed) => ({
      occasion: 'DUE_DATE',
      day: -1,
      mailed: false,
      unmailed,
    })),
  )
  assert.deepEqual(await mailed(), [])
})

test('open charges follow changed rules, and what is past is not said', async () => {
  const client = await api.client()
  await create(client)
  await goTo(client, -5)
  await client.put('/reminder', { rules: [rule(-10), rule(-2), rule(0, { enabled: false })] })
  const now = atHour(addDays(DUE, -5), 12)
  await moveTo(client, new Date(now.getTime() + FOLLOW_AFTER_MS).toISOString())
  assert.deepEqual(
    await api.rows('select 1 from reminder_changes where company_id = $1', [client.company.id]),
    [],
  )
  await goTo(client, -1)
  assert.deepEqual(await daysSaid(client), [-2])
  await client.put('/reminder', { rules: [] })
  await goTo(client, 5)
  assert.deepEqual(await daysSaid(client), [-2])
  const types = (await feedOf(client)).map(({ type }) => type)
  assert.deepEqual(types.slice(-2), ['charge.due', 'charge.overdue'], 'they come as before')
})

test('a rule that is switched off takes back a mail that waits', async () => {
  const client = await shopWith([-1])
  await create(client)
  await goTo(client, -1)
  await client.put('/reminder', { rules: [rule(-1, { enabled: false })] })
  assert.deepEqual(await mailed(), [])
})

test('a company writes its reminders itself, in the language of its mails', async () => {
  const text = 'Oi {nome}, faltam <b>{valor}</b>.\nPague aqui: {link}\nAté {vencimento}, {empresa}'
  const texts = { pt: { subject: '{empresa} · {valor}', text } }
  const client = await api.client({ name: 'Loja' })
  await client.put('/reminder', { rules: [rule(-1, { texts })] })
  const { url } = await create(client)
  await goTo(client, -1)
  const [mail] = await mailed()
  assert.equal(mail!.subject, 'Loja · R$ 1.000,00')
  assert.ok(mail!.text!.includes('Oi Maria da Silva, faltam <b>R$ 1.000,00</b>.'), mail!.text)
  assert.ok(mail!.html!.includes('faltam &lt;b&gt;R$ 1.000,00&lt;/b&gt;'), 'it is no HTML')
  const places = ['Pague aqui', url, 'Até 28/08/2026, Loja'].map((part) =>
    mail!.text!.indexOf(part),
  )
  assert.ok(
    places.every((at, i) => at > (places[i - 1] ?? -1)),
    'the link is where it was put',
  )
  const english = await api.client({ language: 'en', name: 'Shop' })
  await english.put('/reminder', { rules: [rule(-1, { texts })] })
  await create(english)
  await goTo(english, -1)
  assert.match((await mailed())[0]!.subject!, /^Shop: R\$ 1\.000,00 due on 28\/08\/2026$/)
})

test('a payer whose name has braces or addresses writes nothing into the letter', async () => {
  const client = await shopWith([-1])
  await create(client, { customer: { ...payer(), name: 'Eva {link} {valor} www.evil.example' } })
  await goTo(client, -1)
  const [mail] = await mailed()
  assert.match(mail!.text!, /^Olá!$/m)
  assert.doesNotMatch(mail!.text!, /evil\.example|Eva/)
})

test('every rule of the rules has its own message, and nothing is half-written', async () => {
  const client = await shopWith([-3])
  const cases: [object, string, string[]][] = [
    [
      { rules: [rule(1), rule(1)] },
      'invalid_value',
      ['rules[1].day: rules[0] has the day 1 already; each day has one'],
    ],
    [{ rules: [rule(31)] }, 'invalid_value', ['rules[0].day: must be at most 30']],
    [
      { rules: [{ day: 1 }] },
      'invalid_value',
      ['rules[0].enabled: is required', 'rules[0].channel: is required'],
    ],
    [
      { rules: [rule(1, { texts: { pt: { subject: '{valro}', text: '{cpf} {link}' } } })] },
      'unknown_placeholder',
      [
        'rules[0].texts.pt.subject: {valro} is no placeholder; use {valor}',
        'rules[0].texts.pt.text: {cpf} is no placeholder; use one of {nome}, {valor}, {vencimento}, {link}, {empresa}, or leave the braces out',
      ],
    ],
    [
      {
        failedCharges: {
          enabled: true,
          channel: 'EMAIL',
          texts: { en: { subject: '{link}', text: 'x' } },
        },
      },
      'unknown_placeholder',
      ['failedCharges.texts.en.subject: {link} cannot be in a subject; put it into the text'],
    ],
  ]
  for (const [body, code, faults] of cases) {
    const reply = await client.put('/reminder', body)
    assert.deepEqual([reply.status, reply.body.errors[0].code], [400, code], reply.text)
    assert.deepEqual(faultsOf(reply), faults)
  }
  const many = Array.from({ length: 11 }, (_, day) => rule(day))
  assert.equal((await client.put('/reminder', { rules: many })).status, 400)
  const { data } = (await client.get('/reminder')).body
  assert.deepEqual(data, {
    rules: [rule(-3)],
    failedCharges: { enabled: false, channel: 'EMAIL' },
  })
})

test('rules are of their company, and each part is changed by itself', async () => {
  const [client, other] = [await shopWith([-3, 2]), await api.client()]
  assert.deepEqual((await other.get('/reminder')).body.data.rules, [])
  const failedCharges = { enabled: true, channel: 'WEBHOOK' }
  await client.put('/reminder', { failedCharges })
  assert.deepEqual((await client.get('/reminder')).body.data, {
    rules: [rule(-3), rule(2)],
    failedCharges,
  })
  await create(other)
  await goTo(other, 3)
  assert.deepEqual(await daysSaid(other), [])
})

test('what became of a mail that is long gone is not made up', async () => {
  const client = await shopWith([-1])
  const { id } = await create(client)
  await goTo(client, -1)
  const of = { companyId: client.company.id, id: fromPublic('charge', id)! }
  const outcomes = async () => (await listSaid(app.db, of)).map(({ outcome }) => outcome)
  await api.rows(
    `update mails set finished_at = $2, outcome = 'FAILED', sealed = null where company_id = $1`,
    [of.companyId, api.clock.now()],
  )
  assert.deepEqual(await outcomes(), ['FAILED'])
  await purgeFinished(app.db, api.clock.now(), 1000)
  assert.deepEqual(await outcomes(), ['GONE'])
})

test('many reminders at nine do not keep the event loop, nor does a list that is far too long', async () => {
  const client = await shopWith([-1])
  const terms = { customer: payer(), devMode: true, dueDate: DUE }
  const charges = Array.from({ length: 800 }, (_, i) => ({ amount: 1000 + i, ...terms }))
  const reply = await client.post('/charge/batch', { charges })
  assert.equal(reply.body.data.accepted, 800, reply.text)
  const { id: companyId } = client.company
  const clock = { now: () => nine(-1) }
  await assertYields('reminders', async () => {
    await api.rows('delete from reminders where company_id = $1', [companyId])
    await api.rows('update charges set notice_at = $2 where company_id = $1', [companyId, nine(-1)])
    await noticeDueDates.run({ ...app, clock, systemClock: clock })
  })
  const said = await api.rows('select 1 from reminders where company_id = $1', [companyId])
  assert.equal(said.length, 800)
  const rules = Array.from({ length: 4000 }, (_, day) => ({ day }))
  assertShort('4,000 rules', () => dayFaults({ rules }))
})

test('a charge without a due date has no moment and no reminder', async () => {
  const client = await shopWith([0])
  await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const rows = await api.rows('select notice_at from charges where company_id = $1', [
    client.company.id,
  ])
  assert.deepEqual(rows, [{ notice_at: null }])
  await noticeDueDates.run(app)
  assert.deepEqual(await remindersOf(client), [])
})

/** Where a mail says that its reader can stop the reminders. */
const stopOf = ({ text = '' }: { text?: string | undefined }): string =>
  new URL(/http\S+\/reminders\/\S+/.exec(text)![0]).pathname
const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
  fetch(api.url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': type },
    redirect: 'manual',
  })
const get = async (path: string) => {
  const reply = await fetch(api.url + path)
  return { status: reply.status, body: await reply.text() }
}

test('a payer stops the reminders of a company, and may get them again', async () => {
  const client = await shopWith([-3, -2, -1, 0], { name: 'Loja <b>' })
  await create(client)
  await goTo(client, -3)
  const [mail] = await mailed()
  const address = stopOf(mail!)
  const headers = Object.fromEntries(mail!.headers.map(({ key, value }) => [key, value]))
  assert.ok(headers['list-unsubscribe']!.endsWith(`${address}>`), headers['list-unsubscribe'])
  assert.equal(headers['list-unsubscribe-post'], 'List-Unsubscribe=One-Click')
  const shown = await get(address)
  assert.equal(shown.status, 200)
  assert.match(shown.body, /Loja &lt;b&gt;/)
  assert.match(shown.body, /m\*\*\*@example\.com/)
  await goTo(client, -2)
  assert.equal((await mailed()).length, 1, 'looking at the page changes nothing')
  const part =
    '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--'
  for (const [payload, type] of [
    ['List-Unsubscribe=One-Click', undefined],
    [part, 'multipart/form-data; boundary=x'],
  ] as const) {
    const done = await post(address, payload, type)
    assert.equal(done.status, 200, 'mail programs follow no redirect')
    assert.match(await done.text(), /Você não recebe mais lembretes/)
  }
  const stopped = await get(address)
  assert.match(stopped.body, /Você não recebe mais lembretes/)
  for (const email of ['MARIA@example.com', 'Maria+loja@example.com', 'mar.ia@example.com']) {
    await create(client, { customer: { ...payer(), email } })
  }
  await goTo(client, -1)
  assert.deepEqual(await mailed(), [], 'other charges of the mailbox too')
  const told = (await remindersOf(client)).slice(-4)
  for (const { data } of told) assert.equal(data.reminder.unmailed, 'UNSUBSCRIBED')
  assert.equal((await post(address, 'again=yes')).status, 303)
  await goTo(client, 0)
  assert.equal((await mailed()).length, 4)
})

test('a mail that waits is not sent to who has stopped the reminders meanwhile', async () => {
  const client = await shopWith([-2, -1])
  await create(client)
  await goTo(client, -2)
  const address = stopOf((await mailed())[0]!)
  await goTo(client, -1)
  await post(address, '')
  assert.deepEqual(await mailed(), [])
})

test('who stops the reminders of a company gets those of others, and receipts', async () => {
  const [client, other] = [await shopWith([-2, -1]), await shopWith([-1])]
  const { id } = await create(client)
  await create(other)
  await goTo(client, -2)
  const address = stopOf((await mailed())[0]!)
  await post(address, '')
  await goTo(other, -1)
  assert.equal((await mailed()).length, 1)
  await client.post(`/charge/${id}/simulate-payment`)
  assert.match((await mailed())[0]!.subject!, /comprovante/)
})

test('no address stops reminders that was not mailed', async () => {
  const client = await shopWith([-2])
  const { url } = await create(client)
  await goTo(client, -2)
  const address = stopOf((await mailed())[0]!)
  const page = new URL(url).pathname.replace('/pay/', '/reminders/')
  const pair = address.slice('/reminders/'.length, '/reminders/'.length + 43)
  for (const path of [
    page,
    `/reminders/${pair}`,
    `${address}x`,
    `${address.slice(0, -1)}_`,
    '/reminders/x',
  ]) {
    assert.equal((await get(path)).status, 404, path)
    assert.equal((await post(path, '')).status, 404, path)
  }
  assert.deepEqual(
    await api.rows('select 1 from reminder_stops where company_id = $1', [client.company.id]),
    [],
  )
})
