import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Author,
  CODE_EMAIL_S,
  change,
  codeEmailOf,
  formerEmails,
  OPERATOR_FIELDS,
  OWN_FIELDS,
} from './changes.ts'
import type { Company } from './rules.ts'

const START = new Date('2026-08-20T15:00:00Z')

const COMPANY: Company = {
  id: '0198c8a0-0000-7000-8000-000000000001',
  name: 'Padaria',
  taxId: '11222333000181',
  email: 'a@example.com',
  color: '#0f766e',
  imageUrl: null,
  pixKey: 'a@example.com',
  city: 'Sao Paulo',
  mode: 'live',
  apiVersion: '2026-08-16',
  language: 'pt',
  releaseDelay_s: 0,
  staticSalesLimit: null,
  clockAhead_ms: 0,
  bankId: null,
  payouts: null,
  payoutKey: null,
  codeEmail: null,
  codeEmailUntil: null,
  destinationChangedAt: null,
  destinationChangedBy: null,
  suspendedAt: null,
  mailsReceipts: true,
  strictTaxIds: false,
  contactEmail: null,
  contactPhone: null,
  contactWhatsapp: null,
  newCodes: 'LINKS',
  settlesExactPayments: false,
  reminderDays: [],
  createdAt: START,
  updatedAt: START,
}

const email = fc.constantFrom('a@example.com', 'b@example.com', 'c@example.com')
const step = fc.record({ email, wait_s: fc.integer({ min: 0, max: CODE_EMAIL_S * 1.5 }) })

/** Changes the address again and again, and gives the company before and after each change. */
function* changing(steps: { email: string; wait_s: number }[]) {
  let [company, now_ms] = [COMPANY, START.getTime()]
  for (const { email, wait_s } of steps) {
    now_ms += wait_s * 1000
    const now = new Date(now_ms)
    const before = company
    company = change(before, { email }, 'company', now)
    yield { before, after: company, now }
  }
}

test('whatever a key changes, no address gets codes that was not the company’s for a whole day', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const known = new Map([['a@example.com', Number.NEGATIVE_INFINITY]])
      let present = 'a@example.com'
      for (const { before, after, now } of changing(steps)) {
        const target = codeEmailOf(before, now)
        const since_ms = known.get(target) ?? Number.POSITIVE_INFINITY
        assert.ok(now.getTime() - since_ms >= CODE_EMAIL_S * 1000, `${target} is too new`)
        assert.equal(codeEmailOf(after, now), target, 'a change moves no code at once')
        if (after.email !== present) {
          // Whoever gets codes already has earned them; any other address starts anew.
          if (after.email !== target) known.set(after.email, now.getTime())
          present = after.email
        }
      }
    }),
  )
})

test('a change of address is mailed to every address in use, and a day later codes have followed it', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      for (const { before, after, now } of changing(steps)) {
        const informed = formerEmails(before, after, now)
        const expected =
          before.email === after.email ? [] : [before.email, codeEmailOf(before, now)]
        assert.deepEqual(new Set(informed), new Set(expected.filter((one) => one !== after.email)))
        const later = new Date(now.getTime() + CODE_EMAIL_S * 1000)
        assert.equal(codeEmailOf(after, later), after.email)
      }
    }),
  )
})

test('only the fields sent change, and a key changes none that is the operator’s', () => {
  const other: Pick<Company, (typeof OWN_FIELDS)[number] | (typeof OPERATOR_FIELDS)[number]> = {
    name: 'Outra',
    email: 'b@example.com',
    color: '#b45309',
    city: 'Recife',
    imageUrl: 'https://x.example/1.png',
    language: 'en',
    mailsReceipts: false,
    strictTaxIds: true,
    contactEmail: 'oi@example.com',
    contactPhone: '1133334444',
    contactWhatsapp: '11987654321',
    newCodes: 'ALL',
    settlesExactPayments: true,
    pixKey: 'b@example.com',
    taxId: '52998224725',
  }
  const names = [...OWN_FIELDS, ...OPERATOR_FIELDS]
  fc.assert(
    fc.property(fc.subarray(names), fc.constantFrom<Author>('company', 'operator'), (sent, by) => {
      const fields = Object.fromEntries(sent.map((name) => [name, other[name]]))
      const after = change(COMPANY, fields, by, START)
      for (const name of names) {
        const may = by === 'operator' || (OWN_FIELDS as readonly string[]).includes(name)
        const from = may && sent.includes(name) ? other : COMPANY
        assert.equal(after[name], from[name], name)
      }
    }),
  )
})
