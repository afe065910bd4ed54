import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { Vintem } from '../packages/client/src/index.ts'
import { readSet, settableFields, withSet } from '../src/cli/client/set-fields.ts'
import {
  bodiesOf,
  duration,
  reasonsOf,
  SCENARIOS,
  stepsOf,
  trigger,
} from '../src/cli/client/trigger-run.ts'
import { UNMATCHED_REASONS } from '../src/core/charges/rules.ts'
import { ANY_EVENT_TYPES, type AnyEventType } from '../src/core/events.ts'
import { describeWebhooks } from '../src/http/openapi/webhooks.ts'
import { RETURN_REASONS } from '../src/provider/port.ts'
import { startWorker } from '../src/worker/worker.ts'
import { type Client, payer, startApi } from './support/api.ts'
import { hostedVintemIn, vintemIn } from './support/cli.ts'
import { freePort, temporaryFolder } from './support/process.ts'
import { startReceiver } from './support/receiver.ts'

const api = await startApi({ CLOCK_WAIT_SECONDS: '120' })
const worker = startWorker(api.app)
api.atEnd(() => worker.stop())

const typed = ({ key }: Client) => new Vintem({ url: api.url, key })

/** A sandbox company with a webhook, as a user has it who tries everything. */
const client = await api.client()
const receiver = await startReceiver()
await client.post('/webhook', { name: 'shop', url: receiver.url, events: ['charge.paid'] })
const vintem = typed(client)

/** Every event, for every reason for which it happens. */
const CASES = ANY_EVENT_TYPES.flatMap((type): { type: AnyEventType; reason?: string }[] => {
  const reasons = reasonsOf(type)
  return reasons.length === 0 ? [{ type }] : reasons.map((reason) => ({ type, reason }))
})

test('every event of the code and of the document has a scenario, for every reason', () => {
  assert.deepEqual(Object.keys(SCENARIOS), ANY_EVENT_TYPES)
  assert.deepEqual(Object.keys(SCENARIOS).sort(), Object.keys(describeWebhooks()).sort())
  const reasons = reasonsOf('payment.unmatched')
  assert.deepEqual([...reasons].sort(), [...UNMATCHED_REASONS].sort())
  assert.deepEqual(reasonsOf('payment.returned'), RETURN_REASONS)
})

for (const { type, reason } of CASES) {
  test(`${type} ${reason ?? ''} happens, and is in the feed`, async () => {
    const { event, made, moved_ms } = await trigger(vintem, type, { reason })
    assert.equal(event?.type, type)
    if (reason) assert.equal((event.data as never as Named).payment.reason, reason)
    const { about, summary } = SCENARIOS[type]
    const { id, endToEndId } = made[about] as { id?: string; endToEndId?: string }
    assert.match(JSON.stringify(event.data), new RegExp(`"${endToEndId ?? id}"`))
    const listed = await client.get(`/event?type=${type}&limit=1000`)
    assert.ok(listed.body.data.some(({ id }: { id: string }) => id === event.id))
    const moves = /moves the clock/.test(summary) && (reason === undefined || reason === 'LATE')
    assert.equal(moved_ms > 0, moves, `${moved_ms} ms`)
  })
}

type Named = { payment: { reason: string } }

test('a field that is set is sent, to whichever request has it', async () => {
  const set = ['amount=4990', 'customer.name=Ana = Eva', 'externalId=42', 'refund.value=990']
  const { made, event } = await trigger(vintem, 'charge.refunded', { set })
  const { body } = await client.get(`/charge/${made.charge!.id}`)
  const { total, customer, externalId, refunded } = body.data
  assert.deepEqual([total, customer.name, externalId, refunded], [4990, 'Ana = Eva', '42', 990])
  assert.equal((event!.data as never as { charge: { status: string } }).charge.status, 'PAID')
})

/** As the command does it: what needs time has a sandbox of its own. */
const apart = (set: string[] = []) => ({
  set,
  withKey: (key: string) => new Vintem({ url: api.url, key }),
})

