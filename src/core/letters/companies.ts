import type { Language } from '../../lib/language.ts'
import type { Letter } from '../../lib/mailer.ts'
import { type Cents, formatReais } from '../../lib/money.ts'
import { formatMoment } from '../../pix/local-time.ts'
import { maskEmail, maskPixKey } from '../../pix/masks.ts'
import type { ReturnReason } from '../../provider/port.ts'
import { asIs, type Block, compose, type Fact, type LetterCompany, paragraph } from './layout.ts'

const pt = {
  amount: 'Valor',
  destination: 'Chave Pix de destino',
  recipient: 'Recebedor',
  code: {
    subject: (amount: string) => `Código para confirmar o saque de ${amount}`,
    title: 'Confirme o saque',
    intro: (company: string) =>
      `Um saque foi solicitado na conta de ${company}. Para confirmar, use este código:`,
    validity: (minutes: number, until: string) =>
      `O código vale por ${minutes} ${minutes === 1 ? 'minuto' : 'minutos'}, até ${until} (horário de Brasília), e só pode ser usado uma vez.`,
    secrecy:
      'Nunca compartilhe este código, nem por telefone, nem por mensagem. Ninguém da nossa equipe vai pedir este código.',
    notYou:
      'Não foi você quem pediu? Não informe o código a ninguém: sem ele, o dinheiro não sai da conta. Cancele o saque e troque as chaves de API da empresa: alguém pode estar usando uma delas.',
  },
  completed: {
    subject: (amount: string) => `Saque de ${amount} concluído`,
    title: 'Saque concluído',
    intro: 'O valor foi enviado por Pix.',
    at: 'Concluído em',
    endToEndId: 'ID da transação',
    notYou:
      'Não reconhece este saque? Troque imediatamente as chaves de API da empresa e fale com o banco, informando o ID da transação.',
  },
  failed: {
    subject: (amount: string) => `Saque de ${amount} não concluído`,
    title: 'O saque não foi concluído',
    intro: 'O valor voltou para o saldo disponível. Você pode solicitar o saque novamente.',
    back: 'O valor voltou para o saldo do recebedor. Você pode solicitar o repasse novamente.',
    reason: 'Motivo',
  },
  returned: {
    subject: (amount: string) => `O banco devolveu ${amount} de um pagamento recebido`,
    title: 'O banco devolveu um pagamento',
    intro:
      'O banco devolveu ao pagador um valor que você havia recebido, sem que você tenha pedido a devolução por aqui. O valor já foi descontado do seu saldo.',
    reason: 'Motivo',
    reasons: {
      FRAUD: 'Suspeita de fraude, informada pelo pagador (MED)',
      OPERATIONAL_FAILURE: 'Falha operacional de um dos bancos (MED)',
      SUBSCRIPTION_CLAIM: 'Contestação de uma cobrança do Pix Automático (MED)',
      OTHER: 'Feita diretamente no banco, ou não informado',
    } satisfies Record<ReturnReason, string>,
    at: 'Devolvido em (horário de Brasília)',
    payment: 'ID do pagamento',
    return: 'ID da devolução',
    charge: 'Cobrança',
    below: (amount: string) =>
      `O saldo disponível ficou negativo: ${amount}. Os próximos recebimentos cobrem essa diferença antes de um novo saque.`,
    unknown:
      'Não concorda com esta devolução? Fale com o banco e informe o ID da devolução. Se o pedido ainda não foi entregue, confira antes de enviar.',
  },
  webhook: { name: 'Webhook', address: 'Endereço' },
  failing: {
    subject: (name: string) => `O webhook ${name} está com falha`,
    title: 'Seu webhook está com falha',
    intro: (since: string) =>
      `Desde ${since} (horário de Brasília) nenhum evento é entregue a este webhook: o servidor não responde ou responde com erro.`,
    end: (at: string) =>
      `Se continuar assim, ele será desativado a partir de ${at} (horário de Brasília). Uma única entrega bem-sucedida evita isso.`,
    repair:
      'Veja o que o servidor respondeu em GET /webhook/{id}/deliveries. Depois de corrigir o problema, reenvie o que falhou com POST /webhook/{id}/replay.',
  },
  deactivated: {
    subject: (name: string) => `O webhook ${name} foi desativado`,
    title: 'Seu webhook foi desativado',
    gone: 'O servidor respondeu que este endereço não existe mais (410). Não enviaremos mais eventos a ele.',
    failing:
      'Nenhum evento foi entregue a este webhook nos últimos cinco dias. Não enviaremos mais eventos a ele.',
    kept: 'Nada se perdeu: os eventos continuam disponíveis em GET /event, e as entregas que falharam podem ser reenviadas.',
    activate:
      'Depois de corrigir o problema, reative o webhook com PUT /webhook/{id} e o status ACTIVE, e reenvie o que falhou com POST /webhook/{id}/replay.',
  },
  certificate: {
    subject: (bank: string, day: string) => `O certificado da conexão com ${bank} vence em ${day}`,
    title: 'Renove o certificado do banco',
    intro: (company: string) =>
      `A conexão de ${company} com o banco usa um certificado que está prestes a vencer.`,
    bank: 'Banco',
    end: 'Vence em (horário de Brasília)',
    after:
      'Depois disso, o banco recusa a conexão: nenhuma cobrança Pix pode ser criada e nenhum pagamento é confirmado até a instalação de um certificado novo.',
    renew:
      'Emita um certificado novo no portal do banco e envie-o a quem opera este serviço, para instalar com vintem bank connect. As cobranças em aberto continuam válidas.',
  },
  emailChanged: {
    subject: (company: string) => `O e-mail de ${company} foi alterado`,
    title: 'O e-mail da empresa foi alterado',
    intro: (company: string) =>
      `O e-mail cadastrado de ${company} foi alterado. Os avisos passam a chegar ao novo endereço.`,
    email: 'Novo e-mail',
    at: 'Alterado em (horário de Brasília)',
    notYou:
      'Não foi você? Troque já as chaves de API da empresa, pois alguém pode estar usando uma delas, e desfaça a alteração com PUT /company. Se precisar de ajuda, fale com quem opera este serviço.',
  },
  emailConfirmed: {
    subject: (company: string) => `Este é o novo e-mail de ${company}`,
    title: 'E-mail cadastrado',
    intro: (company: string) =>
      `A partir de agora, os avisos de ${company} chegam a este endereço.`,
    unknown:
      'Não conhece esta empresa? Alguém informou seu endereço por engano. Você pode ignorar esta mensagem.',
  },
  codesLater: (until: string) =>
    `Por segurança, os códigos para confirmar saques continuam sendo enviados ao e-mail anterior até ${until} (horário de Brasília). Depois disso, vão para o novo.`,
  codesNow: 'Os códigos para confirmar saques também vão para o novo endereço.',
}

