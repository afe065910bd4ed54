import type { BankCheck, CheckName, State } from '../../core/banks/check.ts'
import type { Language } from '../../lib/language.ts'
import { formatMoment } from '../../pix/local-time.ts'

type Of<Name extends CheckName> = Extract<BankCheck, { name: Name }>
type Kind = Extract<BankCheck, { kind: string }>['kind']

/** What goes with a sentence as it was found: names of scopes, or what went wrong. */
export function saidOf(check: BankCheck): string | null {
  if (check.name === 'access' || check.name === 'subscriptions') return check.fault
  if (check.name === 'callbacks' && check.found === 'missing') return check.reason
  if ((check.name === 'scopes' || check.name === 'dueDates') && check.missing.length > 0)
    return check.missing.join(', ')
  if (check.name === 'withdrawals' && check.state === 'failed') return check.unsent.join(', ')
  if (check.name === 'dates' && check.dates.unread.length > 0) {
    return check.dates.unread.slice(0, 5).join(', ')
  }
  return null
}

const seconds = (gap_ms: number): number => Math.round(Math.abs(gap_ms) / 1000)

const KINDS_PT: Record<Kind, string> = {
  pix: 'de pagamentos',
  rec: 'de assinaturas',
  cobr: 'de cobranças de assinaturas',
}

const SENTENCES_PT: { [Name in CheckName]: (check: Of<Name>) => string } = {
  certificate: ({ state, endsAt, days }) =>
    state === 'failed'
      ? `Terminou em ${formatMoment(endsAt)}. Peça um novo ao banco e troque o certificado.`
      : `Vale até ${formatMoment(endsAt)}, por mais ${days === 1 ? '1 dia' : `${days} dias`}.${state === 'warning' ? ' Peça um novo ao banco agora.' : ''}`,
  access: ({ fault }) =>
    fault === null
      ? 'O banco dá acesso e mostra o que recebeu.'
      : 'O banco não dá acesso. Confira as credenciais e o certificado, no portal do banco, e conecte de novo.',
  clock: ({ gap_ms, state }) =>
    gap_ms === null
      ? 'O banco não informa a hora nas respostas.'
      : state === 'ok'
        ? 'O relógio do banco e o nosso concordam.'
        : `O relógio do banco está ${seconds(gap_ms)} s ${gap_ms > 0 ? 'adiantado' : 'atrasado'}. Avise quem opera a instalação.`,
  dates: ({ dates: { payments, unread, corrected, odd } }) => {
    if (unread.length > 0)
      return 'O banco lista pagamentos que não foram entendidos nem registrados. Avise quem opera a instalação.'
    if (payments === 0) return 'Não há pagamentos do último dia para comparar.'
    if (corrected > 0)
      return `${corrected} de ${payments} pagamentos do último dia vêm com a hora errada e foram corrigidos.`
    if (odd > 0)
      return `${odd} de ${payments} pagamentos do último dia têm datas que não combinam com seus códigos. Pergunte ao banco.`
    return 'As datas dos pagamentos estão certas.'
  },
  scopes: ({ isNamed, missing, state }) => {
    if (!isNamed) return 'O banco não informa quais permissões dá.'
    if (missing.length === 0) return 'Todas as permissões necessárias foram dadas.'
    return state === 'warning'
      ? 'Faltam permissões para assinaturas. Autorize-as no portal do banco, ou venda sem assinaturas.'
      : 'Faltam permissões. Autorize-as para a aplicação no portal do banco.'
  },
  dueDates: ({ found }) =>
    ({
      'not-offered': 'Este banco é usado sem vencimento: cobranças com vencimento são recusadas.',
      'not-said': 'O banco não informa se permite cobranças com vencimento.',
      granted: 'As cobranças podem ter vencimento.',
      missing:
        'Faltam permissões para cobranças com vencimento. Autorize-as no portal do banco, ou venda sem vencimento.',
    })[found],
  subscriptions: ({ found }) =>
    ({
      'not-offered': 'Este banco é usado sem Pix Automático: assinaturas são recusadas.',
      fault: 'O Pix Automático não está disponível. Contrate-o no banco, ou venda sem assinaturas.',
      account: 'O Pix Automático é recebido na conta informada.',
      'no-account':
        'O Pix Automático precisa da conta: conecte de novo com a agência e a conta, ou venda sem assinaturas.',
    })[found],
  withdrawals: ({ by, state }) => {
    if (state === 'failed')
      return 'Faltam permissões para enviar saques. Autorize-as no portal do banco, ou conecte de novo com envio manual.'
    return by === 'bank'
      ? 'O banco envia os saques automaticamente.'
      : 'Quem opera a instalação envia os saques manualmente.'
  },
  callbacks: (check) => {
    const late = 'Até lá, os pagamentos são encontrados por consulta, com até um minuto de atraso.'
    switch (check.found) {
      case 'not-asked':
        return 'Serão verificados quando o banco der acesso.'
      case 'no-https':
        return `Esta instalação não tem um endereço https, que os bancos exigem. ${late}`
      case 'registered':
        return `Os avisos ${KINDS_PT[check.kind]} estão registrados.`
      case 'registered-now':
        return `Os avisos ${KINDS_PT[check.kind]} foram registrados agora.`
      case 'missing':
        return `Os avisos ${KINDS_PT[check.kind]} não estão registrados. ${late}`
    }
  },
}