/** What a company has made. It is removed minutes after it was deleted. */
const sandboxesOf = ({ company: { id } }: Client) =>
  api.rows<{ id: string; isOver: boolean }>(
    'select company_id as id, expires_at <= $2 as "isOver" from sandboxes where made_by = $1',
    [id, api.app.systemClock.now()],
  )

test('what needs time happens in a sandbox of its own, and leaves the company as it was', async () => {
  const shop = await api.client()
  const waiting = (await shop.post('/charge/pix', { amount: 700, customer: payer() })).body.data
  const before = (await shop.get('/sandbox/clock')).body.data
  const { event, moved_ms, sandbox } = await trigger(typed(shop), 'charge.overdue', apart())
  assert.equal(event?.type, 'charge.overdue')
  assert.ok(moved_ms > 7 * 86_400_000 && sandbox !== null)
  const after = (await shop.get('/sandbox/clock')).body.data
  assert.ok(Date.parse(after.now) - Date.parse(before.now) < 86_400_000)
  assert.equal((await shop.get(`/charge/${waiting.id}`)).body.data.status, 'OPEN')
  assert.deepEqual(await sandboxesOf(shop), [{ id: sandbox, isOver: true }])
})

test('with the key of a sandbox that was made it says what to do instead', async () => {
  const { apiKey } = (await (await api.client()).post('/sandbox')).body.data
  const made = new Vintem({ url: api.url, key: apiKey })
  await assert.rejects(trigger(made, 'charge.expired', apart()), /With --move-clock/)
})

test('a sandbox is deleted too if the event does not happen, and none is made without need', async () => {
  const shop = await api.client()
  assert.equal((await trigger(typed(shop), 'charge.paid', apart())).sandbox, null)
  const unknown = trigger(typed(shop), 'charge.expired', apart(['amout=1']))
  await assert.rejects(unknown, /sends no such field/)
  assert.deepEqual(await sandboxesOf(shop), [])
  const wrong = trigger(typed(shop), 'charge.expired', apart(['amount=many']))
  await assert.rejects(wrong, /--set amount: must be/)
  assert.deepEqual(
    (await sandboxesOf(shop)).map(({ isOver }) => isOver),
    [true],
  )
})

test('a charge that lives long expires too, and the clock is moved as far', async () => {
  const { moved_ms } = await trigger(vintem, 'charge.expired', { set: ['expiresIn=7200'] })
  assert.ok(moved_ms >= 7100_000 && moved_ms <= 7201_000, String(moved_ms))
})

test('who has too little to withdraw receives the rest first', async () => {
  const poor = await api.client()
  const { made, notes, event } = await trigger(typed(poor), 'withdrawal.completed', {
    set: ['value=150000'],
  })
  assert.equal(event!.type, 'withdrawal.completed')
  assert.equal(made.withdrawal!.value, 150_000)
  assert.match(notes[0]!, /too low, so R\$.500,00 were received/)
})

test('several triggers at once move one clock, and all of their events happen', async () => {
  const shared = typed(await api.client())
  const types = ['charge.expired', 'charge.received', 'charge.expired'] as const
  const all = await Promise.all(types.map((type) => trigger(shared, type)))
  assert.deepEqual(
    all.map(({ event }) => event?.type),
    types,
  )
})

const refused = (given: Parameters<typeof trigger>[2], type: AnyEventType = 'charge.paid') =>
  trigger(vintem, type, given).then(
    () => assert.fail('it is refused'),
    (error: Error) => error.message,
  )

test('what cannot be set is refused in one sentence, which names what can', async () => {
  const unknown = await refused({ set: ['amout=1'] })
  assert.match(unknown, /^--set amout: charge\.paid sends no such field\. Can be set: amount, /)
  assert.match(unknown, / customer\.name, .* payment\.amount, payment\.payer\.name, /)
  assert.match(await refused({ set: ['amount'] }), /must be field=value, such as amount=1990/)
  assert.match(await refused({ set: ['brCode=x'] }), /sends no such field/)
  assert.match(await refused({ set: ['value=1'] }, 'withdrawal.failed'), /sends no such field/)
  assert.equal(await refused({ reason: 'LATE' }), '--reason: charge.paid has none.')
  assert.match(await refused({ reason: 'FRAUD' }, 'payment.unmatched'), /^--reason: must be one of/)
})

