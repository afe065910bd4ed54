import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCents } from '../lib/money.ts'
import {
  agreementBody,
  callbackBody,
  collectionsBody,
  namedAgreements,
  namedCollections,
  namedIn,
  namedPayments,
} from './callback.ts'

const KINDS = [
  { read: namedPayments, list: 'pix', field: 'endToEndId' },
  { read: namedAgreements, list: 'recs', field: 'idRec' },
  { read: namedCollections, list: 'cobsr', field: 'txid' },
] as const

for (const { read, list, field } of KINDS) {
  test(`${list}: each id is read once, in its order, and what is no id is left out`, () => {
    const names = ['B2', 'A1', 'B2', '', 'a b', 'x'.repeat(65), 7, null, {}, ['A'], '\0', 'é']
    const entries = [...names.map((name) => ({ [field]: name })), null, 'A', 1, [], {}]
    assert.deepEqual(read({ [list]: entries, other: [{ [field]: 'C3' }] }), ['B2', 'A1'])
    assert.deepEqual(read({ [list]: [{ [field]: 'x'.repeat(64) }] }), ['x'.repeat(64)])
  })

  test(`${list}: one without a list is read too`, () => {
    assert.deepEqual(read({ [field]: 'A1', status: 'x' }), ['A1'])
  })

  test(`${list}: a body without a list names nothing`, () => {
    const entry = { [field]: 'A1' }
    const bodies = [undefined, null, 'x', 7, [], [entry], {}, { [list]: entry }]
    for (const body of [...bodies, { [list]: 'A1' }, { [list]: { 0: entry, length: 1 } }]) {
      assert.deepEqual(read(body), [])
    }
  })
}

test('no JSON that anybody could send makes the reading fail', () => {
  const entry = fc.dictionary(fc.constantFrom('endToEndId', 'idRec', 'txid'), fc.jsonValue())
  const list = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), entry)))
  const body = fc.dictionary(fc.constantFrom('pix', 'recs', 'cobsr', '__proto__'), list)
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), body), (sent) => {
      for (const names of Object.values(namedIn(JSON.parse(JSON.stringify(sent))))) {
        for (const name of names) assert.match(name, /^[A-Za-z0-9]{1,64}$/)
        assert.equal(new Set(names).size, names.length)
      }
    }),
  )
})

test('a callback of the simulated bank has the form of the scheme', () => {
  const receivedAt = new Date('2026-08-20T15:00:00.000Z')
  const pix = { endToEndId: 'E1', txid: 'T1', amount: toCents(1905), receivedAt }
  const entry = { endToEndId: 'E1', txid: 'T1', valor: '19.05', horario: receivedAt.toISOString() }
  assert.deepEqual(callbackBody(pix), { pix: [entry] })
  const agreement = { externalId: 'R1', status: 'APPROVED' } as const
  assert.deepEqual(agreementBody(agreement, []), { recs: [{ idRec: 'R1', status: 'APROVADA' }] })
  assert.deepEqual(agreementBody({ ...agreement, status: 'CANCELED' }, ['T1']), {
    recs: [{ idRec: 'R1', status: 'CANCELADA' }],
    cobsr: [{ txid: 'T1', status: 'CANCELADA' }],
  })
  const collections = [
    { txid: 'T1', status: 'PAID' },
    { txid: 'T2', status: 'FAILED' },
  ] as const
  const body = collectionsBody([...collections], [pix])
  assert.deepEqual(body, {
    pix: [entry],
    cobsr: [
      { txid: 'T1', status: 'CONCLUIDA' },
      { txid: 'T2', status: 'ATIVA' },
    ],
  })
  assert.deepEqual(namedIn(body), {
    endToEndIds: ['E1'],
    agreements: [],
    collections: ['T1', 'T2'],
  })
  assert.deepEqual(Object.keys(collectionsBody([collections[1]], [])), ['cobsr'])
})