const pt = {
  title: 'Verificação da conexão',
  caption: 'O que foi verificado',
  again: 'Verificar de novo',
  fine: 'Tudo certo: a empresa pode receber por Pix.',
  warned: 'A empresa pode receber por Pix, mas há pontos de atenção.',
  broken: 'Há algo a corrigir antes de receber por Pix.',
  late: 'O banco não respondeu em 20 segundos. Tente de novo mais tarde.',
  states: { ok: 'Certo', warning: 'Atenção', failed: 'Falhou' } satisfies Record<State, string>,
  names: {
    certificate: 'Certificado',
    access: 'Acesso',
    clock: 'Relógio',
    dates: 'Datas dos pagamentos',
    scopes: 'Permissões',
    dueDates: 'Vencimentos',
    subscriptions: 'Assinaturas',
    withdrawals: 'Saques',
    callbacks: 'Avisos do banco',
  } satisfies Record<CheckName, string>,
  /** What the bank or the connection says, which is in English. */
  said: 'Detalhe',
  of: SENTENCES_PT,
}

type Texts = typeof pt

const KINDS_EN: Record<Kind, string> = {
  pix: 'payments',
  rec: 'subscriptions',
  cobr: 'charges of subscriptions',
}

const en: Texts = {
  title: 'Check of the connection',
  caption: 'What was checked',
  again: 'Check again',
  fine: 'All is well: the company can be paid by Pix.',
  warned: 'The company can be paid by Pix, but there are points to look at.',
  broken: 'Something has to be fixed before the company can be paid by Pix.',
  late: 'The bank has not answered within 20 seconds. Try again later.',
  states: { ok: 'Fine', warning: 'Look at it', failed: 'Failed' },
  names: {
    certificate: 'Certificate',
    access: 'Access',
    clock: 'Clock',
    dates: 'Dates of payments',
    scopes: 'Scopes',
    dueDates: 'Due dates',
    subscriptions: 'Subscriptions',
    withdrawals: 'Withdrawals',
    callbacks: 'Callbacks',
  },
  said: 'Detail',
  of: {
    certificate: ({ state, endsAt, days }) =>
      state === 'failed'
        ? `It ended on ${formatMoment(endsAt)}. Get a new one from the bank and renew it here.`
        : `It is valid until ${formatMoment(endsAt)}, for ${days === 1 ? '1 more day' : `${days} more days`}.${state === 'warning' ? ' Ask the bank for a new one now.' : ''}`,
    access: ({ fault }) =>
      fault === null
        ? 'The bank gives access, and shows what it has received.'
        : 'The bank gives no access. Check credentials and certificate in the bank’s portal, and connect again.',
    clock: ({ gap_ms, state }) =>
      gap_ms === null
        ? 'The bank gives its answers no date to compare with.'
        : state === 'ok'
          ? 'The bank’s clock and ours agree.'
          : `The bank’s clock is ${seconds(gap_ms)} s ${gap_ms > 0 ? 'ahead' : 'behind'}. Inform whoever operates the installation.`,
    dates: ({ dates: { payments, unread, corrected, odd } }) => {
      if (unread.length > 0)
        return 'The bank lists payments that were neither understood nor recorded. Inform whoever operates the installation.'
      if (payments === 0) return 'There is no payment of the last day to compare with.'
      if (corrected > 0)
        return `${corrected} of ${payments} payments of the last day are dated wrong, and were corrected.`
      if (odd > 0)
        return `${odd} of ${payments} payments of the last day have dates that do not fit their ids. Ask the bank.`
      return 'The dates of payments are right.'
    },
    scopes: ({ isNamed, missing, state }) => {
      if (!isNamed) return 'The bank does not say which scopes it grants.'
      if (missing.length === 0) return 'All needed scopes are granted.'
      return state === 'warning'
        ? 'Scopes for subscriptions are missing. Allow them in the bank’s portal, or sell without subscriptions.'
        : 'Scopes are missing. Allow them for the application in the bank’s portal.'
    },
    dueDates: ({ found }) =>
      ({
        'not-offered': 'This bank is used without due dates: charges with one are refused.',
        'not-said': 'The bank does not say whether charges may have a due date.',
        granted: 'Charges may have a due date.',
        missing:
          'Scopes for due dates are missing. Allow them in the bank’s portal, or sell without due dates.',
      })[found],
    subscriptions: ({ found }) =>
      ({
        'not-offered': 'This bank is used without Pix Automático: subscriptions are refused.',
        fault:
          'Pix Automático is not available. Contract it with the bank, or sell without subscriptions.',
        account: 'Pix Automático is collected to the account that was given.',
        'no-account':
          'Pix Automático needs the account: connect again with branch and account, or sell without subscriptions.',
      })[found],
    withdrawals: ({ by, state }) => {
      if (state === 'failed')
        return 'Scopes to send withdrawals are missing. Allow them in the bank’s portal, or connect again and send them by hand.'
      return by === 'bank'
        ? 'The bank sends withdrawals by itself.'
        : 'Whoever operates the installation sends withdrawals by hand.'
    },
    callbacks: (check) => {
      const late = 'Until then payments are found by asking, up to a minute late.'
      switch (check.found) {
        case 'not-asked':
          return 'They are checked once the bank gives access.'
        case 'no-https':
          return `This installation has no https address, which banks need. ${late}`
        case 'registered':
          return `Callbacks for ${KINDS_EN[check.kind]} are registered.`
        case 'registered-now':
          return `Callbacks for ${KINDS_EN[check.kind]} have been registered now.`
        case 'missing':
          return `Callbacks for ${KINDS_EN[check.kind]} are not registered. ${late}`
      }
    },
  },
}

export const BANK_CHECK: Record<Language, Texts> = { pt, en }