test('a value that the server refuses is refused with its rule, and names what was made', async () => {
  assert.match(await refused({ set: ['amount=many'] }), /^--set amount: must be/)
  const late = await refused({ set: ['payment.amount=0'] })
  assert.match(late, /^--set payment\.amount: must be .*\. Made before: charge charge_\w+\.$/)
})

test('if something else happens, that is said at once', async () => {
  assert.equal(
    await refused({ set: ['payment.amount=1'] }),
    'It became payment.unmatched (WRONG_AMOUNT), not charge.paid.',
  )
  assert.equal(
    await refused({ set: ['value=66666'] }, 'withdrawal.completed'),
    'It became withdrawal.failed, not withdrawal.completed.',
  )
})

test('a payment whose answer is lost is not paid again', async () => {
  let payments = 0
  const losing: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    if (!String(input).endsWith('/bank/pix')) return answer
    payments += 1
    await answer.arrayBuffer()
    throw new TypeError('fetch failed')
  }
  const lossy = new Vintem({ url: api.url, key: client.key, fetch: losing })
  await assert.rejects(trigger(lossy, 'charge.paid'), /no answer .* Made before: charge charge_/)
  assert.equal(payments, 1)
})

test('a webhook is registered for its test, if an address is set or there is none', async () => {
  const other = await api.client()
  const missing = await trigger(typed(other), 'webhook.test').catch((error) => error.message)
  assert.match(missing, /^The company has no active webhook: give --set url=/)
  const set = [`url=${receiver.url}`, 'events=["charge.expired"]']
  const { made } = await trigger(typed(other), 'webhook.test', { set })
  assert.match(made.webhook!.secret!, /^whsec_/)
  const { body } = await other.get(`/webhook/${made.webhook!.id}`)
  assert.deepEqual(body.data.events, ['charge.expired'])
})

test('every field that is listed is put into the body that has it, and nowhere else', async () => {
  const type = fc.constantFrom(...ANY_EVENT_TYPES)
  await fc.assert(
    fc.asyncProperty(type, fc.nat(), fc.string(), async (type, n, text) => {
      const bodies = await bodiesOf(stepsOf(type, undefined))
      const labels = settableFields(bodies)
      assert.equal(new Set(labels).size, labels.length)
      const label = labels[n % Math.max(labels.length, 1)]
      if (label === undefined) return
      const [[name, fields] = [], ...others] = Object.entries(
        readSet(type, bodies, [`${label}=${text}`]),
      )
      assert.deepEqual(others, [])
      const isFirst = name === bodies[0]!.name
      const path = label.split('.').slice(isFirst ? 0 : 1)
      const value = path.reduce((inner, part) => (inner as never)[part], fields as unknown)
      // What is no text is JSON, and a text in quotes is JSON too.
      if (value !== text) assert.deepEqual(value, JSON.parse(text))
    }),
  )
  const body = { amount: 1, customer: { name: 'Ana', taxId: '1' } }
  assert.deepEqual(withSet(body, { customer: { name: 'Eva' } }), {
    amount: 1,
    customer: { name: 'Eva', taxId: '1' },
  })
})

test('a time is said in its two largest units', () => {
  const spoken = [1, 60, 3_661, 90_000, 1_036_800].map(duration)
  assert.deepEqual(spoken, ['1 second', '1 minute', '1 hour 1 minute', '1 day 1 hour', '12 days'])
})

/** The real command, without a database and without anything saved. */
const folder = temporaryFolder()
const [alone, run] = [vintemIn(folder), hostedVintemIn(folder)]
const environment = { HOME: folder, XDG_CONFIG_HOME: folder }
const at = ({ key }: Client) => ['--url', api.url, '--key', key]

