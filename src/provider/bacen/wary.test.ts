import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBank } from '../../../test/bank/bank.ts'
import { manualClock } from '../../../test/support/api.ts'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Reply } from './answers.ts'
import { charging } from './charges.ts'
import type { AtBank, Bank, Call } from './client.ts'
import { payouts } from './payouts.ts'
import { reading } from './received.ts'

const clock = manualClock()
const bank = await startBank({ clock, style: { sends: 'efi', errors: 'efi' } })
const connection = bank.connection()
await bank.close()
const payee = { id: newId(), name: 'Padaria', city: 'Recife', pixKey: 'pix@padaria.example' }

/** A bank with prepared answers, and what it was asked. */
function answering(answer: (call: Call, n: number) => Reply): { at: AtBank; calls: Call[] } {
  const calls: Call[] = []
  const ask = async (call: Call) => answer(call, calls.push(call) - 1)
  const moment = (at: Date) => at.toISOString()
  return { calls, at: (_payee, act) => act({ connection, clock, ask, moment } as unknown as Bank) }
}

const DAY_MS = 86_400_000
const done = (body: Record<string, unknown>): Reply => ({ kind: 'done', body })
const MISSING: Reply = { kind: 'missing', reason: 'not found' }
const pixOf = (endToEndId: string) => ({
  endToEndId,
  valor: '10.00',
  horario: clock.now().toISOString(),
  chave: payee.pixKey,
})
const [FIRST, SECOND] = ['E99999990202608201500abcdefghijk', 'E99999990202608201500abcdefghijl']

test('a code never expires before its charge, and always has some time', async () => {
  const seconds = async (left_ms: number) => {
    const { at, calls } = answering(() => MISSING)
    const expiresAt = new Date(clock.now().getTime() + left_ms)
    await charging(at).issueCharge(payee, { id: newId(), amount: toCents(1000), expiresAt })
    return (calls[0]!.body as { calendario: { expiracao: number } }).calendario.expiracao
  }
  assert.equal(await seconds(600_000), 600)
  assert.equal(await seconds(600_001), 601)
  assert.equal(await seconds(599_999), 600)
  assert.equal(await seconds(1), 1)
  assert.equal(await seconds(-5_000), 1)
})

test('a list is unknown if the bank announces another page and repeats the last one', async () => {
  const page = { parametros: { paginacao: { quantidadeDePaginas: 3 } }, pix: [pixOf(FIRST)] }
  const { at, calls } = answering(() => done(page))
  const period = { from: new Date(clock.now().getTime() - 1000), to: clock.now() }
  const outcome = await reading(at).listReceived(payee, period)
  const reason = 'the bank repeats a page of its list'
  assert.deepEqual(outcome, { kind: 'unknown', reason })
  assert.equal(calls.length, 2)
})

test('a full list whose bank announces no pages ends where the bank has no other page', async () => {
  const idOf = (n: number) => `E99999990202608201500${String(n).padStart(11, '0')}`
  const page = { parametros: {}, pix: Array.from({ length: 100 }, (_, n) => pixOf(idOf(n))) }
  const [from, to] = [-1000, 1000].map((ms) => new Date(clock.now().getTime() + ms)) as [Date, Date]
  const period = { from, to }
  for (const none of [MISSING, { kind: 'done', body: {}, isEmpty: true } as const]) {
    const list = (first: Record<string, unknown>) =>
      reading(answering((_, n) => (n === 0 ? done(first) : none)).at).listReceived(payee, period)
    const whole = await list(page)
    assert.ok(whole.kind === 'accepted' && whole.value.length === 100, JSON.stringify(whole))
    // If the bank has announced the page that it does not have, payments may be missing.
    const announced = { ...page, parametros: { paginacao: { quantidadeDePaginas: 2 } } }
    assert.equal((await list(announced)).kind, 'unknown')
  }
})

test('a payment that could not be recorded is set aside, and a txid that none could be is none', async () => {
  const bad = [
    { ...pixOf(SECOND), valor: '0.00' },
    { ...pixOf(`${SECOND}m`), valor: '99999999999.00' },
    pixOf('E'.padEnd(65, '1')),
    pixOf('E1\u00002'),
  ]
  const odd = { ...pixOf(FIRST), txid: 'a\u0000b', horario: '0001-01-01T00:00:00' }
  const { at } = answering(() => done({ parametros: {}, pix: [...bad, odd] }))
  const from = new Date(Date.parse('2026-08-20T15:00:00Z'))
  const outcome = await reading(at).listReceived(payee, { from, to: new Date(from.getTime() + 1) })
  assert.ok(outcome.kind === 'accepted')
  assert.deepEqual(outcome.value, [
    { endToEndId: FIRST, txid: null, amount: 1000, receivedAt: from },
  ])
  assert.equal(outcome.unread?.length, bad.length)
})

test('an answer about another payment than the one asked for says nothing', async () => {
  for (const body of [pixOf(SECOND), { ...pixOf(FIRST), endToEndId: undefined }]) {
    const outcome = await reading(answering(() => done(body)).at).findReceived(payee, [FIRST])
    assert.equal(outcome.kind, 'unknown')
  }
  const found = await reading(answering(() => done(pixOf(FIRST))).at).findReceived(payee, [FIRST])
  assert.ok(found.kind === 'accepted' && found.value[0]!.endToEndId === FIRST)
})

test('no bank is asked for more than five days at once, and every moment is asked for', async () => {
  const { at, calls } = answering(() => done({ parametros: {}, pix: [] }))
  const period = { from: new Date(clock.now().getTime() - 30 * DAY_MS), to: clock.now() }
  assert.equal((await reading(at).listReceived(payee, period)).kind, 'accepted')
  const spans = calls.map(({ query }) => ({
    from: Date.parse(query!.inicio!),
    to: Date.parse(query!.fim!),
  }))
  for (const { from, to } of spans) assert.ok(to - from <= 5 * DAY_MS, `${(to - from) / DAY_MS}`)
  assert.ok(spans[0]!.from <= period.from.getTime() && spans.at(-1)!.to >= period.to.getTime())
  for (const [i, { from }] of spans.slice(1).entries()) assert.ok(from <= spans[i]!.to)
})

test('an order whose id the bank knows and does not show may be under way: it is not refused', async () => {
  const order = { id: newId(), amount: toCents(5000), pixKey: 'dona@padaria.example' }
  const sent = (status: number | null) => {
    const refused: Reply = { kind: 'refused', reason: 'no', status }
    const { at } = answering(({ method }) => (method === 'PUT' ? refused : MISSING))
    return payouts(at).send(payee, order, async () => {})
  }
  assert.equal((await sent(409)).kind, 'unknown')
  assert.equal((await sent(422)).kind, 'rejected')
  assert.equal((await sent(400)).kind, 'rejected')
})

test('an order that the bank has not answered may be under way, though the bank does not show it', async () => {
  const order = { id: newId(), amount: toCents(5000), pixKey: 'dona@padaria.example' }
  const silence: Reply = { kind: 'unknown', reason: 'no answer', isConnection: true }
  for (const reply of [silence, MISSING]) {
    const { at } = answering(({ method }) => (method === 'PUT' ? reply : MISSING))
    assert.equal((await payouts(at).send(payee, order, async () => {})).kind, 'unknown')
  }
})
