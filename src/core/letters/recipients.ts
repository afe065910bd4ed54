import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskPixKey } from '../../pix/masks.ts'
import { asIs, compose, type Fact, type LetterCompany, paragraph } from './layout.ts'

const pt = {
  subject: (company: string) => `A chave Pix de um recebedor de ${company} foi alterada`,
  title: 'A chave Pix de um recebedor foi alterada',
  intro: (company: string) =>
    `Os repasses de ${company} a este recebedor passam a ser enviados a outra chave Pix.`,
  name: 'Recebedor',
  key: 'Nova chave Pix',
  at: 'Alterada em (horário de Brasília)',
  wait: 'Por segurança, novos repasses a esta chave só podem ser feitos depois de 24 horas.',
  notYou:
    'Não foi você? Troque já as chaves de API da empresa, pois alguém pode estar usando uma delas, e corrija a chave do recebedor antes do próximo repasse.',
}

const en: typeof pt = {
  subject: (company) => `The Pix key of a recipient of ${company} was changed`,
  title: 'The Pix key of a recipient was changed',
  intro: (company) => `Payouts of ${company} to this recipient now go to another Pix key.`,
  name: 'Recipient',
  key: 'New Pix key',
  at: 'Changed at (Brasília time)',
  wait: 'For security, payouts to this key are possible only after 24 hours.',
  notYou:
    'Wasn’t you? Replace the company’s API keys now, since someone may be using one of them, and correct the key of the recipient before its next payout.',
}

const TEXTS: Record<Language, typeof pt> = { pt, en }

/** Somebody has changed where the money of a recipient goes. */
export function composeKeyChanged(
  company: LetterCompany,
  { name, pixKey }: { name: string; pixKey: string },
  at: Date,
): Letter {
  const texts = TEXTS[company.language]
  const facts: Fact[] = [
    [texts.name, name],
    [texts.key, asIs(maskPixKey(pixKey))],
    [texts.at, formatMoment(at)],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(company.name),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'facts', facts },
      paragraph(texts.wait),
      paragraph(texts.notYou),
    ],
  })
}
