import type { ChargeStatus, UnmatchedReason } from '../core/charges/rules.ts'
import type { Language } from '../lib/language.ts'
import type { Fault } from '../pix/brcode.ts'
import type { AgreementStatus, Frequency } from '../provider/port.ts'

export type BankTexts = {
  title: string
  intro: string
  paste: { label: string; hint: string; button: string }
  faults: {
    empty: string
    code: Record<Fault['reason'], string>
    unknown: string
    amount: string
    undecided: string
    clock: string
  }
  names: Record<BankName, string>
  kinds: Record<'dynamic' | 'static' | 'recurrence', string>
  bank: string
  pay: {
    title: string
    amount: string
    amountHint: string
    button: string
    again: string
    late: string
    twice: string
    waitAndPay: string
    waitHint: string
  }
  charge: Record<ChargeStatus, string | null>
  paid: { title: string; matched: string; unmatched: string }
  reasons: Record<UnmatchedReason, string>
  decide: Record<'approve' | 'empty' | 'fill' | 'drain' | 'reject' | 'cancel', string>
  agreement: Record<AgreementStatus, string>
  frequency: Record<Frequency, string>
  funds: { yes: string; no: string; hint: string }
  fields: { title: string; id: string; name: string; value: string }
  field: Record<string, string>
  open: { title: string; none: string; until(at: string): string; fixed: string; monthly: string }
  history: { title: string; none: string; sent: string; back: string }
  clock: {
    title: string
    text: string
    hour: string
    day: string
    week: string
    month: string
    advancing(target: string): string
  }
}

type BankName =
  | 'receiver'
  | 'taxId'
  | 'city'
  | 'bank'
  | 'amount'
  | 'kind'
  | 'until'
  | 'expiredAt'
  | 'txid'
  | 'description'
  | 'id'
  | 'at'
  | 'product'
  | 'frequency'
  | 'agreement'
  | 'retries'
  | 'funds'
  | 'state'

