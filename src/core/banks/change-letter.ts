import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskPixKey } from '../../pix/masks.ts'
import { asIs, type Fact, type LetterCompany, type Reader } from '../mails/layout.ts'
import { compose, paragraph } from '../mails/letters.ts'

const pt = {
  subject: (company: string) => `A conexão de ${company} com o banco foi alterada`,
  title: 'A conexão com o banco foi alterada',
  connected: (company: string) =>
    `Um banco foi conectado a ${company} pelo painel. Os pagamentos passam a cair nesta conta.`,
  disconnected: (company: string) =>
    `O banco de ${company} foi desconectado pelo painel. A empresa deixa de receber por Pix.`,
  bank: 'Banco',
  pixKey: 'Chave Pix que recebe',
  payoutKey: 'Chave Pix dos saques',
  by: 'Alterado por',
  at: 'Alterado em (horário de Brasília)',
  notYou:
    'Não reconhece esta alteração? Confira as pessoas com acesso ao painel e fale já com quem opera este serviço.',
}

type Texts = typeof pt

const en: Texts = {
  subject: (company) => `The bank connection of ${company} was changed`,
  title: 'The bank connection was changed',
  connected: (company) =>
    `A bank was connected to ${company} in the dashboard. Payments now arrive at this account.`,
  disconnected: (company) =>
    `The bank of ${company} was disconnected in the dashboard. The company can no longer be paid by Pix.`,
  bank: 'Bank',
  pixKey: 'Pix key that receives',
  payoutKey: 'Pix key of withdrawals',
  by: 'Changed by',
  at: 'Changed at (Brasília time)',
  notYou:
    'You do not know of this change? Check who has access to the dashboard, and contact whoever operates this service now.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

export type BankChange = {
  bank: string
  /** Where money goes from now on; null if the bank was disconnected. */
  keys: { pixKey: string; payoutKey: string | null } | null
  /** Who has changed it. */
  by: string
}

/** That the company's money goes elsewhere, because somebody else may have done it. */
export function composeBankChange(
  company: LetterCompany,
  { to, language }: Reader,
  { bank, keys, by }: BankChange,
  now: Date,
): Letter {
  const texts = TEXTS[language]
  const facts: Fact[] = [[texts.bank, bank]]
  if (keys) facts.push([texts.pixKey, asIs(maskPixKey(keys.pixKey))])
  if (keys?.payoutKey) facts.push([texts.payoutKey, asIs(maskPixKey(keys.payoutKey))])
  facts.push([texts.by, by], [texts.at, formatMoment(now)])
  const intro = keys ? texts.connected : texts.disconnected
  return compose(
    { ...company, language },
    {
      to,
      subject: texts.subject(company.name),
      title: texts.title,
      blocks: [paragraph(intro(company.name)), { kind: 'facts', facts }, paragraph(texts.notYou)],
    },
  )
}
