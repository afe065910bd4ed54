import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { toCents } from '../../lib/money.ts'
import { breakDown } from '../charges/view.ts'
import type { Company } from '../companies/rules.ts'
import type { ShownProduct } from '../products/view.ts'
import {
  composeBankReturn,
  composeCertificateEnding,
  composeEmailChanged,
  composeEmailConfirmed,
  composeWebhookDeactivated,
  composeWebhookFailing,
  composeWithdrawalCode,
  composeWithdrawalCompleted,
  composeWithdrawalFailed,
  type ReturnLetter,
} from './companies.ts'
import { composeAccessChange, composeApproval, composeBankChange } from './members.ts'
import { composePaymentLink, composeReceipt } from './payers.ts'
import { composeFactorChange, composeInvitation, composeOperatorChange } from './people.ts'

const NOW = new Date('2026-08-20T15:00:00Z')

const company = (fields: Partial<Company> = {}): Company => ({
  id: '0198c8a0-0000-7000-8000-000000000001',
  name: 'Padaria São João',
  taxId: '11222333000181',
  email: 'dona@example.com',
  color: '#0f766e',
  imageUrl: null,
  pixKey: 'dona@example.com',
  city: 'Sao Paulo',
  mode: 'live',
  apiVersion: '2026-08-16',
  language: 'pt',
  releaseDelay_s: 0,
  clockAhead_ms: 0,
  staticSalesLimit: null,
  mailsReceipts: true,
  strictTaxIds: false,
  contactEmail: null,
  contactPhone: null,
  contactWhatsapp: null,
  newCodes: 'LINKS',
  settlesExactPayments: false,
  reminderDays: [],
  bankId: null,
  payouts: null,
  payoutKey: null,
  codeEmail: null,
  codeEmailUntil: null,
  destinationChangedAt: null,
  destinationChangedBy: null,
  suspendedAt: null,
  createdAt: NOW,
  updatedAt: NOW,
  ...fields,
})

const CODE = {
  code: '042195',
  value: toCents(123456),
  destination: '52998224725',
  lifetime_s: 600,
  expiresAt: new Date('2026-08-20T15:10:00Z'),
}
const END_TO_END_ID = 'E0000000020260820150000000000001'
const URL = 'http://vintem.test/pay/abc'
const HOOK = 'https://loja.example/hook?token=abc123'

const link = (fields = {}) => ({
  to: 'maria@example.com',
  payerName: 'Maria da Silva',
  amount: toCents(4990),
  url: URL,
  expiresAt: new Date('2026-08-27T15:00:00Z'),
  ...fields,
})

const returned = (fields: Partial<ReturnLetter> = {}): ReturnLetter => ({
  amount: toCents(4990),
  reason: 'FRAUD',
  returnedAt: NOW,
  endToEndId: END_TO_END_ID,
  returnId: `D${END_TO_END_ID.slice(1)}`,
  charge: 'charge_1',
  available: 100,
  ...fields,
})

type Bought = [name: string, quantity: number, price: number]

/** What a link of R$ 49,90 sells, as it is broken down. */
const bought = (...items: Bought[]) =>
  breakDown(
    toCents(4990),
    items.map(([name, quantity, price]) => ({
      quantity,
      product: { name, price } as ShownProduct,
    })),
  )

const receipt = (stranger = 'Maria da Silva', fields = {}) => ({
  to: 'maria@example.com',
  payerName: stranger,
  url: URL,
  amount: toCents(4990),
  isRefunded: false,
  devMode: false,
  lines: [
    { kind: 'amount' as const, label: 'Valor', values: ['R$ 49,90'] },
    { kind: 'payer' as const, label: 'Pagador', values: [stranger, '***.***.247-25'] },
  ],
  ...fields,
})

/** Each kind of letter; what strangers can choose in it is `stranger`. */
const lettersOf = (from: Company, stranger = 'Pão'): Letter[] => [
  composeWithdrawalCode(from, CODE),
  composeWithdrawalCompleted(from, {
    value: CODE.value,
    destination: CODE.destination,
    endToEndId: END_TO_END_ID,
    finishedAt: NOW,
  }),
  composeWithdrawalFailed(from, { value: CODE.value, reason: stranger }),
  composeBankReturn(from, returned({ endToEndId: stranger, returnId: stranger })),
  composePaymentLink(from, link({ payerName: stranger, breakdown: bought([stranger, 2, 2500]) })),
  composeReceipt(from, receipt(stranger)),
  composeWebhookFailing(from, {
    name: stranger,
    url: HOOK,
    failingSince: NOW,
    end: CODE.expiresAt,
  }),
  composeWebhookDeactivated(from, { name: stranger, url: HOOK, reason: 'GONE' }),
  composeCertificateEnding(from, { bank: stranger, endsAt: CODE.expiresAt }),
  composeEmailChanged({ ...from, name: stranger }, 'antes@example.com', NOW),
  composeEmailConfirmed({ ...from, name: stranger }),
]