type Texts = typeof pt

const en: Texts = {
  amount: 'Amount',
  destination: 'Destination Pix key',
  recipient: 'Recipient',
  code: {
    subject: (amount) => `Code to confirm the withdrawal of ${amount}`,
    title: 'Confirm the withdrawal',
    intro: (company) =>
      `A withdrawal was requested from the account of ${company}. To confirm it, use this code:`,
    validity: (minutes, until) =>
      `The code is valid for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, until ${until} (Brasília time), and can be used only once.`,
    secrecy:
      'Never share this code, by phone or by message. No one on our team will ask you for it.',
    notYou:
      'You did not ask for it? Do not give the code to anyone: without it, no money leaves the account. Cancel the withdrawal and replace the company’s API keys: someone may be using one of them.',
  },
  completed: {
    subject: (amount) => `Withdrawal of ${amount} completed`,
    title: 'Withdrawal completed',
    intro: 'The money was sent by Pix.',
    at: 'Completed at',
    endToEndId: 'Transaction ID',
    notYou:
      'You do not recognize this withdrawal? Replace the company’s API keys now and contact the bank with the transaction ID above.',
  },
  failed: {
    subject: (amount) => `Withdrawal of ${amount} not completed`,
    title: 'The withdrawal was not completed',
    intro: 'The amount is back in the available balance. You can request the withdrawal again.',
    back: 'The amount is back in the balance of the recipient. You can request the payout again.',
    reason: 'Reason',
  },
  returned: {
    subject: (amount) => `The bank returned ${amount} of a payment`,
    title: 'The bank returned a payment',
    intro:
      'The bank returned money to a payer that you had received, without a refund that you asked for here. The amount has been taken off your balance.',
    reason: 'Reason',
    reasons: {
      FRAUD: 'The payer reported fraud (MED)',
      OPERATIONAL_FAILURE: 'A failure at one of the banks (MED)',
      SUBSCRIPTION_CLAIM: 'The payer objected to a Pix Automático payment (MED)',
      OTHER: 'Made at the bank itself, or without a stated reason',
    },
    at: 'Returned at (Brasília time)',
    payment: 'Payment ID',
    return: 'Return ID',
    charge: 'Charge',
    below: (amount) =>
      `The available balance is now negative: ${amount}. The next money you receive makes up for it before another withdrawal.`,
    unknown:
      'You do not agree with this return? Contact the bank with the return ID above. If the order has not been delivered yet, check before you ship it.',
  },
  webhook: { name: 'Webhook', address: 'Address' },
  failing: {
    subject: (name) => `The webhook ${name} is failing`,
    title: 'Your webhook is failing',
    intro: (since) =>
      `Since ${since} (Brasília time) no event has been delivered to this webhook: its server does not answer, or answers with an error.`,
    end: (at) =>
      `If this goes on, it will be deactivated from ${at} (Brasília time) on. A single successful delivery prevents that.`,
    repair:
      'GET /webhook/{id}/deliveries shows what the server answered. Once the problem is fixed, resend what failed with POST /webhook/{id}/replay.',
  },
  deactivated: {
    subject: (name) => `The webhook ${name} was deactivated`,
    title: 'Your webhook was deactivated',
    gone: 'The server answered that this address no longer exists (410). No more events will be sent to it.',
    failing:
      'No event was delivered to this webhook in the last five days. No more events will be sent to it.',
    kept: 'Nothing is lost: the events are still in GET /event, and the deliveries that failed can be sent again.',
    activate:
      'Once the problem is fixed, reactivate the webhook with PUT /webhook/{id} and the status ACTIVE, and resend what failed with POST /webhook/{id}/replay.',
  },
  certificate: {
    subject: (bank, day) => `The certificate of the connection to ${bank} expires on ${day}`,
    title: 'Renew the bank’s certificate',
    intro: (company) =>
      `The connection of ${company} to its bank uses a certificate that is about to expire.`,
    bank: 'Bank',
    end: 'Expires at (Brasília time)',
    after:
      'After that the bank refuses the connection: no Pix charge can be created and no payment is confirmed until a new certificate is installed.',
    renew:
      'Issue a new certificate in the bank’s portal and give it to whoever operates this service, to install it with vintem bank connect. Open charges stay valid.',
  },
  emailChanged: {
    subject: (company) => `The email address of ${company} was changed`,
    title: 'The company’s email address was changed',
    intro: (company) =>
      `The email address of ${company} was changed. Notices now go to the new address.`,
    email: 'New email address',
    at: 'Changed at (Brasília time)',
    notYou:
      'Wasn’t you? Replace the company’s API keys now, since someone may be using one of them, and undo the change with PUT /company. If you need help, contact whoever operates this service.',
  },
  emailConfirmed: {
    subject: (company) => `This is the new email address of ${company}`,
    title: 'Email address registered',
    intro: (company) => `From now on, notices of ${company} arrive at this address.`,
    unknown:
      'You do not know this company? Someone gave your address by mistake. You can ignore this message.',
  },
  codesLater: (until) =>
    `For security, codes to confirm withdrawals still go to the former address until ${until} (Brasília time), and to the new one after that.`,
  codesNow: 'Codes to confirm withdrawals go to the new address too.',
}

