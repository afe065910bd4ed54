import type { Status } from '../../core/withdrawals/rules.ts'
import type { Language } from '../../lib/language.ts'

const pt = {
  title: 'Saques',
  withdrawalOf: (amount: string) => `Saque de ${amount}`,
  start: 'Sacar',
  none: 'Quando você fizer um saque, ele aparece aqui.',
  columns: {
    value: 'Valor',
    status: 'Situação',
    destination: 'Chave Pix de destino',
    at: 'Solicitado em',
    finishedAt: 'Encerrado em',
  },
  states: {
    PENDING_OTP: 'Aguardando código',
    PROCESSING: 'Em andamento',
    COMPLETED: 'Concluído',
    FAILED: 'Não realizado',
    EXPIRED: 'Expirado',
    CANCELED: 'Cancelado',
  } satisfies Record<Status, string>,
  /** What happens next, or what has happened. */
  next: {
    PROCESSING:
      'O saque foi confirmado e está sendo enviado. Costuma levar poucos segundos. A empresa recebe um e-mail quando terminar.',
    COMPLETED: 'O valor foi enviado para a chave Pix de destino.',
    FAILED: 'O valor não foi enviado e voltou para o saldo disponível. Você pode sacar de novo.',
    EXPIRED: 'O prazo para confirmar terminou. O valor voltou para o saldo disponível.',
    CANCELED: 'O saque foi cancelado. O valor voltou para o saldo disponível.',
  } satisfies Record<Exclude<Status, 'PENDING_OTP'>, string>,
  awaitsCode: (email: string, until: string) =>
    `Enviamos um código de 6 dígitos para ${email}. Digite o código até ${until} para confirmar o saque. Depois disso, o saque expira e o valor volta para o saldo disponível.`,
  wrongCodes: 'O código foi digitado errado cinco vezes. Por segurança, o saque foi cancelado.',
  reason: 'Motivo',
  confirmedAt: 'Confirmado em',
  endToEndId: 'ID da transação (E2E)',
  mailbox: 'Nesta instalação de testes, os e-mails ficam na caixa de mensagens.',
  mailboxLink: 'Abrir a caixa de mensagens',
  confirmation: 'Confirmação',
  code: 'Código de 6 dígitos',
  codeHint: (tries: number) => (tries === 1 ? 'Resta 1 tentativa.' : `Restam ${tries} tentativas.`),
  codeForm: 'Digite os 6 números do e-mail.',
  wrongCode: (tries: number) =>
    `Código incorreto. ${tries === 1 ? 'Resta 1 tentativa' : `Restam ${tries} tentativas`}. Confira o e-mail mais recente.`,
  confirm: 'Confirmar saque',
  resend: 'Enviar novo código',
  cancel: 'Cancelar saque',
  prove: 'Para digitar o código, confirme antes que é você.',
  proveLink: 'Confirmar identidade',
  available: 'Disponível para saque',
  amount: 'Quanto você quer sacar?',
  amountHint: 'Em reais, por exemplo 150,00.',
  wrongAmount: 'Digite um valor em reais, como 150,00.',
  tooMuch: (available: string) => `O valor é maior que o saldo disponível, ${available}.`,
  all: (amount: string) => `Sacar tudo: ${amount}`,
  stepsTitle: 'Como funciona',
  steps: [
    'O valor fica reservado assim que você solicita o saque.',
    'Enviamos um código ao e-mail da empresa. Ele vale por 10 minutos.',
    'Você digita o código, e o Pix é enviado para a chave da empresa.',
  ],
  pending: 'Já existe um saque em andamento. Só é possível ter um por vez.',
  pendingLink: 'Ver o saque',
  nothingLeft: 'Não há saldo disponível para sacar.',
  destinationHint: 'A chave de destino é a da empresa e não muda por aqui.',
  done: {
    started: 'Saque solicitado. Enviamos o código por e-mail.',
    confirmed: 'Código confirmado.',
    resent: 'Enviamos um novo código. O anterior não vale mais.',
    canceled: 'Saque cancelado.',
  },
}

type Texts = typeof pt

const en: Texts = {
  title: 'Withdrawals',
  withdrawalOf: (amount) => `Withdrawal of ${amount}`,
  start: 'Withdraw',
  none: 'When you make a withdrawal, it appears here.',
  columns: {
    value: 'Amount',
    status: 'Status',
    destination: 'Destination Pix key',
    at: 'Requested at',
    finishedAt: 'Ended at',
  },
  states: {
    PENDING_OTP: 'Waiting for the code',
    PROCESSING: 'In progress',
    COMPLETED: 'Completed',
    FAILED: 'Failed',
    EXPIRED: 'Expired',
    CANCELED: 'Canceled',
  },
  next: {
    PROCESSING:
      'The withdrawal is confirmed and being sent. This usually takes a few seconds. The company gets an email when it ends.',
    COMPLETED: 'The amount was sent to the destination Pix key.',
    FAILED: 'The amount was not sent and is available again. You can withdraw again.',
    EXPIRED: 'The time to confirm is over. The amount is available again.',
    CANCELED: 'The withdrawal was canceled. The amount is available again.',
  },
  awaitsCode: (email, until) =>
    `We sent a 6-digit code to ${email}. Enter it by ${until} to confirm the withdrawal. After that the withdrawal expires and the amount is available again.`,
  wrongCodes: 'A wrong code was entered five times. For safety, the withdrawal was canceled.',
  reason: 'Reason',
  confirmedAt: 'Confirmed at',
  endToEndId: 'Transaction ID (E2E)',
  mailbox: 'In this test installation, emails are kept in the mailbox.',
  mailboxLink: 'Open the mailbox',
  confirmation: 'Confirmation',
  code: '6-digit code',
  codeHint: (tries) => (tries === 1 ? '1 try is left.' : `${tries} tries are left.`),
  codeForm: 'Enter the 6 digits from the email.',
  wrongCode: (tries) =>
    `The code is wrong. ${tries === 1 ? '1 try is left' : `${tries} tries are left`}. Check the newest email.`,
  confirm: 'Confirm withdrawal',
  resend: 'Send a new code',
  cancel: 'Cancel withdrawal',
  prove: 'To enter the code, first confirm that it is you.',
  proveLink: 'Confirm your identity',
  available: 'Available to withdraw',
  amount: 'How much do you want to withdraw?',
  amountHint: 'In reais, for example 150,00.',
  wrongAmount: 'Enter an amount in reais, such as 150,00.',
  tooMuch: (available) => `The amount is more than the available balance, ${available}.`,
  all: (amount) => `Withdraw all: ${amount}`,
  stepsTitle: 'How it works',
  steps: [
    'The amount is held as soon as you request the withdrawal.',
    'We send a code to the email of the company. It is valid for 10 minutes.',
    'You enter the code, and the Pix is sent to the key of the company.',
  ],
  pending: 'A withdrawal is in progress. There can be one at a time.',
  pendingLink: 'View the withdrawal',
  nothingLeft: 'There is no available balance to withdraw.',
  destinationHint: 'The destination is the key of the company and cannot be changed here.',
  done: {
    started: 'Withdrawal requested. We sent the code by email.',
    confirmed: 'Code confirmed.',
    resent: 'We sent a new code. The one before is no longer valid.',
    canceled: 'Withdrawal canceled.',
  },
}

export const WITHDRAWALS: Record<Language, Texts> = { pt, en }
