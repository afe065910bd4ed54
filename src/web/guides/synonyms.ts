/**
 * Words that people use for the same, in Portuguese and in English, without accents and capitals.
 * The words that our pages use are among them, because a search for any of them finds all.
 */
const SAME: string[][] = [
  ['estorno', 'estornar', 'reembolso', 'reembolsar', 'devolucao', 'devolver', 'refund'],
  ['chargeback', 'contestacao', 'disputa', 'dispute', 'fraude', 'golpe', 'infracao'],
  ['vencimento', 'boleto', 'bolepix', 'duplicata', 'due date', 'prazo'],
  ['multa', 'juros', 'mora', 'fine', 'interest', 'late fee'],
  ['desconto', 'abatimento', 'discount', 'rebate'],
  ['assinatura', 'mensalidade', 'recorrencia', 'recorrente', 'subscription', 'recurrence'],
  ['debito automatico', 'pix automatico'],
  ['parcela', 'parcelamento', 'carne', 'prestacao', 'instalment', 'installment', 'plan'],
  ['lote', 'planilha', 'batch', 'csv'],
  ['cobranca', 'fatura', 'charge', 'invoice'],
  ['pagador', 'comprador', 'payer'],
  ['cliente', 'customer'],
  ['link de pagamento', 'payment link', 'checkout'],
  ['qrcode', 'qr code', 'copia e cola', 'brcode'],
  ['saque', 'sacar', 'retirada', 'withdrawal', 'withdraw'],
  ['repasse', 'split', 'divisao', 'comissao', 'marketplace', 'recebedor', 'recipient', 'payout'],
  ['saldo', 'balance'],
  ['extrato', 'statement', 'conciliacao', 'reconciliation'],
  ['livro-razao', 'razao', 'contabilidade', 'ledger', 'posting'],
  ['fechamento', 'relatorio', 'closing', 'report', 'figures'],
  ['aviso', 'notificacao', 'webhook', 'callback', 'notification'],
  ['assinar', 'signature', 'hmac', 'verify', 'conferir'],
  ['evento', 'event'],
  ['entrega', 'reenvio', 'delivery', 'redeliver', 'replay', 'retry'],
  ['lembrete', 'regua de cobranca', 'reminder'],
  ['painel', 'dashboard'],
  ['teste', 'homologacao', 'sandbox', 'testing', 'simulado'],
  ['relogio', 'clock'],
  ['producao', 'go live', 'go-live', 'no ar'],
  ['chave de api', 'api key', 'token', 'x-api-key'],
  ['chave pix', 'pix key'],
  ['permissao', 'escopo', 'scope', 'role', 'funcao'],
  ['banco', 'bank', 'psp'],
  ['certificado', 'certificate', 'mtls'],
  ['limite', 'cota', 'limit', 'quota', 'rate_limited', '429'],
  ['erro', 'falha', 'error'],
  ['idempotencia', 'idempotency', 'duplicado', 'duplicate'],
  ['navegador', 'browser', 'cors', 'frontend', 'front-end'],
  ['biblioteca', 'client', 'sdk'],
  ['linha de comando', 'terminal', 'command line', 'cli'],
  ['instalacao', 'instalar', 'install', 'implantacao', 'deploy'],
  ['copia de seguranca', 'backup', 'restaurar', 'restore'],
  ['migracao', 'migrar', 'coming from', 'abacatepay', 'woovi', 'stripe'],
  ['agente', 'inteligencia artificial', 'agent', 'mcp'],
  ['glossario', 'glossary', 'significa', 'termos'],
  ['duvida', 'pergunta', 'faq', 'question'],
  ['frete', 'endereco de entrega', 'shipping'],
  ['cpf', 'cnpj', 'documento', 'tax id', 'taxid'],
  ['dado pessoal', 'lgpd', 'privacidade', 'erase', 'payer data', 'privacy'],
  ['conta', 'empresa', 'company', 'account'],
  ['valor', 'centavos', 'amount', 'cents'],
]

/** A word that is still being typed is known from so many letters on. */
const FROM = 4
/** A plural has so many letters more. */
const PLURAL = 2

/** How a word ends in its plural, and in its singular. */
const SINGULAR: [plural: RegExp, singular: string][] = [
  [/oes$/, 'ao'],
  [/ais$/, 'al'],
  [/eis$/, 'el'],
  [/ens$/, 'em'],
]

const isForm = (word: string, of: string): boolean =>
  (word.length >= FROM && of.startsWith(word)) ||
  (word.startsWith(of) && word.length - of.length <= PLURAL && of.length >= FROM) ||
  word === of

/** The groups of words that mean the same as this word, which is folded already. */
export function groupsOf(word: string): number[] {
  const forms = [word, ...SINGULAR.map(([plural, singular]) => word.replace(plural, singular))]
  return SAME.flatMap((group, i) =>
    group.some((of) => forms.some((form) => isForm(form, of))) ? [i] : [],
  )
}

/** So short a word is part of many others, so it is looked for as a whole. */
const SHORT = 4

/** An expression for the words of a group, each from its beginning. */
export const patternOf = (group: number): string =>
  `(?<![a-z0-9])(?:${SAME[group]!.map((word) =>
    word.length > SHORT ? word : `${word}s?(?![a-z0-9])`,
  ).join('|')})`