const TEXTS: Record<Language, Texts> = { pt, en }

/** A payout names its recipient. */
const recipientFact = (
  { language }: LetterCompany,
  { recipient }: { recipient?: string },
): Fact[] => (recipient === undefined ? [] : [[TEXTS[language].recipient, recipient]])

/** The code is in the body only, because locked screens show subjects. */
export function composeWithdrawalCode(
  company: LetterCompany,
  withdrawal: {
    code: string
    value: Cents
    destination: string
    /** The recipient that is paid. */
    recipient?: string
    lifetime_s: number
    expiresAt: Date
  },
): Letter {
  const { code, value, destination, lifetime_s, expiresAt } = withdrawal
  const { amount, destination: key, code: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [amount, formatReais(value)],
    ...recipientFact(company, withdrawal),
    [key, asIs(maskPixKey(destination))],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(value)),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'code', code },
      paragraph(texts.validity(lifetime_s / 60, formatMoment(expiresAt))),
      { kind: 'facts', facts },
      paragraph(texts.secrecy),
      paragraph(texts.notYou),
    ],
  })
}

export function composeWithdrawalCompleted(
  company: LetterCompany,
  withdrawal: {
    value: Cents
    destination: string
    recipient?: string
    endToEndId: string
    finishedAt: Date
  },
): Letter {
  const { value, destination, endToEndId, finishedAt } = withdrawal
  const { amount, destination: key, completed: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [amount, formatReais(value)],
    ...recipientFact(company, withdrawal),
    [key, asIs(maskPixKey(destination))],
    [texts.at, formatMoment(finishedAt)],
    [texts.endToEndId, endToEndId],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(value)),
    title: texts.title,
    blocks: [paragraph(texts.intro), { kind: 'facts', facts }, paragraph(texts.notYou)],
  })
}

export function composeWithdrawalFailed(
  company: LetterCompany,
  withdrawal: { value: Cents; reason: string; recipient?: string },
): Letter {
  const { value, reason } = withdrawal
  const { amount, failed: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [amount, formatReais(value)],
    ...recipientFact(company, withdrawal),
    [texts.reason, reason],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(value)),
    title: texts.title,
    blocks: [
      paragraph(withdrawal.recipient === undefined ? texts.intro : texts.back),
      { kind: 'facts', facts },
    ],
  })
}