const pt: BankTexts = {
  title: 'Banco simulado',
  intro:
    'O aplicativo do banco de quem paga, para testes. Nenhum valor real é movimentado: só funcionam códigos do ambiente de testes.',
  paste: {
    label: 'Código Pix Copia e Cola',
    hint: 'De uma cobrança, de um QR Code fixo ou de uma assinatura. Começa com 000201.',
    button: 'Continuar',
  },
  faults: {
    empty: 'Cole um código para continuar.',
    code: {
      'too-long': 'Código muito longo: um código Pix tem até 512 caracteres.',
      'bad-character': 'O código tem um caractere que não existe em códigos Pix.',
      'bad-crc': 'Os quatro últimos caracteres não conferem: o código foi alterado ou cortado.',
      'bad-length': 'O código está incompleto: um campo é menor do que o indicado.',
      'repeated-field': 'O código tem um campo repetido.',
      'missing-field': 'Falta um campo obrigatório: confira se o código foi copiado inteiro.',
      'bad-value': 'Um campo do código tem um valor inválido.',
    },
    unknown: 'O código é válido, mas não foi emitido por este banco simulado.',
    amount: 'Informe um valor a partir de R$ 0,01, como 19,90.',
    undecided: 'Esta assinatura não permite mais essa ação.',
    clock: 'O relógio ainda está avançando. Aguarde um momento e tente novamente.',
  },
  names: {
    receiver: 'Para',
    taxId: 'CPF/CNPJ',
    city: 'Cidade',
    bank: 'Instituição',
    amount: 'Valor',
    kind: 'Tipo',
    until: 'Pague até',
    expiredAt: 'Expirou em',
    txid: 'Identificador (txid)',
    description: 'Descrição',
    id: 'ID da transação',
    at: 'Data',
    product: 'Assinatura',
    frequency: 'Cobrança',
    agreement: 'ID da recorrência',
    retries: 'Novas tentativas',
    funds: 'Saldo do pagador',
    state: 'Situação',
  },
  kinds: {
    dynamic: 'Pix Cobrança, QR Code de uso único',
    static: 'QR Code fixo, pode ser pago várias vezes',
    recurrence: 'Autorização de Pix Automático',
  },
  bank: 'Banco Simulado (99999999)',
  pay: {
    title: 'Revise antes de pagar',
    amount: 'Valor a pagar',
    amountHint: 'Altere para testar um pagamento diferente do valor cobrado.',
    button: 'Pagar',
    again: 'Pagar novamente',
    late: 'Pagar com atraso',
    twice: 'Pagar duas vezes',
    waitAndPay: 'Deixar expirar e pagar com atraso',
    waitHint: 'Avança o relógio da empresa para depois do prazo e paga em seguida.',
  },
  charge: {
    OPEN: null,
    COMPLETED:
      'Esta cobrança já foi paga. Um banco real recusaria; aqui, o segundo pagamento chega e aparece para a empresa como não identificado (DUPLICATE).',
    EXPIRED:
      'Esta cobrança expirou. Um banco real recusaria; aqui, o pagamento chega e aparece para a empresa como não identificado (LATE).',
    CANCELED:
      'Esta cobrança foi cancelada. Um banco real recusaria; aqui, o pagamento chega e aparece para a empresa como não identificado (CANCELED).',
  },
  paid: {
    title: 'Pix enviado',
    matched: 'A empresa recebeu e a cobrança está paga.',
    unmatched: 'A empresa recebeu, mas o pagamento não corresponde a nenhuma cobrança em aberto:',
  },
  reasons: {
    LATE: 'chegou fora do prazo (LATE).',
    CANCELED: 'a cobrança já estava cancelada (CANCELED).',
    DUPLICATE: 'a cobrança já estava paga (DUPLICATE).',
    WRONG_AMOUNT: 'o valor é diferente do cobrado (WRONG_AMOUNT).',
    UNKNOWN: 'nenhuma cobrança tem este identificador (UNKNOWN).',
  },
  decide: {
    approve: 'Autorizar',
    empty: 'Autorizar com a conta sem saldo',
    fill: 'Adicionar saldo',
    drain: 'Zerar saldo',
    reject: 'Recusar',
    cancel: 'Cancelar a autorização',
  },
  agreement: {
    CREATED: 'Aguardando sua autorização',
    APPROVED: 'Autorizada',
    REJECTED: 'Recusada',
    EXPIRED: 'Expirada sem resposta',
    CANCELED: 'Cancelada',
  },
  frequency: {
    WEEKLY: 'toda semana',
    MONTHLY: 'todo mês',
    SEMIANNUAL: 'a cada seis meses',
    ANNUAL: 'todo ano',
  },
  funds: {
    yes: 'com saldo',
    no: 'sem saldo',
    hint: 'Sem saldo, as próximas cobranças falham e o banco tenta novamente em outros dias.',
  },
  fields: { title: 'Campos do código', id: 'Campo', name: 'Significado', value: 'Valor' },
  field: {
    '00': 'Versão do formato',
    '01': 'Uso (12: uma vez)',
    '26.00': 'Arranjo',
    '26.01': 'Chave Pix',
    '26.02': 'Mensagem',
    '26.25': 'Endereço da cobrança',
    '52': 'Categoria',
    '53': 'Moeda (986: real)',
    '54': 'Valor',
    '58': 'País',
    '59': 'Nome do recebedor',
    '60': 'Cidade do recebedor',
    '62.05': 'Identificador (txid)',
    '63': 'Verificação (CRC16)',
    '80.00': 'Arranjo',
    '80.25': 'Endereço da recorrência',
  },
  open: {
    title: 'Códigos em aberto',
    none: 'Nenhum por enquanto. Crie uma cobrança pela API e ela aparece aqui.',
    until: (at) => `até ${at}`,
    fixed: 'QR Code fixo',
    monthly: 'assinatura',
  },
  history: {
    title: 'Extrato do pagador',
    none: 'Nenhum pagamento por enquanto.',
    sent: 'Pix enviado',
    back: 'Devolução recebida',
  },
  clock: {
    title: 'Relógio da empresa de testes',
    text: 'Avance o tempo para ver cobranças expirarem, valores serem liberados e assinaturas serem cobradas. O relógio só anda para a frente.',
    hour: '+1 hora',
    day: '+1 dia',
    week: '+1 semana',
    month: '+1 mês',
    advancing: (target) => `Avançando até ${target}…`,
  },
}

