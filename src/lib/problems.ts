import type { Language } from './language.ts'
import { RULES } from './problem-rules.ts'
import { SENTENCES } from './problem-sentences.ts'
import { createTranslator } from './translation.ts'

/**
 * The error catalogue: each code with its status and its summary in English and in Portuguese.
 * Every answer that is not a success carries one of these codes; the reference page is generated
 * from here, and a code that is not here cannot be thrown.
 */
export const CATALOGUE = {
  invalid_json: [400, 'The body is not valid JSON.', 'O corpo não é um JSON válido.'],
  invalid_value: [
    400,
    'A field is missing or breaks its rule. Up to 20 violations are listed.',
    'Um campo falta ou não segue a sua regra. Até 20 violações são listadas.',
  ],
  invalid_api_version: [
    400,
    'X-Api-Version names no published version.',
    'X-Api-Version não é uma versão publicada.',
  ],
  unknown_placeholder: [
    400,
    'A text has a placeholder in braces that letters do not know.',
    'Um texto tem entre chaves um campo que os e-mails não conhecem.',
  ],
  charge_not_dev_mode: [
    400,
    'Only charges created with devMode=true can be paid by simulation.',
    'Só cobranças criadas com devMode=true podem ser pagas por simulação.',
  ],
  otp_invalid: [400, 'The one-time code is wrong.', 'O código de uso único está errado.'],
  missing_api_key: [
    401,
    'The request has no X-API-KEY header.',
    'A requisição não tem o cabeçalho X-API-KEY.',
  ],
  invalid_api_key: [
    401,
    'The API key is unknown or revoked.',
    'A chave de API é desconhecida ou foi revogada.',
  ],
  insufficient_scope: [
    403,
    'The API key lacks the scope that this operation needs.',
    'A chave não tem a permissão que esta operação exige.',
  ],
  company_suspended: [
    403,
    'The operator has suspended the company: it can read, and change nothing.',
    'A empresa está suspensa e só pode consultar dados.',
  ],
  client_certificate_required: [
    403,
    'The client certificate of a bank is missing.',
    'Falta o certificado de cliente do banco.',
  ],
  route_not_found: [
    404,
    'No operation has this method and path.',
    'Nenhuma operação tem este método e caminho.',
  ],
  charge_not_found: [
    404,
    'The company has no charge with this id.',
    'A empresa não tem cobrança com este id.',
  ],
  plan_not_found: [
    404,
    'The company has no plan with this id.',
    'A empresa não tem carnê com este id.',
  ],
  link_not_found: [
    404,
    'The company has no link with this id.',
    'A empresa não tem link com este id.',
  ],
  customer_not_found: [
    404,
    'The company has no customer with this id.',
    'A empresa não tem cliente com este id.',
  ],
  product_not_found: [
    404,
    'The company has no product with this id.',
    'A empresa não tem produto com este id.',
  ],
  webhook_not_found: [
    404,
    'The company has no webhook with this id.',
    'A empresa não tem webhook com este id.',
  ],
  event_not_found: [
    404,
    'The company has no event with this id.',
    'A empresa não tem evento com este id.',
  ],
  recurrence_not_found: [
    404,
    'The company has no subscription with this id.',
    'A empresa não tem assinatura com este id.',
  ],
  payment_not_found: [
    404,
    'The company has no unmatched payment with this id.',
    'A empresa não tem Pix sem cobrança com este ID.',
  ],
  dispute_not_found: [
    404,
    'The company has no dispute with this id.',
    'A empresa não tem disputa com este id.',
  ],
  withdrawal_not_found: [
    404,
    'The company has no withdrawal with this id.',
    'A empresa não tem saque com este id.',
  ],
  recipient_not_found: [
    404,
    'The company has no recipient with this id.',
    'A empresa não tem recebedor com este id.',
  ],
  clock_not_found: [
    404,
    'Only a sandbox company has a test clock.',
    'Só uma empresa de testes tem relógio de testes.',
  ],
  sandbox_only: [
    404,
    'Only a sandbox company has this operation: it moves play money.',
    'Só uma empresa de testes (sandbox) tem esta operação.',
  ],
  charge_not_payable: [
    409,
    'The charge is final: paid, expired or canceled.',
    'A cobrança já terminou: paga, expirada ou cancelada.',
  ],
  charge_without_code: [
    409,
    'The charge has no Pix code: its link was not opened yet, or a subscription collects it.',
    'A cobrança não tem código Pix: o link ainda não foi aberto, ou uma assinatura a cobra.',
  ],
  plan_not_cancelable: [
    409,
    'Nothing of the plan can be canceled: all is paid or expired.',
    'Nada do carnê pode ser cancelado: tudo já foi pago ou expirou.',
  ],
  link_closed: [
    409,
    'The link sells nothing now: it is off, has ended or is sold out.',
    'O link não vende agora: está desligado, encerrado ou esgotado.',
  ],
  link_changed: [
    409,
    'The link costs something else than was shown.',
    'O link custa outro valor do que foi mostrado.',
  ],
  withdrawal_pending: [
    409,
    'A withdrawal is waiting for its one-time code.',
    'Um saque aguarda o seu código de uso único.',
  ],
  idempotency_in_progress: [
    409,
    'The first request with this Idempotency-Key is still running.',
    'A primeira requisição com esta Idempotency-Key ainda está em andamento.',
  ],
  withdrawal_not_confirmable: [
    409,
    'The withdrawal no longer waits for its one-time code.',
    'O saque não aguarda mais o código.',
  ],
  withdrawal_not_approvable: [
    409,
    'The withdrawal waits for no approval of this person.',
    'O saque não aguarda a aprovação desta pessoa.',
  ],
  refund_not_possible: [
    409,
    'The charge cannot be refunded by this value.',
    'A cobrança não pode ser devolvida neste valor.',
  ],
  dispute_not_open: [
    409,
    'The dispute has ended, was defended, or its deadline is over.',
    'A disputa já terminou, já foi respondida ou passou do prazo.',
  ],
  payment_not_unmatched: [
    409,
    'The payment was already accepted or refunded.',
    'Você já ficou com o valor deste pagamento ou já o devolveu.',
  ],
  charge_not_settleable: [
    409,
    'Only a charge that is OPEN or EXPIRED can be settled.',
    'Só uma cobrança em aberto ou expirada pode ser quitada.',
  ],
  charge_in_collection: [
    409,
    'The payer’s bank is collecting the charge of a subscription, so it cannot be settled.',
    'O banco do pagador está cobrando esta cobrança da assinatura.',
  ],
  payment_of_other_source: [
    409,
    'Test payments settle test charges, and real ones real charges.',
    'Pagamentos de teste quitam cobranças de teste, e os reais, cobranças reais.',
  ],
  recurrence_not_cancelable: [
    409,
    'The subscription has already ended.',
    'A assinatura já terminou.',
  ],
  clock_advancing: [
    409,
    'The clock is still on its way to where it was moved before.',
    'O relógio ainda está a caminho do horário anterior.',
  ],
  recurrence_not_decidable: [
    409,
    'The payer can no longer decide so on the subscription.',
    'O pagador não pode mais decidir assim sobre a assinatura.',
  ],
  books_differ: [
    409,
    'The audit found a difference between the books and the bank. Ask the operator.',
    'A conferência encontrou uma diferença entre os registros e o banco.',
  ],
  bank_changed: [
    409,
    'The bank connection was changed meanwhile. Look at it, and try again.',
    'A conexão com o banco foi alterada enquanto o pedido esperava.',
  ],
  recipient_key_changed: [
    409,
    'The Pix key of the recipient was changed less than a day ago. Payouts to it wait until then.',
    'A chave Pix do recebedor foi alterada há menos de um dia.',
  ],
  otp_expired: [410, 'The one-time code has expired.', 'O código de uso único expirou.'],
  payload_too_large: [413, 'The body is larger than 64 KiB.', 'O corpo tem mais de 64 KiB.'],
  unsupported_media_type: [
    415,
    'The body is not sent as application/json.',
    'O corpo não foi enviado como application/json.',
  ],
  idempotency_key_reused: [
    422,
    'The Idempotency-Key was first used for another request.',
    'A Idempotency-Key já foi usada em outra requisição.',
  ],
  insufficient_balance: [
    422,
    'The available balance is smaller than the value.',
    'O saldo disponível é menor que o valor.',
  ],
  sales_limit_exceeded: [
    422,
    'The monthly limit for static codes would be exceeded.',
    'O limite mensal dos códigos estáticos seria ultrapassado.',
  ],
  sandbox_limit_exceeded: [
    422,
    'The simulated bank pays no more: a sandbox company holds at most R$ 100 billion. Withdraw some of it.',
    'O banco simulado não paga mais: a empresa de testes tem R$ 100 bilhões.',
  ],
  webhook_limit_exceeded: [
    422,
    'The company has as many webhooks as it may have.',
    'A empresa já tem o máximo de webhooks.',
  ],
  product_not_recurring: [
    422,
    'The product is not of type RECURRING.',
    'O produto não é do tipo RECURRING.',
  ],
  provider_rejected: [
    422,
    'The bank refuses the order. The description has its reason.',
    'O banco recusou a ordem.',
  ],
  rate_limited: [
    429,
    'Too many requests. Retry-After says when to go on.',
    'Requisições demais em pouco tempo. Retry-After diz quando continuar.',
  ],
  headers_too_large: [
    431,
    'The request headers are larger than 16 KiB.',
    'Os cabeçalhos têm mais de 16 KiB.',
  ],
  internal_error: [
    500,
    'A fault of ours. The request id finds it in the log.',
    'Uma falha nossa. O id da requisição a encontra no registro.',
  ],
  provider_unavailable: [
    503,
    'The bank cannot be reached, or none is connected.',
    'O banco não responde, ou nenhum está conectado.',
  ],
  service_unavailable: [
    503,
    'The database cannot be reached, or too many requests wait. Retry with the same Idempotency-Key.',
    'O banco de dados não responde, ou há requisições demais na fila.',
  ],
} as const satisfies Record<string, readonly [status: number, en: string, pt: string]>

