import type { Language } from '../../lib/language.ts'
import type { UnmatchedReason } from '../charges/rules.ts'
import type { DisputeState } from '../disputes/rules.ts'

type Arrived = { amount: string; at: string; asked: string }

const ARRIVED_PT: Record<UnmatchedReason, (pix: Arrived) => string> = {
  LATE: ({ amount, at }) => `Recebemos um Pix de ${amount} em ${at}, depois do prazo.`,
  CANCELED: ({ amount, at }) => `Recebemos um Pix de ${amount} em ${at}, depois do cancelamento.`,
  DUPLICATE: ({ amount, at }) =>
    `Recebemos mais um Pix de ${amount} em ${at}, mas a cobrança já estava paga.`,
  WRONG_AMOUNT: ({ amount, at, asked }) =>
    `Recebemos um Pix de ${amount} em ${at}, mas o valor da cobrança era ${asked}.`,
  UNKNOWN: ({ amount, at }) => `Recebemos um Pix de ${amount} em ${at}, sem o código da cobrança.`,
}

const ARRIVED_EN: typeof ARRIVED_PT = {
  LATE: ({ amount, at }) => `We received a Pix of ${amount} on ${at}, after the deadline.`,
  CANCELED: ({ amount, at }) =>
    `We received a Pix of ${amount} on ${at}, after the charge was canceled.`,
  DUPLICATE: ({ amount, at }) =>
    `We received another Pix of ${amount} on ${at}, but the charge was already paid.`,
  WRONG_AMOUNT: ({ amount, at, asked }) =>
    `We received a Pix of ${amount} on ${at}, but the amount of the charge was ${asked}.`,
  UNKNOWN: ({ amount, at }) =>
    `We received a Pix of ${amount} on ${at}, without the code of the charge.`,
}

const DISPUTES_PT: Record<DisputeState, (amount: string, day: string) => string> = {
  OPEN: (amount, day) =>
    `Há uma contestação de ${amount}, aberta no seu banco em ${day}. O valor fica bloqueado até a decisão dos bancos: acompanhe no aplicativo do seu banco.`,
  DEFENDED: (amount, day) => DISPUTES_PT.OPEN(amount, day),
  ACCEPTED: (amount) => `Aceitamos a contestação de ${amount}: o valor volta para a sua conta.`,
  LOST: (amount) =>
    `A contestação de ${amount} foi decidida a seu favor: o valor volta para a sua conta.`,
  WON: (amount) =>
    `A contestação de ${amount} foi encerrada pelos bancos, e o pagamento continua valendo.`,
  CANCELED: (amount) => `A contestação de ${amount} foi cancelada, e o pagamento continua valendo.`,
}

const DISPUTES_EN: typeof DISPUTES_PT = {
  OPEN: (amount, day) =>
    `There is a dispute of ${amount}, opened at your bank on ${day}. The amount is blocked until the banks decide: follow it in the app of your bank.`,
  DEFENDED: (amount, day) => DISPUTES_EN.OPEN(amount, day),
  ACCEPTED: (amount) =>
    `We have accepted the dispute of ${amount}: the amount goes back to your account.`,
  LOST: (amount) =>
    `The dispute of ${amount} was decided in your favor: the amount goes back to your account.`,
  WON: (amount) => `The banks have closed the dispute of ${amount}, and the payment remains valid.`,
  CANCELED: (amount) => `The dispute of ${amount} was canceled, and the payment remains valid.`,
}

const pt = {
  hello: (name: string | null) => (name === null ? 'Olá!' : `Olá, ${name}!`),
  about: (amount: string, company: string) => `Sobre a cobrança de ${amount} de ${company}:`,
  sale: (amount: string, company: string) => `Sobre o Pix de ${amount} para ${company}:`,
  for: (description: string) => `Referente a: ${description}`,
  open: {
    until: (until: string) => `Ela ainda não foi paga. Você pode pagar com Pix até ${until}:`,
    due: (day: string, until: string) =>
      `Ela vence em ${day} e ainda não foi paga. Você pode pagar com Pix até ${until}:`,
    overdue: (day: string, amount: string, until: string) =>
      `Ela venceu em ${day} e ainda não foi paga. O valor hoje é ${amount}. Você pode pagar com Pix até ${until}:`,
    checking: 'Ela continua em aberto.',
  },
  debit: {
    planned: (day: string) =>
      `O débito automático está previsto para ${day}. Deixe saldo na conta: você não precisa fazer mais nada.`,
    retry: (due: string, day: string) =>
      `O débito de ${due} não foi concluído, em geral por falta de saldo. Seu banco tenta novamente em ${day}: deixe saldo na conta até lá. Você não precisa fazer mais nada.`,
    waiting: (due: string) =>
      `O débito de ${due} ainda não foi confirmado. Aguardamos a resposta do seu banco.`,
    failed:
      'Seu banco não conseguiu fazer o débito, e não há nova tentativa. Fale com a gente para combinar o pagamento.',
    made: (amount: string, at: string) => `O débito automático de ${amount} foi feito em ${at}.`,
  },
  paid: (amount: string, at: string) => `Recebemos seu Pix de ${amount} em ${at}.`,
  settled: {
    LATE: 'Ele chegou depois do prazo, mas foi aceito.',
    other: 'Ele foi aceito para pagar esta cobrança.',
  },
  short: (amount: string) => `Faltaram ${amount}, que não são mais cobrados aqui.`,
  done: 'A cobrança está paga: você não precisa fazer nada.',
  endToEnd: (id: string) => `ID da transação (E2E): ${id}`,
  receipt: (link: string) => `Comprovante: ${link}`,
  expired: (at: string) => `O prazo para pagar terminou em ${at}. O código não vale mais.`,
  askAgain: 'Se ainda quiser pagar, peça um novo link.',
  renewed: {
    OPEN: (link: string) => `Já existe um novo código. Pague por aqui:\n${link}`,
    COMPLETED: (link: string) =>
      `O novo código já foi pago: você não precisa fazer nada.\nComprovante: ${link}`,
  },
  canceled: 'Ela foi cancelada. O código não vale mais, e você não precisa pagar nada.',
  arrived: ARRIVED_PT,
  rest: (amount: string) => `Sobraram ${amount} do seu Pix.`,
  waiting: 'Estamos conferindo esse valor e avisamos você. Não pague de novo enquanto isso.',
  disputed: 'Esse valor está em contestação no seu banco.',
  kept: (company: string) => `Esse valor foi aceito por ${company}.`,
  keptOpen: 'Fale com a gente antes de pagar de novo.',
  returning: 'Esse valor está sendo devolvido para a conta de onde saiu o Pix.',
  refund: {
    PROCESSING: (amount: string) =>
      `A devolução de ${amount} está em andamento. O dinheiro volta para a conta de onde saiu o Pix, em geral em poucos minutos.`,
    COMPLETED: (amount: string, at: string) =>
      `Devolvemos ${amount} em ${at} para a conta de onde saiu o Pix.`,
    byBank: (amount: string, at: string) =>
      `O banco devolveu ${amount} em ${at} para a conta de onde saiu o Pix.`,
    FAILED: (amount: string) =>
      `A devolução de ${amount} não foi concluída pelo banco. Fale com a gente para combinar.`,
  },
  returnId: (id: string) =>
    `Se não aparecer no extrato, informe ao seu banco o ID da devolução: ${id}`,
  disputes: DISPUTES_PT,
}

