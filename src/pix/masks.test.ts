import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { maskEmail, maskPhone, maskPixKey } from './masks.ts'

test('an e-mail shows its first letter and its domain', () => {
  assert.equal(maskEmail('maria@example.com'), 'm***@example.com')
  assert.equal(maskEmail('m@example.com'), 'm***@example.com')
  assert.equal(maskEmail('joão.silva+loja@sub.exemplo.com.br'), 'j***@sub.exemplo.com.br')
})

test('what is no e-mail is hidden whole', () => {
  const texts = [
    '',
    'maria',
    '@example.com',
    'maria@',
    'a@b@c.com',
    'a b@c.com',
    'a@52998224725 Ana',
  ]
  for (const text of texts) assert.equal(maskEmail(text), '***', text)
})

test('a phone shows its last four digits', () => {
  assert.equal(maskPhone('11999998888'), '(**) *****-8888')
  assert.equal(maskPhone('1133338888'), '(**) ****-8888')
})

test('what is no phone is hidden whole', () => {
  for (const text of [
    '',
    '8888',
    '+5511999998888',
    '(11) 99999-8888',
    '119999988881',
    'abcdefghij',
  ]) {
    assert.equal(maskPhone(text), '***', text)
  }
})

test('a Pix key shows no more of a person than the mask of its kind, and a random one is whole', () => {
  const random = '0198c8a0-0000-4000-8000-000000000001'
  assert.deepEqual(
    ['52998224725', '11222333000181', 'maria@example.com', '+5511999998888', random].map(
      maskPixKey,
    ),
    ['***.***.247-25', '**.***.***/0001-81', 'm***@example.com', '(**) *****-8888', random],
  )
  for (const text of ['', 'Maria', '+1 555 0100', 'a@b@c', '5299822472']) {
    assert.equal(maskPixKey(text), '***', text)
  }
})

test('no text makes a mask throw or show more than one letter, a domain, or four digits', () => {
  const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.emailAddress())
  fc.assert(
    fc.property(anyText, (text) => {
      const email = maskEmail(text)
      const domain = text.slice(text.lastIndexOf('@') + 1)
      const first = [...text][0]
      assert.ok(email === '***' || email === `${first}***@${domain}`, email)
      assert.match(maskPhone(text), /^(\*\*\*|\(\*\*\) \*{4,5}-[0-9]{4})$/)
    }),
  )
})
