import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { partsOf } from '../../src/core/customers/parts.ts'
import { indexEmail, indexPhone } from '../../src/core/customers/sealing.ts'
import { indexStop } from '../../src/core/reminders/stops.ts'
import { type Client, startApi } from '../support/api.ts'
import { hostedVintemIn, type Result } from '../support/cli.ts'
import { requireClean } from '../support/disputes.ts'
import { temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { RECURRENCES } from '../support/subscriptions.ts'
import { runTasks } from '../support/tasks.ts'
import { openDeliveryWorker } from '../support/webhooks.ts'
import { readAll } from './opened.ts'
import { liveThrough, QUITERIA, TRACES } from './quiteria.ts'

const api = await startApi()
// Commands have the time of the machine.
api.clock.advance((Date.now() - api.clock.now().getTime()) / 1000)
const { vault } = api.app
const home = temporaryFolder()
const hosted = hostedVintemIn(home)
const env = { ...api.databases, SECRET_KEY: api.app.config.secretKey.toString('base64') }
const vintem = (...args: string[]): Promise<Result> => hosted(args, env)

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
async function answer(...args: string[]): Promise<any> {
  const { stdout, stderr } = await vintem(...args, '--json')
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}

const of = ({ company }: Client) => ['--tax-id', QUITERIA.taxId, '--company', company.id]
/** Each trace with what is around it, so that a failure says where it is. */
const tracesIn = (text: string): string[] =>
  text.split('\n').flatMap((line) =>
    TRACES.filter((trace) => line.includes(trace)).map((trace) => {
      const at = line.indexOf(trace)
      return `${trace}: ${line.split(' ')[0]} … ${line.slice(Math.max(0, at - 200), at + 80)}`
    }),
  )

/** Hashes by which somebody could be found who has the secret and asks for her. */
function hashesOf({ company: { id } }: Client): string[] {
  const hashes = [
    vault.index(id, QUITERIA.taxId),
    indexEmail(vault, id, QUITERIA.email),
    indexPhone(vault, id, QUITERIA.phone),
    indexStop(vault, id, QUITERIA.email),
  ].map((hash) => hash.toString('hex'))
  return [...hashes, `{${vault.tokens(id, partsOf(QUITERIA))}}`]
}

const ours = await api.client({ name: 'Loja A' })
const theirs = await api.client({ name: 'Loja B', taxId: '11444777000161' })
const life = await liveThrough(api, ours, await startReceiver())
await liveThrough(api, theirs, await startReceiver())

test('before, all that a payer has left behind is found and exported', async () => {
  const text = await readAll(api, ours.company.id)
  const found = new Set(TRACES.filter((trace) => text.includes(trace)))
  for (const value of Object.values(QUITERIA)) assert.ok(text.includes(value), value)
  assert.ok(found.size >= 8, `${[...found]}`)
  for (const hash of hashesOf(ours)) assert.ok(text.includes(hash), `${hash} is stored`)
  const [output, page] = [join(home, 'dados.json'), join(home, 'dados.html')]
  const files = ['--output', output, '--page', page]
  assert.equal((await vintem('person', 'export', ...of(ours), ...files)).code, 0)
  for (const file of [output, page]) {
    const written = readFileSync(file, 'utf8')
    for (const value of Object.values(QUITERIA)) assert.ok(written.includes(value), value)
    assert.equal(statSync(file).mode & 0o777, 0o600)
  }
  const [company] = JSON.parse(readFileSync(output, 'utf8')).companies
  const counts = Object.fromEntries(
    Object.entries(company).map(([name, list]) => [name, (list as unknown[]).length]),
  )
  assert.ok(counts.charges! >= 8 && counts.subscriptions === 2, JSON.stringify(counts))
  for (const list of ['customers', 'payments', 'refunds', 'disputes', 'notes', 'mails', 'webhooks'])
    assert.ok(counts[list]! > 0, list)
  assert.deepEqual(company.charges[0].payer.taxId, QUITERIA.taxId)
  assert.ok(!existsSync(join(home, 'dados.json.part')))
  const again = await vintem('person', 'export', ...of(ours), '--output', output)
  assert.match(again.stderr, /exists already/)
})

test('without a company, or with a tax id that is none, nothing is done', async () => {
  const both = ['--tax-id', QUITERIA.taxId, '--company', ours.company.id, '--all-companies']
  for (const args of [
    both,
    ['--tax-id', QUITERIA.taxId],
    ['--tax-id', '123', ...of(ours).slice(2)],
  ]) {
    const { code, stderr } = await vintem('payer', 'erase', ...args)
    assert.equal(code, 2)
    assert.doesNotMatch(stderr, /98765432100/)
  }
})

test('without --yes it only says what there is, and open charges and subscriptions hold it up', async () => {
  const before = await readAll(api, ours.company.id)
  const [preview] = await answer('payer', 'erase', ...of(ours))
  assert.equal(preview.kind, 'preview')
  assert.deepEqual(preview.blockers, {
    charges: preview.blockers.charges,
    subscriptions: [life.subscription, life.template],
    disputes: [],
  })
  assert.ok(preview.blockers.charges.includes(life.open))
  const refused = await vintem('payer', 'erase', ...of(ours), '--yes')
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, new RegExp(`use --cancel.*: .*${life.open}`))
  assert.equal(await readAll(api, ours.company.id), before)
})