export type ReturnLetter = {
  amount: Cents
  reason: ReturnReason
  returnedAt: Date
  endToEndId: string
  returnId: string
  /** The public id of the charge that the payment has paid. */
  charge: string | null
  /** The available balance after the return. */
  available: number
}

/** The bank has returned money by itself. */
export function composeBankReturn(company: LetterCompany, letter: ReturnLetter): Letter {
  const { amount, returned: texts } = TEXTS[company.language]
  const { charge, available } = letter
  const facts: [string, string][] = [
    [amount, formatReais(letter.amount)],
    [texts.reason, texts.reasons[letter.reason]],
    [texts.at, formatMoment(letter.returnedAt)],
    ...(charge === null ? [] : [[texts.charge, charge] as [string, string]]),
    [texts.payment, letter.endToEndId],
    [texts.return, letter.returnId],
  ]
  const below = available < 0 ? [paragraph(texts.below(formatReais(available)))] : []
  return compose(company, {
    to: company.email,
    subject: texts.subject(formatReais(letter.amount)),
    title: texts.title,
    blocks: [paragraph(texts.intro), { kind: 'facts', facts }, ...below, paragraph(texts.unknown)],
  })
}

/** The name and address of a webhook, without the query string, which may be secret. */
function webhookFacts(
  { language }: LetterCompany,
  { name, url }: { name: string; url: string },
): Block {
  const { host, pathname } = new URL(url)
  const { webhook: texts } = TEXTS[language]
  const facts: Fact[] = [
    [texts.name, name],
    [texts.address, asIs(host + pathname)],
  ]
  return { kind: 'facts', facts }
}

export function composeWebhookFailing(
  company: LetterCompany,
  webhook: { name: string; url: string; failingSince: Date; end: Date },
): Letter {
  const { failing: texts } = TEXTS[company.language]
  return compose(company, {
    to: company.email,
    subject: texts.subject(webhook.name),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(formatMoment(webhook.failingSince))),
      webhookFacts(company, webhook),
      paragraph(texts.end(formatMoment(webhook.end))),
      paragraph(texts.repair),
    ],
  })
}

export function composeWebhookDeactivated(
  company: LetterCompany,
  webhook: { name: string; url: string; reason: 'GONE' | 'FAILING' },
): Letter {
  const { deactivated: texts } = TEXTS[company.language]
  return compose(company, {
    to: company.email,
    subject: texts.subject(webhook.name),
    title: texts.title,
    blocks: [
      paragraph(webhook.reason === 'GONE' ? texts.gone : texts.failing),
      webhookFacts(company, webhook),
      paragraph(texts.kept),
      paragraph(texts.activate),
    ],
  })
}

/** In time for somebody to renew it, which at some banks takes days. */
export function composeCertificateEnding(
  company: LetterCompany,
  { bank, endsAt }: { bank: string; endsAt: Date },
): Letter {
  const { certificate: texts } = TEXTS[company.language]
  const end = formatMoment(endsAt)
  const facts: [string, string][] = [
    [texts.bank, bank],
    [texts.end, end],
  ]
  return compose(company, {
    to: company.email,
    subject: texts.subject(bank, end.slice(0, 10)),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'facts', facts },
      paragraph(texts.after),
      paragraph(texts.renew),
    ],
  })
}

/** If codes still go to the former address, until when. */
type ChangedCompany = LetterCompany & { codeEmailUntil: Date | null }

/** Where one-time codes go. The former address is not named, because a stranger may read this. */
function codesBlock({ language, codeEmailUntil }: ChangedCompany): Block {
  const { codesLater, codesNow } = TEXTS[language]
  return paragraph(codeEmailUntil === null ? codesNow : codesLater(formatMoment(codeEmailUntil)))
}

/** To the former address, so that its owner can stop a change that they did not ask for. */
export function composeEmailChanged(company: ChangedCompany, to: string, at: Date): Letter {
  const { emailChanged: texts } = TEXTS[company.language]
  const facts: Fact[] = [
    [texts.email, asIs(maskEmail(company.email))],
    [texts.at, formatMoment(at)],
  ]
  return compose(company, {
    to,
    subject: texts.subject(company.name),
    title: texts.title,
    blocks: [
      paragraph(texts.intro(company.name)),
      { kind: 'facts', facts },
      codesBlock(company),
      paragraph(texts.notYou),
    ],
  })
}

/** To the new address, so that a wrong address is noticed. */
export function composeEmailConfirmed(company: ChangedCompany): Letter {
  const { emailConfirmed: texts } = TEXTS[company.language]
  return compose(company, {
    to: company.email,
    subject: texts.subject(company.name),
    title: texts.title,
    blocks: [paragraph(texts.intro(company.name)), codesBlock(company), paragraph(texts.unknown)],
  })
}
