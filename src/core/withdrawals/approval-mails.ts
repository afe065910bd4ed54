import type { Tx } from '../../db/database.ts'
import { suffixOf, toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskPixKey } from '../../pix/masks.ts'
import type { App } from '../app.ts'
import { toRealTime } from '../companies/clock.ts'
import type { Company } from '../companies/rules.ts'
import { asIs, type Fact, type LetterCompany, type LetterPerson } from '../mails/layout.ts'
import { compose, paragraph } from '../mails/letters.ts'
import { queueMails } from '../mails/store.ts'
import { listAllowed } from '../people/role-store.ts'
import type { Withdrawal } from './rules.ts'

/** So many people at most are asked for an approval. */
const MAX_ASKED = 20

const pt = {
  subject: (amount: string) => `Aprovar o saque de ${amount}?`,
  title: 'Um saque aguarda a sua aprovação',
  intro: (company: string) =>
    `Um saque de ${company} foi confirmado e precisa da aprovação de uma segunda pessoa antes de ser enviado.`,
  amount: 'Valor',
  destination: 'Chave Pix de destino',
  requestedBy: 'Solicitado por',
  apiKey: 'Chave de API',
  until: 'Expira em (horário de Brasília)',
  button: 'Ver o saque',
  unknown:
    'Você não reconhece este saque? Recuse o saque no painel e troque as chaves de API da empresa.',
}

type Texts = typeof pt

const en: Texts = {
  subject: (amount) => `Approve the withdrawal of ${amount}?`,
  title: 'A withdrawal waits for your approval',
  intro: (company) =>
    `A withdrawal of ${company} is confirmed and needs the approval of a second person before it is sent.`,
  amount: 'Amount',
  destination: 'Destination Pix key',
  requestedBy: 'Requested by',
  apiKey: 'API key',
  until: 'Expires at (Brasília time)',
  button: 'View the withdrawal',
  unknown:
    'You do not recognize this withdrawal? Refuse it in the dashboard and replace the company’s API keys.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** Asks everybody who can approve a withdrawal, except who has started it. */
export async function mailApprovers(
  tx: Tx,
  app: App,
  company: Company,
  withdrawal: Withdrawal,
): Promise<void> {
  const allowed = await listAllowed(tx, company.id, 'balance:write', MAX_ASKED)
  const requester = allowed.find(({ id }) => id === withdrawal.requestedBy)
  const asked = allowed.filter((person) => person !== requester)
  const times = {
    expiresAt: toRealTime(app, withdrawal.otpExpiresAt),
    createdAt: app.systemClock.now(),
  }
  const { id, value, destination, requestedBy, otpExpiresAt } = withdrawal
  const about = {
    value,
    destination,
    requestedBy: requestedBy === null ? null : requester?.name,
    expiresAt: otpExpiresAt,
    url: `${app.publicUrl}/dashboard/${suffixOf(company.id)}/balance/withdrawals/${toPublic('wd', id)}`,
  }
  const mails = asked.map((person) => ({
    companyId: company.id,
    kind: 'withdrawal-approval' as const,
    letter: composeApproval(company, person, about),
    ...times,
  }))
  await queueMails(tx, app.vault, mails)
}

type ApprovalLetter = {
  value: Cents
  destination: string
  /** Null: an API key; undefined: somebody who can no longer approve withdrawals. */
  requestedBy: string | null | undefined
  expiresAt: Date
  url: string
}

/** To somebody who can approve a withdrawal. */
export function composeApproval(
  company: LetterCompany,
  { email, language }: LetterPerson,
  { value, destination, requestedBy, expiresAt, url }: ApprovalLetter,
): Letter {
  const texts = TEXTS[language]
  const who = requestedBy === null ? texts.apiKey : requestedBy
  const facts: Fact[] = [
    [texts.amount, formatReais(value)],
    [texts.destination, asIs(maskPixKey(destination))],
    ...(who ? ([[texts.requestedBy, who]] as [string, string][]) : []),
    [texts.until, formatMoment(expiresAt)],
  ]
  return compose(
    { ...company, language },
    {
      to: email,
      subject: texts.subject(formatReais(value)),
      title: texts.title,
      blocks: [
        paragraph(texts.intro(company.name)),
        { kind: 'facts', facts },
        { kind: 'button', label: texts.button, url },
        paragraph(texts.unknown),
      ],
    },
  )
}