export type ProblemCode = keyof typeof CATALOGUE

export type ErrorItem = { code: ProblemCode; description: string; withdrawId?: string }

/** At most this many violations are listed; the message counts all of them. */
export const MAX_LISTED = 20

/** How many more fields are invalid than the one that a message tells. */
const MORE: Record<Language, (more: number) => string> = {
  en: (more) => `, and ${more === 1 ? '1 more field is' : `${more} more fields are`} invalid`,
  pt: (more) => `, e mais ${more === 1 ? '1 campo é inválido' : `${more} campos são inválidos`}`,
}

/** The first violation, because most clients show the message only, and how many more there are. */
const summarize = (first: string, more: number, language: Language): string =>
  more === 0 ? first : first.replace(/\.$/, '') + MORE[language](more)

/** What cannot be served now can usually be served soon. */
const RETRY_SOON = { 'Retry-After': '1' }

/**
 * An expected failure: thrown anywhere, rendered once at the edge. It has no stack, because its
 * code says what happened, and recording a stack is a large part of the cost of a refusal.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly items: ErrorItem[]
  readonly headers: Record<string, string>
  /** How many violations there are beside the first. */
  readonly more: number

  constructor(items: [ErrorItem, ...ErrorItem[]], headers?: Record<string, string>) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(summarize(items[0].description, items.length - 1, 'en'))
    Error.stackTraceLimit = stackTraceLimit
    this.code = items[0].code
    this.status = CATALOGUE[this.code][0]
    this.items = items.slice(0, MAX_LISTED)
    this.more = items.length - 1
    this.headers = headers ?? (this.code === 'service_unavailable' ? RETRY_SOON : {})
  }
}