test('the command prints what it made, for people and for programs', async () => {
  const text = await alone(['trigger', 'charge.received', ...at(client)], environment)
  assert.deepEqual([text.code, text.stderr], [0, ''])
  assert.match(text.stdout, /^charge +charge_\w{26} +R\$.19,90\npage +http\S+\npayment +E\w{31}/)
  assert.match(text.stdout, /clock +moved forward by (1 minute|5\d seconds)\nevent +evt_\w{26}/)
  assert.match(text.stdout, /"event":"Charge\.Received"/)
  assert.match(text.stdout, /a sandbox of its own, .* With --move-clock it happens in your company/)
  const here = await run(['trigger', 'charge.expired', '--move-clock', ...at(client)], environment)
  assert.match(here.stdout, /\nAll that falls due by then in this company has happened too\.\n/)
  const args = ['trigger', 'payment.unmatched', '--reason', 'WRONG_AMOUNT', '--json']
  const json = await run([...args, '--set', 'amount=700', ...at(client)], environment)
  assert.equal(json.code, 0, json.stderr)
  const { type, made, clock, event } = JSON.parse(json.stdout)
  assert.deepEqual([type, clock, made.payment.amount], ['payment.unmatched', null, 800])
  assert.equal(event.data.payment.endToEndId, made.payment.endToEndId)
  const list = await run(['trigger', '--list'], environment)
  assert.equal(list.stdout.trim().split('\n').length, ANY_EVENT_TYPES.length)
  const one = await run(['trigger', 'charge.paid', '--list'], environment)
  assert.match(one.stdout, /Can be set: amount, .*payment\.amount/)
})

test('the guide shows commands that work, and every reason', async () => {
  const guide = readFileSync(join(import.meta.dirname, '../docs/guides/testing.md'), 'utf8')
  const env = { ...environment, VINTEM_URL: api.url, VINTEM_KEY: client.key }
  const lines = [...guide.matchAll(/^npx vintem (trigger .*)$/gm)].map(([, line]) => line!)
  assert.ok(lines.length > 5)
  for (const line of lines) {
    const words = line.replaceAll("'Ana Souza'", 'Ana_Souza').split(' ')
    const { code, stderr } = await run(words, env)
    assert.equal(code, 0, `${line}: ${stderr}`)
  }
  for (const type of ['payment.unmatched', 'payment.returned'] as const) {
    const row = guide.split('\n').find((line) => line.startsWith(`| \`${type}\``))!
    const named = [...row.matchAll(/`([A-Z_]+)`/g)].map(([, reason]) => reason)
    assert.deepEqual(named, reasonsOf(type))
  }
})

test('bad input is one clear sentence and exit code 2', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'viva@example.com' })
  const reader = await api.client({}, { scopes: ['company:read', 'webhooks:read'] })
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const cases: [args: string[], sentence: RegExp][] = [
    [['charge.paid', ...at(live)], /^This is the key of a live company\. .*sandbox company\.$/],
    [['charge.paid', ...at(reader)], /payments:write/],
    [['charge.paid', '--url', api.url, '--key', 'vk_sandbox_x'], /^The server refuses the key/],
    [['charge.paid', '--url', nowhere, '--key', client.key], /no answer .*Check --url/],
    [['charge.paid', '--set', 'x=1', ...at(client)], /sends no such field/],
    [['charge.gone', ...at(client)], /must be one of charge\.pending, .*and not charge\.gone\./],
    [['payment.unmatched', '--reason', 'NOPE', ...at(client)], /--reason must be one of LATE/],
    [at(client), /^Missing: <event-type>\./],
  ]
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await run(['trigger', ...args], environment)
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr.split('\n')[0]!, sentence)
    assert.doesNotMatch(stderr, /\n +at |vk_\w+_\w{20}/)
  }
  const { body } = await live.get('/charge')
  assert.deepEqual(body.data, [], 'nothing was made for the live company')
})
