import type { Needs } from '../../core/people/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { IconName } from '../layout.ts'

/** The parts of the menu, from top to bottom. */
export type Part = 'first' | 'sell' | 'money' | 'company'

type Plan = {
  name: string
  /** After the path of the company. */
  path: string
  /** What a person needs so that it is in their menu. */
  needs: Needs
  part: Part
  icon: IconName
  /** A name for the bar of a phone. */
  short?: Record<Language, string>
} & Record<Language, string>

/** The menu, one line for each section. */
// biome-ignore format: one line each is read as the table that it is
export const SECTIONS = [
  { name: 'today', path: '', needs: 'payments:read', part: 'first', icon: 'home', pt: 'Hoje', en: 'Today' },
  { name: 'charges', path: '/charges', needs: 'payments:read', part: 'sell', icon: 'list', pt: 'Cobranças', en: 'Charges' },
  { name: 'new', path: '/new', needs: 'payments:write', part: 'sell', icon: 'plus', pt: 'Cobrar', en: 'New charge' },
  { name: 'links', path: '/links', needs: 'payments:read', part: 'sell', icon: 'link', pt: 'Links', en: 'Links' },
  { name: 'subscriptions', path: '/subscriptions', needs: 'payments:read', part: 'sell', icon: 'repeat', pt: 'Assinaturas', en: 'Subscriptions' },
  { name: 'customers', path: '/customers', needs: 'payments:read', part: 'sell', icon: 'people', pt: 'Clientes', en: 'Customers' },
  { name: 'products', path: '/products', needs: 'catalog:read', part: 'sell', icon: 'tag', pt: 'Produtos', en: 'Products' },
  { name: 'balance', path: '/balance', needs: 'balance:read', part: 'money', icon: 'wallet', pt: 'Extrato e saldo', en: 'Balance', short: { pt: 'Extrato', en: 'Balance' } },
  { name: 'reports', path: '/reports', needs: 'balance:read', part: 'money', icon: 'chart', pt: 'Relatórios', en: 'Reports' },
  { name: 'unmatched', path: '/unmatched', needs: 'payments:read', part: 'money', icon: 'unknown', pt: 'Pix sem cobrança', en: 'Unmatched' },
  { name: 'disputes', path: '/disputes', needs: 'payments:read', part: 'money', icon: 'flag', pt: 'Disputas', en: 'Disputes' },
  { name: 'developers', path: '/developers', needs: 'webhooks:read', part: 'company', icon: 'code', pt: 'Desenvolvedores', en: 'Developers' },
  { name: 'settings', path: '/settings', needs: 'company:read', part: 'company', icon: 'sliders', pt: 'Configurações', en: 'Settings' },
] as const satisfies Plan[]

export type Section = (typeof SECTIONS)[number]['name']

/** The sections that the bar of a phone shows: the first four that a person may see. */
export const ON_THE_BAR: Section[] = [
  'today',
  'charges',
  'new',
  'balance',
  'customers',
  'unmatched',
  'developers',
]

/** The names of the sections in one language. */
export const namesIn = (language: Language): Record<Section, string> =>
  Object.fromEntries(SECTIONS.map((section) => [section.name, section[language]])) as Record<
    Section,
    string
  >
