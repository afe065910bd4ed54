import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toCents } from '../lib/money.ts'
import { agreementBody, callbackBody, collectionsBody, type Named, namedIn } from './callback.ts'

const readerOf = (kind: keyof Named) => (body: unknown) => namedIn(body)[kind]

const KINDS = [
  { read: readerOf('endToEndIds'), list: 'pix', field: 'endToEndId' },
  { read: readerOf('txids'), list: 'pix', field: 'txid' },
  { read: readerOf('agreements'), list: 'recs', field: 'idRec' },
  { read: readerOf('collections'), list: 'cobsr', field: 'txid' },
] as const

for (const { read, list, field } of KINDS) {
  test(`${field} of ${list}: each id is read once, in its order, and what is no id is left out`, () => {
    const names = ['B2', 'A1', 'B2', '', 'a b', 'x'.repeat(65), 7, null, {}, ['A'], '\0', 'é']
    const entries = [...names.map((name) => ({ [field]: name })), null, 'A', 1, [], {}]
    assert.deepEqual(read({ [list]: entries, other: [{ [field]: 'C3' }] }), ['B2', 'A1'])
    assert.deepEqual(read({ [list]: [{ [field]: 'x'.repeat(64) }] }), ['x'.repeat(64)])
  })

  test(`${field} of ${list}: one without a list, and a list alone, are read too`, () => {
    const entry = { [field]: 'A1', status: 'x' }
    const more = { [list]: [{ [field]: 'B2' }] }
    for (const body of [entry, [entry], [[], entry], { [list]: entry }, [{ [list]: [entry] }]]) {
      assert.deepEqual(read(body), ['A1'])
    }
    assert.deepEqual(read([more, entry]).sort(), ['A1', 'B2'])
    const many = Array.from({ length: 1200 }, (_, n) => ({ [field]: `A${n}` }))
    for (const body of [many, { [list]: many }]) assert.equal(read(body).length, 500)
  })

  test(`${field} of ${list}: other bodies name nothing`, () => {
    const entry = { [field]: 'A1' }
    const bodies = [undefined, null, 'x', 7, [], [[entry]], {}, { [list]: [[entry]] }]
    for (const body of [...bodies, { [list]: 'A1' }, { [list]: { 0: entry, length: 1 } }]) {
      assert.deepEqual(read(body), [])
    }
  })
}

/** A body that names nothing. */
const NONE = {
  endToEndIds: [],
  returned: [],
  txids: [],
  agreements: [],
  collections: [],
  disputes: [],
}

test('an object without a list is what its ids say', () => {
  assert.deepEqual(namedIn({ endToEndId: 'E1', txid: 'T1' }), { ...NONE, endToEndIds: ['E1'] })
  assert.deepEqual(namedIn({ idRec: 'R1', txid: 'T1' }), {
    ...NONE,
    agreements: ['R1'],
    collections: ['T1'],
  })
  for (const name of ['txid', 'txId', 'TXID']) {
    const [txids, collections] = [['T1'], ['T1']]
    assert.deepEqual(namedIn({ [name]: 'T1', endToEndId: null }), { ...NONE, txids, collections })
  }
})

test('a payment of a list names no collection, and a collection no payment', () => {
  const body = { pix: [{ endToEndId: 'E1', txid: 'T1' }], cobsr: [{ idRec: 'R1', txId: 'T2' }] }
  assert.deepEqual(namedIn(body), {
    ...NONE,
    endToEndIds: ['E1'],
    collections: ['T2'],
  })
})

test('no JSON that anybody could send makes the reading fail', () => {
  const ids = fc.constantFrom('endToEndId', 'idRec', 'txid', 'idInfracao')
  const entry = fc.dictionary(ids, fc.jsonValue())
  const list = fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), entry)))
  const lists = fc.constantFrom('pix', 'recs', 'cobsr', 'infracoes', '__proto__')
  const body = fc.dictionary(lists, list)
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
    ...NONE,
    endToEndIds: ['E1'],
    collections: ['T1', 'T2'],
  })
  assert.deepEqual(Object.keys(collectionsBody([collections[1]], [])), ['cobsr'])
})