const en: BankTexts = {
  title: 'Simulated bank',
  intro:
    'The payer’s banking app, for tests. No real money moves here: only codes of the test environment work.',
  paste: {
    label: 'Pix copy-and-paste code',
    hint: 'Of a charge, a static code or a subscription. It starts with 000201.',
    button: 'Continue',
  },
  faults: {
    empty: 'Paste a code to continue.',
    code: {
      'too-long': 'The code is too long: a Pix code has at most 512 characters.',
      'bad-character': 'The code has a character that no Pix code can have.',
      'bad-crc': 'The last four characters do not match: the code was changed or cut.',
      'bad-length': 'The code is incomplete: a field is shorter than it says.',
      'repeated-field': 'The code has the same field twice.',
      'missing-field': 'A required field is missing: check that the whole code was copied.',
      'bad-value': 'A field of the code has a value that is not allowed.',
    },
    unknown: 'The code is valid, but this simulated bank has not issued it.',
    amount: 'Enter an amount of at least R$ 0,01, such as 19,90.',
    undecided: 'That decision is no longer possible for this subscription.',
    clock: 'The clock is still moving forward. Wait a moment and try again.',
  },
  names: {
    receiver: 'To',
    taxId: 'CPF/CNPJ',
    city: 'City',
    bank: 'Institution',
    amount: 'Amount',
    kind: 'Kind',
    until: 'Pay by',
    expiredAt: 'Expired at',
    txid: 'Identifier (txid)',
    description: 'Description',
    id: 'Transaction ID',
    at: 'Date',
    product: 'Subscription',
    frequency: 'Charged',
    agreement: 'Recurrence ID',
    retries: 'Retries',
    funds: 'The payer’s funds',
    state: 'Status',
  },
  kinds: {
    dynamic: 'Pix charge, single-use code',
    static: 'Static code, can be paid many times',
    recurrence: 'Pix Automático authorization',
  },
  bank: 'Simulated bank (99999999)',
  pay: {
    title: 'Check before you pay',
    amount: 'Amount to pay',
    amountHint: 'Change it to try a payment of another amount than requested.',
    button: 'Pay',
    again: 'Pay again',
    late: 'Pay late',
    twice: 'Pay twice',
    waitAndPay: 'Let it expire and pay late',
    waitHint: 'Moves the company’s clock past the deadline, then pays.',
  },
  charge: {
    OPEN: null,
    COMPLETED:
      'This charge is already paid. A real bank would refuse; here the second payment arrives, and the company sees it as unmatched (DUPLICATE).',
    EXPIRED:
      'This charge has expired. A real bank would refuse; here the money arrives all the same, and the company sees it as unmatched (LATE).',
    CANCELED:
      'This charge was canceled. A real bank would refuse; here the money arrives all the same, and the company sees it as unmatched (CANCELED).',
  },
  paid: {
    title: 'Pix sent',
    matched: 'The company received it, and the charge is paid.',
    unmatched: 'The company received it, but it matches no open charge:',
  },
  reasons: {
    LATE: 'it came after the deadline (LATE).',
    CANCELED: 'the charge had been canceled (CANCELED).',
    DUPLICATE: 'the charge was already paid (DUPLICATE).',
    WRONG_AMOUNT: 'the amount differs from the one requested (WRONG_AMOUNT).',
    UNKNOWN: 'no charge has this identifier (UNKNOWN).',
  },
  decide: {
    approve: 'Approve',
    empty: 'Approve with an empty account',
    fill: 'Add funds',
    drain: 'Empty the account',
    reject: 'Reject',
    cancel: 'Cancel the authorization',
  },
  agreement: {
    CREATED: 'Waiting for your decision',
    APPROVED: 'Approved',
    REJECTED: 'Rejected',
    EXPIRED: 'Expired without a decision',
    CANCELED: 'Canceled',
  },
  frequency: {
    WEEKLY: 'every week',
    MONTHLY: 'every month',
    SEMIANNUAL: 'every six months',
    ANNUAL: 'every year',
  },
  funds: {
    yes: 'enough',
    no: 'none',
    hint: 'Without funds the next charges fail, and are tried again on other days.',
  },
  fields: { title: 'Fields of the code', id: 'Field', name: 'What it is', value: 'Value' },
  field: {
    '00': 'Version of the format',
    '01': 'Use (12: once)',
    '26.00': 'Scheme',
    '26.01': 'Pix key',
    '26.02': 'Message',
    '26.25': 'Location of the charge',
    '52': 'Category',
    '53': 'Currency (986: real)',
    '54': 'Amount',
    '58': 'Country',
    '59': 'Name of the receiver',
    '60': 'City of the receiver',
    '62.05': 'Identifier (txid)',
    '63': 'Checksum (CRC16)',
    '80.00': 'Scheme',
    '80.25': 'Location of the recurrence',
  },
  open: {
    title: 'Open codes',
    none: 'None yet. Create a charge with the API and it appears here.',
    until: (at) => `until ${at}`,
    fixed: 'static code',
    monthly: 'subscription',
  },
  history: {
    title: 'The payer’s statement',
    none: 'Nothing paid yet.',
    sent: 'Pix sent',
    back: 'Refund received',
  },
  clock: {
    title: 'Clock of the sandbox company',
    text: 'Move time forward to see charges expire, money become available and subscriptions charge. It never goes back.',
    hour: '+1 hour',
    day: '+1 day',
    week: '+1 week',
    month: '+1 month',
    advancing: (target) => `Moving to ${target}…`,
  },
}

export const BANK: Record<Language, BankTexts> = { pt, en }
