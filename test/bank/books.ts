import type { Clock } from '../../src/lib/clock.ts'
import type { LocalDate } from '../../src/pix/local-time.ts'
import type { CallbackKind } from './document.ts'
import type { Style } from './style.ts'

export type Charge = {
  txid: string
  amount: number
  key: string
  expires_s: number
  revision: number
  status: 'ATIVA' | 'CONCLUIDA' | 'REMOVIDA_PELO_USUARIO_RECEBEDOR' | 'REMOVIDA_PELO_PSP'
  createdAt: Date
  location: string
  locationId: number
  code: string
  /** The due date with what depends on it; null for a charge that is to be paid at once. */
  due: Due | null
  /** The payer and the text for the payer, where the receiver has sent them. */
  debtor: { cpf?: string; cnpj?: string; nome: string } | null
  message: string | null
}

/** The terms of a charge with a due date, as the receiver has written them. */
export type Due = {
  on: LocalDate
  daysAfter: number
  multa?: Rate
  juros?: Rate
  abatimento?: Rate
  desconto?: {
    modalidade: number
    valorPerc?: string
    descontoDataFixa?: { data: LocalDate; valorPerc: string }[]
  }
}
export type Rate = { modalidade: number; valorPerc: string }

/** What is to be paid on a day, in cents. */
export type Parts = {
  original: number
  multa: number
  juros: number
  abatimento: number
  desconto: number
}

export type Refund = {
  id: string
  endToEndId: string
  returnId: string
  amount: number
  /** The bank's word for why; without it the receiver has ordered it. */
  nature?: string
  askedAt: Date
  doneAt: Date | null
  message?: string | null
  status: 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO'
}

export type Pix = {
  endToEndId: string
  txid: string | null
  amount: number
  /** A Pix that an agreement brings has none. */
  key: string | null
  at: Date
  /** How the amount of a charge with a due date came about. */
  parts?: Parts | null
  /** What some banks add to the document, as they write it. */
  extras?: Record<string, unknown>
}

export type RecStatus = 'CRIADA' | 'APROVADA' | 'REJEITADA' | 'EXPIRADA' | 'CANCELADA'
export type Change = { status: string; data: Date }

export type Rec = {
  id: string
  contract: string
  object: string | null
  debtor: { cpf?: string; cnpj?: string; nome: string }
  startsOn: LocalDate
  frequency: 'SEMANAL' | 'MENSAL' | 'TRIMESTRAL' | 'SEMESTRAL' | 'ANUAL'
  amount: number | null
  retries: 'NAO_PERMITE' | 'PERMITE_3R_7D'
  locationId: number | null
  status: RecStatus
  changes: Change[]
  /** Who has ended it. */
  endedBy: 'USUARIO_PAGADOR' | 'USUARIO_RECEBEDOR' | null
  createdAt: Date
}

export type LocRec = { id: number; location: string; createdAt: Date; recId: string | null }

export type AttemptStatus =
  | 'SOLICITADA'
  | 'AGENDADA'
  | 'PAGA'
  | 'CANCELADA'
  | 'REJEITADA'
  | 'EXPIRADA'
export type Attempt = {
  on: LocalDate
  type: 'AGND' | 'NTAG'
  endToEndId: string
  status: AttemptStatus
  changes: Change[]
}

export type Cobr = {
  txid: string
  recId: string
  amount: number
  dueOn: LocalDate
  account: { conta: string; tipoConta: string; agencia?: string }
  adjusted: boolean
  status: 'CRIADA' | 'ATIVA' | 'CONCLUIDA' | 'EXPIRADA' | 'REJEITADA' | 'CANCELADA'
  endedBy: 'USUARIO_PAGADOR' | 'USUARIO_RECEBEDOR' | null
  attempts: Attempt[]
  changes: Change[]
  createdAt: Date
}

export type Send = {
  id: string
  endToEndId: string
  amount: number
  from: string
  to: string
  askedAt: Date
  /** One of EM_PROCESSAMENTO, REALIZADO and NAO_REALIZADO, or a state in the bank's own words. */
  status: string
}

export type Infraction = {
  id: string
  endToEndId: string
  amount: number
  /** In the words of Efí, or in others. */
  status: string
  openedAt: Date
  decidedAt: Date | null
  defense: string | null
}

export type Webhook = { url: string; at: Date; key: string | null }

/** How an order ends that a bank may leave open at first. */
export type Course = 'at once' | 'later' | 'refused'

export type Receiver = { cnpj: string; name: string; city: string }

/** All that the bank knows. */
export type Books = {
  clock: Clock
  style: Style
  receiver: Receiver
  account: { branch: string | null; number: string; type: 'CORRENTE' | 'POUPANCA' | 'PAGAMENTO' }
  charges: Map<string, Charge>
  pix: Map<string, Pix>
  refunds: Refund[]
  locations: Map<number, LocRec>
  recs: Map<string, Rec>
  cobrs: Map<string, Cobr>
  sends: Map<string, Send>
  infractions: Map<string, Infraction>
  webhooks: { pix: Map<string, Webhook>; rec: Webhook | null; cobr: Webhook | null }
  refunding: Course
  sending: Course
  /** Keys of somebody else. */
  foreignKeys: Set<string>
  /** Sends a callback to the receiver, if it has registered for it. */
  notify(kind: CallbackKind, key: string | null, body: unknown): void
  nextId(): number
}

export const refundsOf = ({ refunds }: Books, endToEndId: string): Refund[] =>
  refunds.filter((one) => one.endToEndId === endToEndId)

export const shownChanges = (changes: Change[]) =>
  changes.map(({ status, data }) => ({ status, data: data.toISOString() }))