/** The letters to members and people in which somebody else chooses something. */
function lettersToPeople(from: Company, stranger = 'Pão'): Letter[] {
  const { language } = from
  const reader = { email: 'ana@example.com', language }
  const person = { name: stranger, email: 'bia@example.com' }
  const keys = { pixKey: 'caio@example.com', payoutKey: CODE.destination }
  const key = { name: stranger, scopes: ['payments:write', 'balance:write'] }
  const { value, destination, expiresAt } = CODE
  const asked = { value, destination, requestedBy: stranger, until: expiresAt, url: URL }
  const invitation = { to: reader.email, language, by: stranger, url: URL, expiresAt }
  const author = { kind: 'command', name: stranger, address: stranger }
  const wrong = { what: 'wrong-code', person, tries: 3, at: NOW } as const
  return [
    composeBankChange(from, reader, { bank: stranger, keys, by: stranger, waitHours: 24 }, NOW),
    composeBankChange(from, reader, { bank: null, keys, by: null, waitHours: 0 }, NOW),
    composeAccessChange(from, reader, { what: 'owner-added', person, by: stranger }, NOW),
    composeAccessChange(from, reader, { what: 'key-created', key, by: stranger }, NOW),
    composeApproval(from, reader, { ...asked, isHeld: false }),
    composeApproval(from, reader, { ...asked, isHeld: true }),
    composeInvitation({ ...invitation, company: from, role: 'owner' }),
    composeInvitation({ ...invitation, company: null, role: null }),
    composeFactorChange(reader, 'passkey-added', { passkey: stranger }, NOW),
    composeFactorChange(reader, 'reset', { by: stranger }, NOW),
    composeOperatorChange(reader, { what: 'joined', person }, author, NOW),
    composeOperatorChange(reader, wrong, author, NOW),
  ]
}

const allLetters = (from: Company, stranger?: string): Letter[] => [
  ...lettersOf(from, stranger),
  ...lettersToPeople(from, stranger),
]

/** What a reader of the HTML part sees. */
const seen = (html: string) =>
  html
    .replace(/<head>.*<\/head>|<[^>]*>/gs, ' ')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ')

function assertSays(letter: Letter, ...parts: string[]): void {
  for (const part of parts) {
    assert.ok(letter.text.includes(part), `text lacks ${part}:\n${letter.text}`)
    assert.ok(seen(letter.html).includes(part), `HTML lacks ${part}`)
  }
}

const codesIn = (text: string) => text.match(/^\d{6}$/gm)

test('the code mail names amount, destination and end, and warns', () => {
  const letter = composeWithdrawalCode(company(), CODE)
  assert.equal(letter.to, 'dona@example.com')
  assert.equal(letter.subject, 'Código para confirmar o saque de R$ 1.234,56')
  assertSays(letter, 'R$ 1.234,56', '***.***.247-25', '10 minutos', '20/08/2026 12:10')
  assertSays(letter, '042195', 'Nunca compartilhe este código', 'Não foi você quem pediu?')
  const english = composeWithdrawalCode(company({ language: 'en' }), CODE)
  assert.equal(english.subject, 'Code to confirm the withdrawal of R$ 1.234,56')
  assertSays(english, 'R$ 1.234,56', '***.***.247-25', '10 minutes', '20/08/2026 12:10')
  assertSays(english, '042195', 'Never share this code', 'You did not ask for it?')
})

test('the code is alone on one line, and never in the subject', () => {
  for (const language of ['pt', 'en'] satisfies Language[]) {
    const { subject, text, html } = composeWithdrawalCode(company({ language }), CODE)
    assert.deepEqual(codesIn(text), ['042195'])
    assert.equal(html.match(/042195/g)?.length, 1)
    assert.doesNotMatch(subject, /042195/)
  }
})

