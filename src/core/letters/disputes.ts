import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import type { ReturnReason } from '../../provider/port.ts'
import { compose, type LetterCompany, paragraph } from './layout.ts'

const pt = {
  amount: 'Valor',
  reason: 'Motivo',
  deadline: 'Prazo para responder (horário de Brasília)',
  payment: 'ID do pagamento',
  dispute: 'Disputa',
  charge: 'Cobrança',
  reasons: {
    FRAUD: 'Suspeita de fraude, informada pelo pagador',
    OPERATIONAL_FAILURE: 'Falha operacional de um dos bancos',
    SUBSCRIPTION_CLAIM: 'Contestação de uma cobrança do Pix Automático',
    OTHER: 'Não informado',
  } satisfies Record<ReturnReason, string>,
  opened: {
    subject: (amount: string) => `Um pagador contestou ${amount}: responda até o prazo`,
    title: 'Um pagamento foi contestado',
    intro:
      'O pagador pediu ao banco dele a devolução deste Pix pelo Mecanismo Especial de Devolução (MED). O valor fica reservado até a decisão.',
    next: 'O que fazer: se você entregou o que vendeu, envie a defesa com um texto e comprovantes (nota fiscal, comprovante de entrega, conversa com o cliente). Se o pagador tem razão, aceite, e o valor volta para ele. Sem resposta, o banco decide sem ouvir você.',
  },
  ending: {
    subject: (hours: number) => `Faltam ${hours} horas para responder à disputa`,
    title: 'O prazo da disputa está acabando',
    intro:
      'Você ainda não respondeu a esta contestação. Depois do prazo, o banco decide sem a sua defesa.',
  },
  won: {
    subject: (amount: string) => `Disputa de ${amount}: o dinheiro fica com você`,
    title: 'A disputa terminou a seu favor',
    intro: 'O banco não acatou a contestação. O valor reservado voltou ao seu saldo.',
  },
  lost: {
    subject: (amount: string) => `Disputa de ${amount}: o valor volta ao pagador`,
    title: 'A disputa terminou a favor do pagador',
    intro: 'O banco acatou a contestação. O valor reservado é devolvido ao pagador pelo banco.',
  },
  canceled: {
    subject: (amount: string) => `A disputa de ${amount} foi cancelada`,
    title: 'A disputa foi cancelada',
    intro: 'A contestação foi retirada. O valor reservado voltou ao seu saldo.',
  },
  below: (amount: string) =>
    `O saldo disponível ficou negativo: ${amount}. Enquanto estiver assim, saques ficam parados; os próximos recebimentos cobrem a diferença.`,
}

type Texts = typeof pt

const en: Texts = {
  amount: 'Amount',
  reason: 'Reason',
  deadline: 'Answer by (Brasília time)',
  payment: 'Payment ID',
  dispute: 'Dispute',
  charge: 'Charge',
  reasons: {
    FRAUD: 'Suspected fraud, reported by the payer',
    OPERATIONAL_FAILURE: 'An operational failure of one of the banks',
    SUBSCRIPTION_CLAIM: 'A claim about a charge of Pix Automático',
    OTHER: 'Not stated',
  },
  opened: {
    subject: (amount) => `A payer disputes ${amount}: answer before the deadline`,
    title: 'A payment is disputed',
    intro:
      'The payer asked their bank to get this Pix back by the special return mechanism (MED). The amount is held until it is decided.',
    next: 'What to do: if you delivered what you sold, send a defense with a text and proof (invoice, proof of delivery, messages with the customer). If the payer is right, accept, and the amount goes back. Without an answer the bank decides without hearing you.',
  },
  ending: {
    subject: (hours) => `${hours} hours left to answer the dispute`,
    title: 'The deadline of the dispute is near',
    intro:
      'You have not answered this claim yet. After the deadline the bank decides without your defense.',
  },
  won: {
    subject: (amount) => `Dispute of ${amount}: the money stays with you`,
    title: 'The dispute ended in your favor',
    intro: 'The bank rejected the claim. The held amount is back in your balance.',
  },
  lost: {
    subject: (amount) => `Dispute of ${amount}: the money goes back to the payer`,
    title: 'The dispute ended in the payer’s favor',
    intro: 'The bank accepted the claim. It returns the held amount to the payer.',
  },
  canceled: {
    subject: (amount) => `The dispute of ${amount} was canceled`,
    title: 'The dispute was canceled',
    intro: 'The claim was withdrawn. The held amount is back in your balance.',
  },
  below: (amount) =>
    `Your available balance is below zero: ${amount}. Until it is not, withdrawals stop; the next money that you receive makes up for it.`,
}

const TEXTS: Record<Language, Texts> = { pt, en }

export type DisputeLetter = {
  /** The public ids of the dispute and of its charge. */
  dispute: string
  charge: string | null
  amount: Cents
  reason: ReturnReason
  endToEndId: string
  deadline: Date | null
  /** The available balance now. */
  available: number
}

/** What is said of a dispute. */
export type DisputeNews =
  | { news: 'opened' | 'won' | 'lost' | 'canceled' }
  | { news: 'deadline'; hours: number }

export function composeDispute(
  company: LetterCompany,
  letter: DisputeLetter,
  said: DisputeNews,
): Letter {
  const texts = TEXTS[company.language]
  const amount = formatReais(letter.amount)
  const { title, intro } = texts[said.news === 'deadline' ? 'ending' : said.news]
  const subject =
    said.news === 'deadline' ? texts.ending.subject(said.hours) : texts[said.news].subject(amount)
  const isOpen = said.news === 'opened' || said.news === 'deadline'
  const below = letter.available < 0 ? [texts.below(formatReais(letter.available))] : []
  const after = [...(isOpen ? [texts.opened.next] : []), ...below]
  return compose(company, {
    to: company.email,
    subject,
    title,
    blocks: [
      paragraph(intro),
      { kind: 'facts', facts: factsOf(texts, letter, isOpen) },
      ...after.map(paragraph),
    ],
  })
}

function factsOf(texts: Texts, letter: DisputeLetter, isOpen: boolean): [string, string][] {
  const { charge, deadline } = letter
  return [
    [texts.amount, formatReais(letter.amount)],
    [texts.reason, texts.reasons[letter.reason]],
    ...(isOpen && deadline ? [[texts.deadline, formatMoment(deadline)] as [string, string]] : []),
    ...(charge === null ? [] : [[texts.charge, charge] as [string, string]]),
    [texts.payment, letter.endToEndId],
    [texts.dispute, letter.dispute],
  ]
}
