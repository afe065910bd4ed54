import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createVault } from '../../lib/vault.ts'
import {
  openShipping,
  type Shipping,
  STATES,
  sealShipping,
  shippingFaults,
  stateOfPostalCode,
} from './shipping.ts'

const shipping = (fields: Partial<Shipping> = {}): Shipping => ({
  postalCode: '01310100',
  address: 'Avenida Paulista',
  number: '1000',
  line1: 'Apto 12',
  district: 'Bela Vista',
  city: 'São Paulo',
  state: 'SP',
  ...fields,
})

test('a CEP is in the state that its capital is in', () => {
  const capitals: Record<string, string> = {
    AC: '69900001',
    AL: '57020000',
    AM: '69005000',
    AP: '68900000',
    BA: '40020000',
    CE: '60010000',
    DF: '70040000',
    ES: '29010000',
    GO: '74003000',
    MA: '65010000',
    MG: '30110000',
    MS: '79002000',
    MT: '78005000',
    PA: '66010000',
    PB: '58010000',
    PE: '50010000',
    PI: '64000000',
    PR: '80010000',
    RJ: '20010000',
    RN: '59010000',
    RO: '76801000',
    RR: '69301000',
    RS: '90010000',
    SC: '88010000',
    SE: '49010000',
    SP: '01001000',
    TO: '77001000',
  }
  assert.deepEqual(Object.keys(capitals).sort(), [...STATES].sort())
  for (const [state, cep] of Object.entries(capitals)) assert.equal(stateOfPostalCode(cep), state)
})

test('what is no CEP is in no state', () => {
  for (const text of ['', '00999999', '0131010', '013101000', '01310-100', 'abcdefgh']) {
    assert.equal(stateOfPostalCode(text), null, text)
  }
})

test('a whole address has no faults, with or without a complement', () => {
  assert.deepEqual(shippingFaults(shipping()), {})
  assert.deepEqual(shippingFaults(shipping({ line1: '' })), {})
})

test('every field that lacks, is too long or does not fit is named', () => {
  const empty = shipping({ postalCode: '', address: '', number: '', district: '', city: '' })
  assert.deepEqual(shippingFaults({ ...empty, state: '' }), {
    postalCode: 'missing',
    address: 'missing',
    number: 'missing',
    district: 'missing',
    city: 'missing',
    state: 'missing',
  })
  assert.deepEqual(shippingFaults(shipping({ number: '1'.repeat(21), line1: 'x'.repeat(256) })), {
    number: 'too-long',
    line1: 'too-long',
  })
  assert.deepEqual(shippingFaults(shipping({ state: 'RJ' })), { state: 'elsewhere' })
  assert.deepEqual(shippingFaults(shipping({ state: 'XX' })), { state: 'unknown' })
  assert.deepEqual(shippingFaults(shipping({ postalCode: '00000000' })), { postalCode: 'unknown' })
})

test('a sealed address opens for its own charge only, and hides what it holds', () => {
  const vault = createVault(Buffer.alloc(32, 1))
  const own = { companyId: 'a', id: 'b' }
  const sealed = sealShipping(vault, own, shipping({ line1: '' }))
  const { line1: _, ...kept } = shipping()
  assert.deepEqual(openShipping(vault, own, sealed), kept)
  assert.ok(!sealed.includes('Paulista'))
  assert.throws(() => openShipping(vault, { companyId: 'a', id: 'c' }, sealed))
})