test('the end of a withdrawal is mailed: when and under which id, or why not', () => {
  const [, completed, failed] = lettersOf(company(), 'chave encerrada')
  assert.equal(completed!.subject, 'Saque de R$ 1.234,56 concluído')
  assertSays(completed!, 'R$ 1.234,56', '***.***.247-25', '20/08/2026 12:00', END_TO_END_ID)
  assert.equal(failed!.subject, 'Saque de R$ 1.234,56 não concluído')
  assertSays(failed!, 'R$ 1.234,56', 'chave encerrada', 'voltou para o saldo disponível')
})

test('the mail of a return by the bank says how much, why and of which payment', () => {
  const letter = composeBankReturn(company(), returned())
  assert.equal(letter.subject, 'O banco devolveu R$ 49,90 de um pagamento recebido')
  assertSays(letter, 'Suspeita de fraude', '20/08/2026 12:00', 'charge_1', END_TO_END_ID)
  assert.doesNotMatch(letter.text, /negativo/)
  const below = composeBankReturn(company({ language: 'en' }), returned({ available: -2000 }))
  assertSays(below, 'reported fraud', 'is now negative: − R$ 20,00')
  const unmatched = composeBankReturn(company(), returned({ charge: null, reason: 'OTHER' }))
  assertSays(unmatched, 'diretamente no banco')
  assert.doesNotMatch(unmatched.text, /Cobrança/)
})

test('the payer gets the link with what it is for, how much and until when', () => {
  const breakdown = bought(['Pão de queijo', 2, 1500], ['Café & leite', 1, 1990])
  const letter = composePaymentLink(company(), link({ breakdown }))
  assert.deepEqual(
    [letter.to, letter.subject],
    ['maria@example.com', 'Padaria São João: cobrança de R$ 49,90'],
  )
  assertSays(letter, 'Maria da Silva', 'Padaria São João', 'R$ 49,90', '27/08/2026 12:00', URL)
  assert.match(letter.text, /^2 × Pão de queijo: R\$ 30,00\n1 × Café & leite: R\$ 19,90\nValor: /m)
  assert.ok(seen(letter.html).includes('2 × Pão de queijo R$ 30,00 1 × Café &amp; leite R$ 19,90'))
  assert.doesNotMatch(letter.text, /Desconto|Acréscimo/)
  assert.match(letter.text, new RegExp(`^${URL}$`, 'm'), 'on a line of its own')
  assert.match(letter.html, new RegExp(`<a href="${URL}"`))
})

test('the mail of a link shows what its total differs by, so that it adds up', () => {
  const less = composePaymentLink(company(), link({ breakdown: bought(['Pão', 2, 3000]) }))
  assert.match(less.text, /^2 × Pão: R\$ 60,00\nDesconto: − R\$ 10,10\nValor: R\$ 49,90$/m)
  assertSays(less, 'R$ 60,00', 'Desconto', '− R$ 10,10')
  const more = composePaymentLink(
    company({ language: 'en' }),
    link({ breakdown: bought(['Pão', 1, 3000]) }),
  )
  assert.match(more.text, /^1 × Pão: R\$ 30,00\nSurcharge: R\$ 19,90\nAmount: R\$ 49,90$/m)
})

test('a company gets a mail about which webhook fails, since when, and what will become of it', () => {
  const webhook = { name: 'Loja', url: HOOK, failingSince: NOW, end: CODE.expiresAt }
  const letter = composeWebhookFailing(company(), webhook)
  assert.equal(letter.to, 'dona@example.com')
  assert.equal(letter.subject, 'O webhook Loja está com falha')
  assertSays(letter, 'Loja', 'loja.example/hook', '20/08/2026 12:00', '20/08/2026 12:10')
  const english = composeWebhookFailing(company({ language: 'en' }), webhook)
  assert.equal(english.subject, 'The webhook Loja is failing')
  assertSays(english, 'loja.example/hook', '20/08/2026 12:10')
})

test('a company gets a mail about why its webhook is inactive, and how to get what it missed', () => {
  const explained = { GONE: '410', FAILING: 'nos últimos cinco dias' }
  for (const reason of ['GONE', 'FAILING'] as const) {
    const letter = composeWebhookDeactivated(company(), { name: 'Loja', url: HOOK, reason })
    assert.equal(letter.subject, 'O webhook Loja foi desativado')
    assertSays(letter, explained[reason], 'PUT /webhook/{id}', 'POST /webhook/{id}/replay')
    assert.doesNotMatch(letter.text + letter.html, /abc123/, 'a token in the address stays out')
  }
})

