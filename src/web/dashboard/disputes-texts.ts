import type { DisputeState } from '../../core/disputes/rules.ts'
import type { Language } from '../../lib/language.ts'
import type { ReturnReason } from '../../provider/port.ts'

const pt = {
  title: 'Disputas',
  open: 'Ver a disputa',
  intro:
    'Pagamentos que alguém contestou pelo Mecanismo Especial de Devolução (MED) do Pix. O valor fica reservado até o banco decidir.',
  states: {
    OPEN: 'Aguardando resposta',
    DEFENDED: 'Em análise no banco',
    ACCEPTED: 'Aceita',
    WON: 'Ganha',
    LOST: 'Perdida',
    CANCELED: 'Cancelada',
  } satisfies Record<DisputeState, string>,
  all: 'Todas',
  filter: 'Situação das disputas',
  empty: 'Nenhuma disputa por aqui.',
  columns: { amount: 'Valor', status: 'Situação', deadline: 'Prazo', openedAt: 'Aberta em' },
  disputeOf: (amount: string) => `Disputa de ${amount}`,
  what: 'O que aconteceu',
  reasons: {
    FRAUD: 'Quem pagou disse ao banco que sofreu uma fraude e pediu o dinheiro de volta.',
    OPERATIONAL_FAILURE: 'Um dos bancos informou uma falha operacional neste pagamento.',
    SUBSCRIPTION_CLAIM: 'Quem pagou contestou uma cobrança do Pix Automático.',
    OTHER: 'Quem pagou pediu o dinheiro de volta. O banco não informou o motivo.',
  } satisfies Record<ReturnReason, string>,
  next: {
    OPEN: (until: string | null) =>
      `O valor está reservado: não pode ser sacado até a decisão. ${until ? `Responda até ${until} (horário de Brasília). ` : ''}Se você entregou o que vendeu, defenda-se com um texto e comprovantes. Se quem pagou tem razão, aceite, e o valor volta para essa pessoa. Sem resposta, o banco decide sem ouvir você.`,
    DEFENDED: () =>
      'A sua defesa foi registrada. O banco analisa o caso e decide; o valor continua reservado até lá.',
    ACCEPTED: () => 'Você devolveu o valor contestado. Não é preciso fazer mais nada.',
    WON: () => 'O banco não acatou a contestação. O valor voltou para o seu saldo.',
    LOST: () => 'O banco acatou a contestação, e o valor volta para quem pagou.',
    CANCELED: () => 'A contestação foi retirada. O valor voltou para o seu saldo.',
  } satisfies Record<DisputeState, (until: string | null) => string>,
  facts: {
    amount: 'Valor contestado',
    held: 'Reservado agora',
    deadline: 'Prazo para responder',
    openedAt: 'Aberta em',
    closedAt: 'Encerrada em',
    charge: 'Cobrança',
    payment: 'ID da transação (E2E)',
  },
  decide: 'O que fazer',
  accept: 'Aceitar e devolver',
  acceptEffect: 'O valor reservado volta para quem pagou. Não pode ser desfeito.',
  acceptTitle: 'Devolver o valor contestado?',
  acceptText: (amount: string) =>
    `${amount} voltam para quem pagou, pelo mesmo banco. Esta devolução não pode ser desfeita.`,
  defend: 'Enviar defesa',
  defendEffect: 'O banco lê o que você escrever e decide. O valor continua reservado até lá.',
  defendTitle: 'Defenda-se da contestação',
  defendIntro:
    'Conte o que foi vendido, quando e como foi entregue, e que contato você teve com o cliente. A defesa só pode ser enviada uma vez.',
  text: 'Defesa',
  textHint: 'Até 4.000 caracteres.',
  textWrong: 'Escreva a defesa, com até 4.000 caracteres.',
  file: (number: number) => `Comprovante ${number}`,
  fileHint: 'Nota fiscal, comprovante de entrega ou conversa, em PDF, PNG ou JPEG, até 1 MB.',
  fileWrong: 'Envie um PDF, PNG ou JPEG de até 1 MB.',
  optional: 'opcional',
  defense: 'Sua defesa',
  sentAt: (at: string) => `Entregue ao banco em ${at}.`,
  notSent: 'Ainda não foi entregue ao banco.',
  refused: (reason: string) => `O banco não aceitou a defesa: ${reason}. Você pode enviar outra.`,
  fileNote:
    'Guardamos os comprovantes com a defesa. Se o seu banco não os recebe por aqui, envie-os também pelo atendimento dele.',
  download: (number: number, kilobytes: string) => `Comprovante ${number} (${kilobytes} KB)`,
  done: {
    accepted: 'Devolução iniciada. O valor volta para quem pagou em instantes.',
    defended: 'Defesa registrada. Agora o banco decide.',
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Disputes',
  open: 'View the dispute',
  intro:
    'Payments that somebody disputes by the special return mechanism of Pix (MED). The amount is held until the bank has decided.',
  states: {
    OPEN: 'Waiting for your answer',
    DEFENDED: 'Examined by the bank',
    ACCEPTED: 'Accepted',
    WON: 'Won',
    LOST: 'Lost',
    CANCELED: 'Canceled',
  },
  all: 'All',
  filter: 'State of the disputes',
  empty: 'No disputes here.',
  columns: { amount: 'Amount', status: 'Status', deadline: 'Deadline', openedAt: 'Opened' },
  disputeOf: (amount) => `Dispute of ${amount}`,
  what: 'What happened',
  reasons: {
    FRAUD: 'The payer told their bank that it was a fraud, and wants the money back.',
    OPERATIONAL_FAILURE: 'One of the banks reported an operational failure of this payment.',
    SUBSCRIPTION_CLAIM: 'The payer disputes a charge of Pix Automático.',
    OTHER: 'The payer wants the money back. The bank gave no reason.',
  },
  next: {
    OPEN: (until) =>
      `The amount is held: it cannot be withdrawn until it is decided. ${until ? `Answer by ${until} (Brasília time). ` : ''}If you delivered what you sold, defend yourself with a text and proof. If the payer is right, accept, and the amount goes back. Without an answer the bank decides without hearing you.`,
    DEFENDED: () =>
      'Your defense is recorded. The bank examines the case and decides; the amount is held until then.',
    ACCEPTED: () => 'You returned the disputed amount. There is nothing more to do.',
    WON: () => 'The bank rejected the claim. The amount is back in your balance.',
    LOST: () => 'The bank accepted the claim, and the amount goes back to the payer.',
    CANCELED: () => 'The claim was withdrawn. The amount is back in your balance.',
  },
  facts: {
    amount: 'Disputed amount',
    held: 'Held now',
    deadline: 'Answer by',
    openedAt: 'Opened',
    closedAt: 'Closed',
    charge: 'Charge',
    payment: 'Transaction ID (E2E)',
  },
  decide: 'What to do',
  accept: 'Accept and return',
  acceptEffect: 'The held amount goes back to the payer. This cannot be undone.',
  acceptTitle: 'Return the disputed amount?',
  acceptText: (amount) =>
    `${amount} go back to the payer, through the same bank. This cannot be undone.`,
  defend: 'Send a defense',
  defendEffect: 'The bank reads what you write, and decides. The amount is held until then.',
  defendTitle: 'Defend yourself against the claim',
  defendIntro:
    'Tell what was sold, when and how it was delivered, and what contact you had with the customer. A defense can be sent once.',
  text: 'Defense',
  textHint: 'Up to 4.000 characters.',
  textWrong: 'Write the defense, in up to 4.000 characters.',
  file: (number) => `Proof ${number}`,
  fileHint: 'An invoice, a proof of delivery or messages, as PDF, PNG or JPEG, up to 1 MB.',
  fileWrong: 'Send a PDF, PNG or JPEG of up to 1 MB.',
  optional: 'optional',
  defense: 'Your defense',
  sentAt: (at) => `Delivered to the bank at ${at}.`,
  notSent: 'Not delivered to the bank yet.',
  refused: (reason) => `The bank did not take the defense: ${reason}. You can send another one.`,
  fileNote:
    'The proof is kept with the defense. If your bank does not take files this way, send them by its support too.',
  download: (number, kilobytes) => `Proof ${number} (${kilobytes} KB)`,
  done: {
    accepted: 'Return started. The amount goes back to the payer shortly.',
    defended: 'Defense recorded. Now the bank decides.',
  },
}

export const DISPUTES: Record<Language, Texts> = { pt, en }
