import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isTaxIdShape, isValidTaxId, kindOfTaxId, maskTaxId, punctuateTaxId } from './tax-id.ts'
import vectors from './vectors.test-data.json' with { type: 'json' }

test('published tax ids are valid and of their kind', () => {
  for (const cpf of vectors.validCpfs) {
    assert.equal(isValidTaxId(cpf), true, cpf)
    assert.equal(kindOfTaxId(cpf), 'cpf')
  }
  for (const cnpj of vectors.validCnpjs) {
    assert.equal(isValidTaxId(cnpj), true, cnpj)
    assert.equal(kindOfTaxId(cnpj), 'cnpj')
  }
})

test('published counterexamples are invalid', () => {
  for (const text of [...vectors.invalidCpfs, ...vectors.invalidCnpjs]) {
    assert.equal(isValidTaxId(text), false, text)
  }
})

test('one character repeated is never valid, though its check digits may be right', () => {
  for (const digit of '0123456789') {
    assert.equal(isValidTaxId(digit.repeat(11)), false)
    assert.equal(isValidTaxId(digit.repeat(14)), false)
  }
})

test('of the hundred possible endings exactly one is valid', () => {
  const body = fc.oneof(fc.stringMatching(/^[0-9]{9}$/), fc.stringMatching(/^[A-Z0-9]{12}$/))
  fc.assert(
    fc.property(body, (start) => {
      fc.pre(new Set(start).size > 1)
      const endings = Array.from({ length: 100 }, (_, end) => String(end).padStart(2, '0'))
      assert.equal(endings.filter((end) => isValidTaxId(start + end)).length, 1)
    }),
  )
})

test('a shape is 11 digits or a CNPJ of capitals and digits, without punctuation', () => {
  for (const text of ['12345678901', '12345678000199', '12ABC34501DE35', 'ABCDEFGHIJKL00']) {
    assert.equal(isTaxIdShape(text), true, text)
  }
  const others = ['', '1234567890', '123456789012', '529.982.247-25', '12abc34501de35']
  for (const text of [
    ...others,
    '12ABC34501DE3A',
    '1234567890A',
    '52998224725\n',
    '５２９９８２２４７２５',
  ]) {
    assert.equal(isTaxIdShape(text), false, text)
  }
})

test('punctuation is the official one, with letters too', () => {
  assert.equal(punctuateTaxId('52998224725'), '529.982.247-25')
  assert.equal(punctuateTaxId('11222333000181'), '11.222.333/0001-81')
  assert.equal(punctuateTaxId('12ABC34501DE35'), '12.ABC.345/01DE-35')
})

test('a text of another shape has no kind and no punctuation', () => {
  assert.throws(() => kindOfTaxId('123'), /assertion failed/)
  assert.throws(() => punctuateTaxId('529.982.247-25'), /assertion failed/)
})

test('a mask shows the last five of a CPF and the last six of a CNPJ', () => {
  assert.equal(maskTaxId('52998224725'), '***.***.247-25')
  assert.equal(maskTaxId('11222333000181'), '**.***.***/0001-81')
  assert.equal(maskTaxId('12ABC34501DE35'), '**.***.***/01DE-35')
})

test('a mask shows nothing of a text that is no tax id', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9./-]{0,20}$/))
  fc.assert(
    fc.property(anyText, (text) => {
      fc.pre(!isTaxIdShape(text))
      assert.equal(maskTaxId(text), '***')
    }),
  )
})
