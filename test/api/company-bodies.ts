import type { BodyCase } from './bodies.ts'
import { NO_NUMBER } from './wrong-values.ts'

type Wrong = Record<'NAME' | 'EMAIL' | 'URL' | 'PHONE', unknown[]>

/** An empty text is as if it were not sent. */
const sent = (values: unknown[]) => values.filter((value) => value !== '')

const words = () => ({ subject: 'Oi, {nome}', text: 'Pague {valor} até {vencimento}' })
/** Made anew for each place, because a test changes one place. */
const rule = () => ({ enabled: true, channel: 'EMAIL', texts: { pt: words(), en: words() } })

/** What a rule of reminders has beside its day. */
const ruleFields = (rule: string): Record<string, unknown[]> => ({
  [`${rule}.enabled`]: [5, null, 'yes', {}],
  [`${rule}.channel`]: [5, null, 'SMS', {}],
  [`${rule}.texts`]: [5, null, 'text', []],
  ...Object.fromEntries(
    ['pt', 'en'].flatMap((language) => [
      [`${rule}.texts.${language}`, [5, null, 'text', []]],
      [`${rule}.texts.${language}.subject`, [5, null, {}, ' ', 'x'.repeat(151)]],
      [`${rule}.texts.${language}.text`, [5, null, {}, ' ', 'x'.repeat(2001)]],
    ]),
  ),
})

/** The body that changes a company; it takes what is wrong of fields that others have too. */
export const companyBodies = ({ NAME, EMAIL, URL, PHONE }: Wrong): BodyCase[] => [
  {
    operationId: 'changeCompany',
    method: 'PUT',
    parents: {},
    required: [],
    wrong: {
      name: sent(NAME),
      email: sent(EMAIL),
      city: sent(NAME),
      mailsReceipts: [5, null, 'yes'],
      strictTaxIds: [5, null, 'yes'],
      settlesExactPayments: [1, null, 'yes'],
      color: [5, true, null, {}, 'red', '#fff', '0f766e', '#0f766g', '#0f766e00'],
      imageUrl: sent(URL).filter((value) => value !== null),
      language: [5, true, null, {}, 'PT', 'pt-BR', 'fr'],
      contactEmail: sent(EMAIL).filter((value) => value !== null),
      contactPhone: sent(PHONE).filter((value) => value !== null),
      contactWhatsapp: sent(PHONE).filter((value) => value !== null),
      newCodes: [5, true, null, {}, 'ANY', 'links'],
    },
    prepare: async () => ({
      path: '/company',
      good: {
        name: 'Padaria Nova',
        email: 'nova@example.com',
        color: '#B45309',
        imageUrl: 'https://loja.example/nova.png',
        city: 'Recife',
        language: 'en',
        mailsReceipts: false,
        strictTaxIds: true,
        settlesExactPayments: true,
        contactEmail: 'loja@example.com',
        contactPhone: '1133334444',
        contactWhatsapp: '11988887777',
        newCodes: 'ALL',
      },
    }),
  },
  {
    operationId: 'changeReminders',
    method: 'PUT',
    parents: {
      rules: true,
      'rules[0]': true,
      'rules[0].texts': true,
      'rules[0].texts.pt': true,
      'rules[0].texts.en': true,
      failedCharges: true,
      'failedCharges.texts': true,
      'failedCharges.texts.pt': true,
      'failedCharges.texts.en': true,
    },
    required: [
      'rules[0].day',
      ...['rules[0]', 'failedCharges'].flatMap((rule) => [
        `${rule}.enabled`,
        `${rule}.channel`,
        ...['pt', 'en'].flatMap((language) => [
          `${rule}.texts.${language}.subject`,
          `${rule}.texts.${language}.text`,
        ]),
      ]),
    ],
    wrong: {
      rules: [5, null, 'text', {}],
      'rules[0]': [5, null, 'text', []],
      'rules[0].day': [...NO_NUMBER, -31, 31, 1.5],
      ...ruleFields('rules[0]'),
      failedCharges: [5, null, 'text', []],
      ...ruleFields('failedCharges'),
    },
    prepare: async () => ({
      path: '/reminder',
      good: { rules: [{ day: -3, ...rule() }], failedCharges: rule() },
    }),
  },
]
