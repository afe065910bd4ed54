import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import { toPfx, trust } from '../../../test/bank/certificates.ts'
import { certificateFor } from '../../../test/support/servers.ts'
import { readCertificate } from './certificate.ts'
import type { Certificate } from './connection.ts'

const ENDS_AT = new Date('2027-03-04T05:06:07.000Z')
const { ca, issue } = await trust()
const own = issue('Padaria Sao Joao', ENDS_AT)
const pem = { kind: 'pem', ...own, passphrase: null } as const
const sealedKey = createPrivateKey(own.key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'abc' })
  .toString()

/** As files of many banks still are; the passphrase is abc. */
const LEGACY_PFX = [
  'MIIDcgIBAzCCAzgGCSqGSIb3DQEHAaCCAykEggMlMIIDITCCAhcGCSqGSIb3DQEHBqCCAggwggIEAgEAMIIB/QYJ',
  'KoZIhvcNAQcBMBwGCiqGSIb3DQEMAQYwDgQIjEnorkiyPsgCAggAgIIB0BDB86XH4rbANVEYfdeaBvWV8BCprWYp',
  '3mQn1aRPXbdwVih0eC4D5XU0Od+lvom9hpIiSOkP8drPK0Tke830Ao3xlBqzxE05jLyc3erGaHkD4Xrn0RvMhIOD',
  'tYXZFUXwd6nmOyKw6o91mcoBfccIcSEvq+5fUQ3IYXj4r4vu38lZ3gOKFLZ//ZyEEORMZZImHNApgnfztiFu5pbL',
  'qC85U7FxRpytXjMILGH1mE87GkD6+DN2jPFOm2BfGRcvDjwObiLNzIqTySZlH7FWXNwg7BrN47AI/ojmMwlnqdWk',
  'PBA5trp7GPqoWXoFQK+Z316w8R9W6+rPl843xZKuftb0XdzKtCZGRP93/n8FY2CA1Xa3wpCwOO1LiWEPJ296P3qQ',
  'QE2A8mnn+xEas7Crijl4ZyBBMKbiRkR9QpePc3SCt+aFzj3U8025sLQj2IBsodOxcbJUVv0oc2Un3/bWuvZLeU1q',
  'ttdXr/HzI7iX/S++ECJA4YF3Gln536hnfnza1faZJc1KJKW34t7E430kIIXG+DqJHHbYTEFWODFzYUXEUMMuPAmj',
  'IYmVu80wcZdl4YEdobvSsHFrjfcLch0eGRa1dVoPOlPXSTHQK3pGy1UNmAiSMIIBAgYJKoZIhvcNAQcBoIH0BIHx',
  'MIHuMIHrBgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0BDAEDMA4ECEF5208tHA86AgIIAASBkJyvh5SFo1mO',
  'KXUbXX55vqjDZy/HNPQ/tz6l1qXgBLC/bcM6liRdHBiCLPpfbhFnZZV4JY+K7ec+wHDse3xixaWj5piQd/KkRFLb',
  'xOW+3vpx5BeTHVlSg/xw0nKNRQF4o891vsYHEOeKuBtvt+1KxUGmtWu1j0OFX6SKTnQXSN1gS6jzBsH1x4duF/wn',
  '++4rVjElMCMGCSqGSIb3DQEJFTEWBBQR2BB6Sgn1GuUunB5XKKuoi5VpNjAxMCEwCQYFKw4DAhoFAAQUZbq+RuDQ',
  'CWF6mAMkXtb/xEDadg0ECHKyhXSqV+PnAgIIAA==',
].join('')

test('the end and the subject are those of the own certificate, in any of the forms', () => {
  const chain = own.certificate + ca
  const forms: Certificate[] = [
    pem,
    { ...pem, certificate: chain },
    { ...pem, key: sealedKey, passphrase: 'abc' },
    { kind: 'pfx', pfx: toPfx(own, 'abc'), passphrase: 'abc' },
  ]
  for (const form of forms) {
    const { endsAt, subject } = readCertificate(form)
    assert.deepEqual(endsAt, ENDS_AT)
    assert.match(subject, /Padaria Sao Joao/)
  }
})

test('one that has ended is read all the same', () => {
  const ended = new Date('2020-01-02T03:04:05.000Z')
  const { endsAt } = readCertificate({ ...pem, ...issue('Padaria', ended) })
  assert.deepEqual(endsAt, ended)
})

const other = certificateFor('outra.example')
const pfx = (content: string, passphrase: string | null) =>
  ({ kind: 'pfx', pfx: content, passphrase }) as const
const base64 = (text: string) => Buffer.from(text).toString('base64')

const FAULTS: [name: string, certificate: Certificate, message: RegExp][] = [
  ['a wrong passphrase', pfx(toPfx(own, 'abc'), 'abd'), /passphrase of the PFX file is wrong/],
  ['no passphrase', pfx(toPfx(own, 'abc'), null), /needs its passphrase.*--passphrase-file/],
  ['an old PFX', pfx(LEGACY_PFX, 'abc'), /openssl pkcs12 -legacy .* openssl pkcs12 -export/],
  ['PEM as PFX', pfx(base64(own.certificate), 'abc'), /no PFX .*two files/],
  ['an empty PFX', pfx('', null), /no PFX/],
  ['the key of another', { ...pem, key: other.key }, /key does not belong to the certificate/],
  [
    'the authority first',
    { ...pem, certificate: ca + own.certificate },
    /must be the first in its file/,
  ],
  ['no certificate', { ...pem, certificate: own.key }, /no BEGIN CERTIFICATE line/],
  ['no key', { ...pem, key: own.certificate }, /no BEGIN PRIVATE KEY line/],
  [
    'a damaged certificate',
    { ...pem, certificate: own.certificate.replace(/\n[^\n-]+\n/, '\n') },
    /damaged/,
  ],
  ['a damaged key', { ...pem, key: own.key.replace(/\n[^\n-]+\n/, '\n') }, /key cannot be read/],
  ['a sealed key alone', { ...pem, key: sealedKey }, /key needs its passphrase/],
  ['a sealed key with another passphrase', { ...pem, key: sealedKey, passphrase: 'x' }, /is wrong/],
]

for (const [name, certificate, message] of FAULTS) {
  test(`${name}: it is said what is wrong, and nothing of the key`, () => {
    assert.throws(() => readCertificate(certificate), {
      name: 'Error',
      message: new RegExp(`^(?!.*[A-Za-z0-9+/]{40}).*${message.source}`),
    })
  })
}