test('a company gets a mail about which certificate ends when, what then stops, and how to renew it', () => {
  const ending = { bank: 'Efí', endsAt: NOW }
  const letter = composeCertificateEnding(company(), ending)
  assert.equal(letter.to, 'dona@example.com')
  assert.equal(letter.subject, 'O certificado da conexão com Efí vence em 20/08/2026')
  assertSays(letter, 'Efí', '20/08/2026 12:00', 'nenhuma cobrança Pix', 'vintem bank connect')
  const english = composeCertificateEnding(company({ language: 'en' }), ending)
  assert.equal(english.subject, 'The certificate of the connection to Efí expires on 20/08/2026')
  assertSays(english, 'no Pix charge can be created', 'vintem bank connect')
})

test('the former address gets a mail about which address is new, since when, where codes go and what to do', () => {
  const changed = { codeEmail: 'antes@example.com', codeEmailUntil: CODE.expiresAt }
  const letter = composeEmailChanged(company(changed), 'antes@example.com', NOW)
  assert.equal(letter.to, 'antes@example.com')
  assert.equal(letter.subject, 'O e-mail de Padaria São João foi alterado')
  assertSays(letter, 'd***@example.com', '20/08/2026 12:00', 'até 20/08/2026 12:10')
  assertSays(letter, 'Não foi você?', 'PUT /company', 'chaves de API')
  const english = composeEmailChanged(company({ language: 'en' }), 'antes@example.com', NOW)
  assert.equal(english.subject, 'The email address of Padaria São João was changed')
  assertSays(english, 'go to the new address too', 'PUT /company')
})

test('the new address learns what it is for, and nothing of the former one', () => {
  const changed = { codeEmail: 'antes@example.com', codeEmailUntil: CODE.expiresAt }
  const letter = composeEmailConfirmed(company(changed))
  assert.equal(letter.to, 'dona@example.com')
  assertSays(letter, 'Padaria São João', 'até 20/08/2026 12:10', 'por engano')
  assert.doesNotMatch(letter.text + letter.html, /antes@/)
})

test('the payer’s mails come in the company’s name, the company’s own in that of the service', () => {
  const from = company({ name: 'Café "Açaí"', email: 'cafe@example.com' })
  const payersMails = [composePaymentLink(from, link()), composeReceipt(from, receipt())]
  for (const letter of payersMails) {
    assert.deepEqual(letter.sender, { name: 'Café "Açaí"', replyTo: 'cafe@example.com' })
    assertSays(letter, 'responda a este e-mail')
  }
  const others = lettersOf(from).filter(({ to }) => to !== 'maria@example.com')
  assert.equal(others.length + payersMails.length, lettersOf(from).length)
  for (const { sender } of others) assert.equal(sender, undefined)
})

test('a receipt says that money has been returned, and that play money is none', () => {
  assert.doesNotMatch(composeReceipt(company(), receipt()).text, /devolvid|teste/i)
  const returned = composeReceipt(company(), receipt('Maria', { isRefunded: true }))
  assertSays(returned, 'devolvido, no todo ou em parte')
  const trial = composeReceipt(company(), receipt('Maria', { devMode: true }))
  assertSays(trial, 'Comprovante de teste, sem valor', 'Ambiente de testes')
  assert.match(trial.subject, /^\[TESTE\] /)
})

test('a long list of items is cut, and still adds up', () => {
  const many = Array.from({ length: 1000 }, (_, i): Bought => [`Item ${i}`, 1, 5])
  const { text } = composePaymentLink(company(), link({ breakdown: bought(...many) }))
  assert.match(text, /Item 19: R\$ 0,05\ne mais 980 itens: R\$ 49,00\nDesconto: − R\$ 0,10\n/)
  assert.doesNotMatch(text, /Item 20/)
})

test('a letter of a sandbox or of a dev-mode link says that it is play money, others do not', () => {
  for (const letter of lettersOf(company({ mode: 'sandbox' }))) {
    assertSays(letter, 'Ambiente de testes: nenhum valor real é movimentado.')
  }
  for (const { text } of lettersOf(company())) assert.doesNotMatch(text, /testes/)
  assertSays(composePaymentLink(company(), link({ devMode: true })), 'Ambiente de testes')
})

