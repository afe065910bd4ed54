import type { Language } from '../../lib/language.ts'
import { en } from './texts-en.ts'
import { type OperatorTexts, pt, type Section } from './texts-pt.ts'

/** The menu of the operator. */
export const SECTIONS: { name: Section; path: string }[] = [
  { name: 'overview', path: '' },
  { name: 'companies', path: '/companies' },
  { name: 'banks', path: '/banks' },
  { name: 'work', path: '/work' },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'mails', path: '/mails' },
  { name: 'people', path: '/people' },
  { name: 'activity', path: '/activity' },
]

export const OPERATOR: Record<Language, OperatorTexts> = { pt, en }
