import type { BodyCase } from './bodies.ts'

type Wrong = Record<'NAME' | 'EMAIL' | 'URL', unknown[]>

/** An empty text is as if it were not sent. */
const sent = (values: unknown[]) => values.filter((value) => value !== '')

/** The body that changes a company; it takes what is wrong of fields that others have too. */
export const companyBodies = ({ NAME, EMAIL, URL }: Wrong): BodyCase[] => [
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
      },
    }),
  },
]
