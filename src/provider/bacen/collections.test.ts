import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Collection } from '../port.ts'
import { collectionOf } from './collections.ts'

const DUE = '2026-03-10'
const calendario = { criacao: '2026-03-02', dataDeVencimento: DUE }
const E2E = 'E9999999020260310120000000000001'
const attempt = (on: string, status: string) => ({ dataLiquidacao: on, status, endToEndId: E2E })

function given(body: Record<string, unknown>): Collection {
  const outcome = collectionOf({ calendario, ...body })
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome))
  return outcome.value
}

test('a collection is as its status and its last attempt say', () => {
  const scheduled = { on: DUE, status: 'SCHEDULED', endToEndId: null }
  const failed = { on: DUE, status: 'FAILED', endToEndId: null }
  const paid = { on: DUE, status: 'PAID', endToEndId: E2E }
  const cases: [status: string, attempts: string[], expected: unknown][] = [
    ['CRIADA', [], { status: 'SCHEDULED', attempts: [scheduled] }],
    ['ATIVA', ['SOLICITADA'], { status: 'SCHEDULED', attempts: [scheduled] }],
    ['ATIVA', ['AGENDADA'], { status: 'SCHEDULED', attempts: [scheduled] }],
    ['ATIVA', ['NOVIDADE'], { status: 'SCHEDULED', attempts: [scheduled] }],
    ['ATIVA', ['REJEITADA'], { status: 'FAILED', attempts: [failed] }],
    ['ATIVA', ['EXPIRADA'], { status: 'FAILED', attempts: [failed] }],
    ['ATIVA', ['REJEITADA', 'AGENDADA'], { status: 'SCHEDULED', attempts: [scheduled] }],
    ['EXPIRADA', ['EXPIRADA'], { status: 'FAILED', attempts: [failed] }],
    ['REJEITADA', [], { status: 'FAILED', attempts: [failed] }],
    ['CONCLUIDA', ['PAGA'], { status: 'PAID', attempts: [paid] }],
    ['ATIVA', ['PAGA'], { status: 'PAID', attempts: [paid] }],
    ['CANCELADA', ['CANCELADA'], { status: 'CANCELED', attempts: [] }],
    ['CANCELADA', [], { status: 'CANCELED', attempts: [] }],
    ['CANCELADA', ['REJEITADA'], { status: 'CANCELED', attempts: [failed] }],
  ]
  for (const [status, attempts, expected] of cases) {
    const tentativas = attempts.map((one) => attempt(DUE, one))
    assert.deepEqual(given({ status, tentativas }), expected, `${status} ${attempts}`)
  }
})

test('attempts are in the order of their days, and only what is paid names its payment', () => {
  const tentativas = [attempt('2026-03-11', 'PAGA'), attempt(DUE, 'REJEITADA')]
  assert.deepEqual(given({ status: 'CONCLUIDA', tentativas }).attempts, [
    { on: DUE, status: 'FAILED', endToEndId: null },
    { on: '2026-03-11', status: 'PAID', endToEndId: E2E },
  ])
})

test('a payment may be named among what was received; unnamed, it is not known yet', () => {
  const { status, attempts } = given({ status: 'CONCLUIDA', pix: [{ endToEndId: E2E }] })
  assert.deepEqual([status, attempts], ['PAID', [{ on: DUE, status: 'PAID', endToEndId: E2E }]])
  assert.equal(collectionOf({ calendario, status: 'CONCLUIDA' }).kind, 'unknown')
})

test('a status that is new, and an answer without days, leave all unknown', () => {
  assert.equal(collectionOf({ calendario, status: 'NOVIDADE' }).kind, 'unknown')
  assert.equal(collectionOf({ status: 'ATIVA' }).kind, 'unknown')
})

test('no answer of a bank makes the reading fail, or gives a payment without an id', () => {
  const status = fc.constantFrom('CRIADA', 'ATIVA', 'CONCLUIDA', 'CANCELADA', 'REJEITADA', 'X')
  const own = fc.constantFrom('SOLICITADA', 'AGENDADA', 'PAGA', 'CANCELADA', 'REJEITADA', 'X')
  const day = fc.constantFrom(DUE, '2026-03-11', '2026-03-99', null)
  const some = fc.record({ dataLiquidacao: day, status: own, endToEndId: fc.constantFrom(E2E, '') })
  const tentativas = fc.oneof(fc.array(fc.oneof(some, fc.jsonValue())), fc.jsonValue())
  const body = fc.record({
    calendario: fc.oneof(fc.constant(calendario), fc.jsonValue()),
    status,
    tentativas,
    pix: fc.jsonValue(),
  })
  fc.assert(
    fc.property(body, (given) => {
      const outcome = collectionOf(given)
      if (outcome.kind !== 'accepted') return
      const { status, attempts } = outcome.value
      assert.ok(status === 'CANCELED' || attempts.length > 0)
      const days = attempts.map(({ on }) => on)
      assert.deepEqual(days, [...new Set(days)].sort())
      assert.equal(
        attempts.some(({ endToEndId }) => endToEndId !== null),
        status === 'PAID',
      )
    }),
  )
})