test('after one run nothing tells who the payer was, and books, ids and other companies are as before', async () => {
  const { id, endToEndId } = life.paid
  const facts = (await ours.get(`/charge/${id}`)).body.data
  assert.ok(facts.customer, 'the server remembers the charge')
  const books = await statement(ours)
  const others = await readAll(api, theirs.company.id)
  const done = await vintem('payer', 'erase', ...of(ours), '--cancel', '--yes', '--wait', '0')
  assert.deepEqual([done.code, done.stderr], [0, ''])
  assert.match(done.stdout, /erased\. .*charges/)

  const text = await readAll(api, ours.company.id)
  assert.deepEqual(tracesIn(text), [])
  assert.deepEqual(
    hashesOf(ours).filter((hash) => text.includes(hash)),
    [],
  )
  assert.ok(text.includes(endToEndId) && text.includes('João Ninguém'))
  assert.equal(await readAll(api, theirs.company.id), others)

  const { customer: _, externalId: __, description: ___, ...kept } = facts
  assert.deepEqual((await ours.get(`/charge/${id}`)).body.data, kept)
  assert.deepEqual(await statement(ours), books)
  for (const client of [ours, theirs]) await requireClean(api, client)
})

test('a second run finds nothing, and the export shows only the facts, to whoever knows the erasure', async () => {
  assert.deepEqual(await answer('payer', 'erase', ...of(ours), '--yes', '--wait', '0'), [])
  assert.deepEqual((await answer('payer', 'export', ...of(ours))).companies, [])
  const [row] = await api.rows<{ id: string; counts: Record<string, number> }>(
    'select id, counts from erasures where company_id = $1 and finished_at is not null',
    [ours.company.id],
  )
  assert.ok(row!.counts.charges! >= 8)
  const erasure = ['--erasure', row!.id, '--company', ours.company.id]
  const { companies } = await answer('payer', 'export', ...erasure)
  assert.ok(companies[0].charges.some((one: { id: string }) => one.id === life.paid.id))
  assert.deepEqual(tracesIn(JSON.stringify(companies)), [])
  assert.equal((await vintem('payer', 'export', ...erasure, '--tax-id', '1')).code, 2)
})

test('the activity log says that it was done, and not of whom', async () => {
  const entries = await api.rows<{ action: string; author_kind: string; details: unknown }>(
    `select action, author_kind, details from activity
     where company_id = $1 and action like 'payer.%' order by id`,
    [ours.company.id],
  )
  assert.deepEqual(
    entries.map(({ action, author_kind }) => [action, author_kind]),
    [
      ['payer.export', 'command-line'],
      ['payer.erase', 'command-line'],
    ],
  )
})

test('an event that is sent again keeps its id and its facts, and names nobody', async () => {
  const { receiver, webhook } = life
  const [first] = receiver.received.filter(({ body }) => body.includes('Charge.Refunded'))
  assert.match(first!.body, /pedido-quiteria-1/)
  const list = (await ours.get(`/webhook/${webhook.id}/deliveries`)).body.data
  const id = `evt_${(first!.headers['webhook-id'] as string).split('_').at(-1)}`
  const delivery = list.find(({ eventId }: { eventId: string }) => eventId === id)
  assert.ok(delivery, `${id} is listed`)
  assert.equal(delivery.attempts[0].response, '')
  receiver.answer = (response) => response.end()
  const count = receiver.received.length
  const again = await ours.post(`/webhook/delivery/${delivery.id}/redeliver`)
  assert.equal(again.status, 200, again.text)
  await openDeliveryWorker(api).run()
  const second = receiver.received
    .slice(count)
    .find(({ headers }) => headers['webhook-id'] === first!.headers['webhook-id'])
  assert.deepEqual(JSON.parse(second!.body), { ...JSON.parse(first!.body), externalId: null })
})

test('tasks, pages and money go on after an erasure', async () => {
  api.clock.advance(3600)
  await runTasks(api)
  assert.equal((await ours.get(`${RECURRENCES}/${life.subscription}`)).status, 200)
  for (const path of [
    '/charge',
    '/client',
    RECURRENCES,
    '/charge/plan',
    '/payment/unmatched',
    '/dispute',
  ]) {
    const { status, text } = await ours.get(path)
    assert.equal(status, 200, text)
    assert.deepEqual(tracesIn(text), [], path)
  }
  const refund = await ours.post(`/refund/${life.paid.id}`, { value: 100 })
  assert.equal(refund.status, 201, refund.text)
  await runTasks(api)
  await requireClean(api, ours)
  assert.deepEqual(tracesIn(await readAll(api, ours.company.id)), [])
})

test('somebody whose data were erased can pay again, and is a new customer', async () => {
  const made = await ours.post('/charge/pix', { amount: 900, customer: QUITERIA })
  assert.equal(made.status, 201, made.text)
  const [customer, ...others] = (await ours.get(`/client?taxId=${QUITERIA.taxId}`)).body.data
  assert.equal(others.length, 0)
  assert.equal((await ours.get(`/charge?taxId=${QUITERIA.taxId}`)).body.data.length, 1)
  assert.ok(customer.createdAt)
  const all = ['--tax-id', QUITERIA.taxId, '--all-companies', '--cancel', '--yes', '--wait', '0']
  const ends = await answer('person', 'erase', ...all)
  assert.deepEqual(
    ends
      .map(({ kind, companyId }: { kind: string; companyId: string }) => [kind, companyId])
      .sort(),
    [ours, theirs].map(({ company }) => ['erased', company.id]).sort(),
  )
  assert.deepEqual(tracesIn(await readAll(api, null)), [], 'in the whole database')
})

// biome-ignore lint/suspicious/noExplicitAny: entries as the API shows them
async function statement(client: Client): Promise<any> {
  return (await client.get('/account-balance/statement')).body.data
}
