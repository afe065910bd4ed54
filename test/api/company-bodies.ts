import type { BodyCase } from './bodies.ts'

type Wrong = Record<'NAME' | 'EMAIL' | 'URL', unknown[]>

/** The body that changes a company; it takes what is wrong of fields that others have too. */
export const companyBodies = ({ NAME, EMAIL, URL }: Wrong): BodyCase[] => [
  {
    operationId: 'changeCompany',
    method: 'PUT',
    parents: {},
    required: [],
    wrong: {
      ...{ name: NAME, email: EMAIL, city: NAME },
      color: [5, true, null, {}, '', 'red', '#fff', '0f766e', '#0f766g', '#0f766e00'],
      imageUrl: URL.filter((value) => value !== null),
      language: [5, true, null, {}, '', 'PT', 'pt-BR', 'fr'],
    },
    prepare: async () => ({
      path: '/company',
      good: {
        ...{ name: 'Padaria Nova', email: 'nova@example.com', color: '#B45309' },
        ...{ imageUrl: 'https://loja.example/nova.png', city: 'Recife', language: 'en' },
      },
    }),
  },
]