export function problem(
  code: ProblemCode,
  description: string = CATALOGUE[code][1],
  headers?: Record<string, string>,
): Problem {
  return new Problem([{ code, description }], headers)
}

/** One violation a line, each starting with the path of its field. */
export const invalid = (first: string, ...others: string[]): Problem =>
  allInvalid([first, ...others])

/** The same for a list that may be long. */
export function allInvalid([first, ...others]: [string, ...string[]]): Problem {
  const item = (description: string): ErrorItem => ({ code: 'invalid_value', description })
  return new Problem([item(first), ...others.map(item)])
}

/** What a client is told of a problem. */
export type Failure = Pick<Problem, 'status' | 'code' | 'message' | 'items'>

/** A description may begin with the path of its field. */
const WITH_PATH = /^(\S+: )(.+)$/s

const SUMMARIES: Record<string, string> = Object.fromEntries(
  Object.values(CATALOGUE).map(([, en, pt]) => [en, pt]),
)

/** Made when it is first asked for, because most clients never do. */
let translate: ((text: string) => string | null) | null = null

/** A description in Portuguese. What is not ours, such as the reason of a bank, stays as it is. */
export function inPortuguese(description: string): string {
  translate ??= createTranslator({ ...SUMMARIES, ...SENTENCES, ...RULES })
  const known = translate(description)
  if (known !== null) return known
  const [, path = '', rule = description] = WITH_PATH.exec(description) ?? []
  return path + (translate(rule) ?? rule)
}

/** Violations in a language. Codes and fields are the same in all. */
export const itemsIn = (items: ErrorItem[], language: Language): ErrorItem[] =>
  language === 'en'
    ? items
    : items.map((item) => ({ ...item, description: inPortuguese(item.description) }))

/** A problem in the language that its reader asks for. */
export function failureIn(problem: Problem, language: Language): Failure {
  if (language === 'en') return problem
  const { status, code, more } = problem
  const items = itemsIn(problem.items, language)
  return { status, code, items, message: summarize(items[0]!.description, more, language) }
}