test('nothing is loaded from anywhere, and the only address is that of the payment', () => {
  for (const language of ['pt', 'en'] satisfies Language[]) {
    for (const { html } of allLetters(company({ language }))) {
      assert.doesNotMatch(html, /<(img|link|script|iframe|style|object|form)|src=|url\(|@import/i)
      const addresses = [...html.matchAll(/(?:href="|\w+:\/\/)[^"<\s]*/g)].map(([text]) => text)
      assert.ok(
        addresses.every((text) => text.endsWith(URL.slice(4))),
        addresses.join(),
      )
    }
  }
})

/** What mail programs make links of, in texts that we have not written as a link. */
const LINKS = /\w:[/\\]|\w@\w|[\p{L}\d]\.\p{L}{2,}|:\/\//u

test('no name or text of strangers and companies becomes a link, in any letter', () => {
  const hostile = [
    'http://evil.example click here',
    'a@b.co',
    'www.evil.com.br',
    'evil\u200b.com',
    'javascript:alert(1)',
  ]
  for (const stranger of hostile) {
    const from = company({ name: `Banco ${stranger}`, language: 'en' })
    for (const { text, html, subject, sender } of allLetters(from, stranger)) {
      const own = (part: string) =>
        part.replaceAll(URL, '').replace(/[bcd]\*{3}@example\.com|loja\.example\/hook/g, '')
      assert.doesNotMatch(own(text), LINKS)
      assert.doesNotMatch(seen(own(html)), LINKS)
      assert.doesNotMatch(`${subject} ${sender?.name}`, LINKS)
    }
  }
})

test('a payer is greeted by a name that is cut, or by none if it is no name', () => {
  const greetingOf = (payerName: string) => [
    /^Olá.*!$/m.exec(composePaymentLink(company(), link({ payerName })).text)?.[0],
    /^Olá.*!$/m.exec(composeReceipt(company(), receipt(payerName)).text)?.[0],
  ]
  const both = (greeting: string) => [greeting, greeting]
  assert.deepEqual(greetingOf('Maria  da Silva'), both('Olá, Maria da Silva!'))
  assert.deepEqual(greetingOf('Maria '.repeat(40)), both(`Olá, ${'Maria '.repeat(10).trim()}…!`))
  for (const name of ['http://evil.example ganhe', 'a@b.co', 'evil.com', 'Ana\u202eanA', '123']) {
    assert.deepEqual(greetingOf(name), both('Olá!'), name)
  }
})

test('a subject stays short, whatever a company is called', () => {
  const from = company({ name: 'Loja muito grande '.repeat(20) })
  for (const { subject, sender } of allLetters(from, 'x'.repeat(255))) {
    assert.ok([...subject].length <= 150, subject)
    assert.ok([...(sender?.name ?? '')].length <= 60)
  }
})

test('what strangers write can neither mark up the page nor make a line', () => {
  const hostile = fc.oneof(
    fc.constantFrom('<script>alert(1)</script>', '"><img src=x onerror=y>', '\n123456\n', '&lt;'),
    fc.constantFrom('\u2028999999\u2028', "' onclick='x", '\u202egnp.exe', '\r\n\r\n654321\r\n'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
  )
  const tagsOf = (html: string) => html.match(/<\/?\w+|"/g)!.join('')
  fc.assert(
    fc.property(hostile, hostile, (name, stranger) => {
      const plain = allLetters(company())
      allLetters(company({ name }), stranger).forEach(({ text, html, ...head }, i) => {
        assert.equal(tagsOf(html), tagsOf(plain[i]!.html))
        assert.equal(text.split('\n').length, plain[i]!.text.split('\n').length)
        assert.deepEqual(codesIn(text), codesIn(plain[i]!.text))
        assert.doesNotMatch(`${head.subject}${head.sender?.name}`, /[\p{Cc}\u2028\u2029]/u)
        assert.doesNotMatch(text + html, /[\u2028\u2029\u202a-\u202e\u2066-\u2069\r\0]/)
      })
    }),
  )
})

test('the company’s color always leaves its name readable', () => {
  const luminanceOf = (color: string) => {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffff }), (value) => {
      const color = `#${value.toString(16).padStart(6, '0')}`
      const { html } = composeWithdrawalFailed(company({ color }), {
        value: CODE.value,
        reason: 'x',
      })
      const ink = /background-color:#\w{6};color:(#\w{6});font-size/.exec(html)![1]!
      const [low, high] = [luminanceOf(color), luminanceOf(ink)].sort((a, b) => a - b)
      assert.ok((high! + 0.05) / (low! + 0.05) >= 4.5, `${ink} on ${color}`)
    }),
  )
})