export type ExplainTexts = typeof pt

const en: ExplainTexts = {
  hello: (name) => (name === null ? 'Hello!' : `Hello, ${name}!`),
  about: (amount, company) => `About the charge of ${amount} from ${company}:`,
  sale: (amount, company) => `About the Pix of ${amount} to ${company}:`,
  for: (description) => `For: ${description}`,
  open: {
    until: (until) => `It has not been paid yet. You can pay with Pix until ${until}:`,
    due: (day, until) =>
      `It is due on ${day} and has not been paid yet. You can pay with Pix until ${until}:`,
    overdue: (day, amount, until) =>
      `It was due on ${day} and has not been paid yet. The amount today is ${amount}. You can pay with Pix until ${until}:`,
    checking: 'It is still open.',
  },
  debit: {
    planned: (day) =>
      `The automatic debit is planned for ${day}. Keep enough money in the account: there is nothing else to do.`,
    retry: (due, day) =>
      `The debit of ${due} was not completed, mostly for lack of funds. Your bank tries again on ${day}: keep enough money in the account until then. There is nothing else to do.`,
    waiting: (due) =>
      `The debit of ${due} is not confirmed yet. We are waiting for the answer of your bank.`,
    failed:
      'Your bank could not make the debit and does not try again. Contact us to arrange the payment.',
    made: (amount, at) => `The automatic debit of ${amount} was made on ${at}.`,
  },
  paid: (amount, at) => `We received your Pix of ${amount} on ${at}.`,
  settled: {
    LATE: 'It arrived after the deadline, but was accepted.',
    other: 'It was accepted as the payment of this charge.',
  },
  short: (amount) => `${amount} were missing and are no longer charged here.`,
  done: 'The charge is paid: there is nothing to do.',
  endToEnd: (id) => `Transaction ID (E2E): ${id}`,
  receipt: (link) => `Receipt: ${link}`,
  expired: (at) => `The time to pay ended on ${at}. The code is no longer valid.`,
  askAgain: 'If you still want to pay, ask for a new link.',
  renewed: {
    OPEN: (link) => `There is a new code already. Pay here:\n${link}`,
    COMPLETED: (link) =>
      `The new code has been paid already: there is nothing to do.\nReceipt: ${link}`,
  },
  canceled: 'It was canceled. The code is no longer valid, and you do not have to pay anything.',
  arrived: ARRIVED_EN,
  rest: (amount) => `${amount} of your Pix were left.`,
  waiting: 'We are checking this amount and will let you know. Do not pay again meanwhile.',
  disputed: 'This amount is disputed at your bank.',
  kept: (company) => `This amount was accepted by ${company}.`,
  keptOpen: 'Contact us before you pay again.',
  returning: 'This amount is being returned to the account that sent the Pix.',
  refund: {
    PROCESSING: (amount) =>
      `The refund of ${amount} is in progress. The money goes back to the account that sent the Pix, mostly within minutes.`,
    COMPLETED: (amount, at) => `We returned ${amount} on ${at} to the account that sent the Pix.`,
    byBank: (amount, at) =>
      `The bank returned ${amount} on ${at} to the account that sent the Pix.`,
    FAILED: (amount) =>
      `The refund of ${amount} was not completed by the bank. Contact us to arrange it.`,
  },
  returnId: (id) => `If you do not see it, tell your bank the ID of the return: ${id}`,
  disputes: DISPUTES_EN,
}

export const EXPLAIN: Record<Language, ExplainTexts> = { pt, en }
