import { nextBusinessDay } from '../../src/pix/business-days.ts'
import type { LocalDate } from '../../src/pix/local-time.ts'
import { addDays, addMonths, daysBetween, localDateOf } from '../../src/pix/local-time.ts'
import { type Answer, type Body, type Handlers, notFound, refuse } from './answers.ts'
import { type Attempt, type Books, type Cobr, type Pix, type Rec, shownChanges } from './books.ts'
import { pixEntry } from './pix.ts'
import { endToEndId, toCents, toText } from './scheme.ts'

const MAX_RETRIES = 3
const RETRIED_FOR_DAYS = 7
const MONTHS = { MENSAL: 1, TRIMESTRAL: 3, SEMESTRAL: 6, ANUAL: 12 }

const invalid = (...reasons: string[]): Answer => refuse(400, 'CobROperacaoInvalida', ...reasons)

export function collections(books: Books): Handlers {
  const found = (txid: string, act: (cobr: Cobr) => Answer): Answer => {
    const cobr = books.cobrs.get(txid)
    return cobr ? act(cobr) : notFound('CobRNaoEncontrado')
  }
  return {
    'PUT /cobr/{txid}': ({ params, body }) => put(books, params.txid!, body),
    'GET /cobr/{txid}': ({ params }) =>
      found(params.txid!, (cobr) => ({ status: 200, body: complete(books, cobr) })),
    'PATCH /cobr/{txid}': ({ params, body }) =>
      found(params.txid!, (cobr) => patch(books, cobr, body)),
    'POST /cobr/{txid}/retentativa/{data}': ({ params }) =>
      found(params.txid!, (cobr) => retry(books, cobr, params.data!)),
  }
}

function put(books: Books, txid: string, body: Body): Answer {
  const faults = faultsOf(books, txid, body)
  if (faults.length > 0) return invalid(...faults)
  const now = books.clock.now()
  const cobr: Cobr = {
    txid,
    recId: body.idRec,
    amount: toCents(body.valor.original),
    account: body.recebedor,
    dueOn: body.calendario.dataDeVencimento,
    adjusted: body.ajusteDiaUtil,
    status: 'CRIADA',
    endedBy: null,
    attempts: [],
    createdAt: now,
    changes: [{ status: 'CRIADA', data: now }],
  }
  const answer = { status: 201, body: generated(books, cobr) }
  books.cobrs.set(txid, cobr)
  // The payer's bank takes it at once, but after it was answered for.
  schedule(books, cobr, cobr.adjusted ? nextBusinessDay(cobr.dueOn) : cobr.dueOn, 'AGND')
  change(books, cobr, 'ATIVA')
  return answer
}

function faultsOf(books: Books, txid: string, body: Body): string[] {
  const { recebedor, calendario, valor } = body
  const rec = books.recs.get(body.idRec)
  const dueOn: LocalDate = calendario.dataDeVencimento
  const ahead = daysBetween(localDateOf(books.clock.now()), dueOn)
  const { number, branch, type } = books.account
  const isOurs =
    recebedor.conta === number &&
    recebedor.tipoConta === type &&
    (recebedor.agencia ?? null) === branch
  return [
    ...(books.cobrs.has(txid) ? ['O campo cobr.txid encontra-se em uso.'] : []),
    ...(rec?.status === 'APROVADA' ? [] : ['A recorrência não está APROVADA.']),
    ...(ahead >= 2 && ahead <= 10 ? [] : ['O vencimento não está entre 2 e 10 dias.']),
    ...(isOurs ? [] : ['A conta não pertence a este usuário recebedor.']),
    ...(rec?.amount == null || rec.amount === toCents(valor.original)
      ? []
      : ['O valor não é o da recorrência.']),
    ...(rec && cycleTaken(books, rec, dueOn) ? ['Existe uma CobR no mesmo ciclo.'] : []),
  ]
}

const cycleTaken = (books: Books, rec: Rec, dueOn: LocalDate): boolean =>
  [...books.cobrs.values()].some(
    (one) =>
      one.recId === rec.id &&
      !['REJEITADA', 'CANCELADA'].includes(one.status) &&
      cycleOf(rec, one.dueOn) === cycleOf(rec, dueOn),
  )

function cycleOf({ startsOn, frequency }: Rec, dueOn: LocalDate): number {
  if (frequency === 'SEMANAL') return Math.floor(daysBetween(startsOn, dueOn) / 7)
  const step = MONTHS[frequency]
  let cycle = 0
  while (addMonths(startsOn, step * (cycle + 1)) <= dueOn) cycle += 1
  return cycle
}

function schedule(books: Books, cobr: Cobr, on: LocalDate, type: Attempt['type']): void {
  const now = books.clock.now()
  const changes = [{ status: 'AGENDADA', data: now }]
  cobr.attempts.push({ on, type, endToEndId: endToEndId('E', now), status: 'AGENDADA', changes })
}

function patch(books: Books, cobr: Cobr, body: Body): Answer {
  if (body.status !== 'CANCELADA') return { status: 200, body: generated(books, cobr) }
  if (!isLive(cobr)) return invalid(`A cobrança está ${cobr.status}.`)
  if (localDateOf(books.clock.now()) >= (cobr.attempts[0]?.on ?? '9999'))
    return invalid('Não é possível cancelar na data da primeira tentativa ou depois dela.')
  cancel(books, cobr, 'USUARIO_RECEBEDOR')
  return { status: 200, body: generated(books, cobr) }
}

const isLive = ({ status }: Cobr): boolean => status === 'CRIADA' || status === 'ATIVA'
const isWaiting = ({ status }: Attempt): boolean => status === 'AGENDADA' || status === 'SOLICITADA'

function cancel(books: Books, cobr: Cobr, by: Cobr['endedBy']): void {
  for (const attempt of cobr.attempts.filter(isWaiting)) mark(books, attempt, 'CANCELADA')
  cobr.endedBy = by
  change(books, cobr, 'CANCELADA')
}

export function cancelScheduled(books: Books, rec: Rec, by: Cobr['endedBy']): void {
  for (const cobr of books.cobrs.values())
    if (cobr.recId === rec.id && isLive(cobr)) cancel(books, cobr, by)
}

function retry(books: Books, cobr: Cobr, on: LocalDate): Answer {
  const rec = books.recs.get(cobr.recId)!
  const today = localDateOf(books.clock.now())
  const faults = [
    ...(cobr.status === 'ATIVA' ? [] : [`A cobrança está ${cobr.status}.`]),
    ...(rec.status === 'APROVADA' ? [] : ['A recorrência não está APROVADA.']),
    ...(cobr.attempts.some(isWaiting) ? ['Existe uma tentativa SOLICITADA ou AGENDADA.'] : []),
    ...(cobr.attempts.some((one) => one.on === on) ? ['Existe uma tentativa para a data.'] : []),
    ...(on > today ? [] : ['O parâmetro data não corresponde a uma data futura.']),
    ...(rec.retries === 'PERMITE_3R_7D' ? [] : ['A política não permite retentativa.']),
    ...(cobr.attempts.length <= MAX_RETRIES ? [] : ['Foram feitas 3 retentativas.']),
    ...(on <= addDays(cobr.dueOn, RETRIED_FOR_DAYS) ? [] : ['Passaram os 7 dias.']),
  ]
  if (faults.length > 0) return invalid(...faults)
  schedule(books, cobr, on, 'NTAG')
  return { status: 201, body: complete(books, cobr) }
}

export type Collected = 'PAGA' | 'REJEITADA' | 'EXPIRADA' | 'CANCELADA'

/** What payers' banks do on a day: every attempt of it comes to its end. */
export function collect(
  books: Books,
  on: LocalDate,
  outcome: (txid: string) => Collected = () => 'PAGA',
): void {
  for (const cobr of books.cobrs.values()) {
    const attempt = cobr.attempts.find((one) => one.on === on && isWaiting(one))
    if (attempt && isLive(cobr)) attempted(books, cobr, attempt, outcome(cobr.txid))
    else if (isLive(cobr) && on > addDays(cobr.dueOn, RETRIED_FOR_DAYS))
      change(books, cobr, 'EXPIRADA')
  }
}

function attempted(books: Books, cobr: Cobr, attempt: Attempt, outcome: Collected): void {
  mark(books, attempt, outcome)
  if (outcome === 'PAGA') books.pix.set(attempt.endToEndId, paymentOf(books, cobr, attempt))
  if (outcome === 'CANCELADA') cancel(books, cobr, 'USUARIO_PAGADOR')
  else change(books, cobr, outcome === 'PAGA' ? 'CONCLUIDA' : afterFailure(books, cobr))
}

/** It stays active while it can be tried again. */
function afterFailure(books: Books, { recId, attempts }: Cobr): Cobr['status'] {
  const { retries } = books.recs.get(recId)!
  return retries === 'NAO_PERMITE' || attempts.length > MAX_RETRIES ? 'EXPIRADA' : 'ATIVA'
}

const paymentOf = (books: Books, { txid, amount }: Cobr, { endToEndId }: Attempt): Pix => ({
  endToEndId,
  txid,
  amount,
  key: null,
  at: books.clock.now(),
})

function mark(books: Books, attempt: Attempt, status: Attempt['status']): void {
  attempt.status = status
  attempt.changes.push({ status, data: books.clock.now() })
}

function change(books: Books, cobr: Cobr, status: Cobr['status']): void {
  if (cobr.status !== status) cobr.changes.push({ status, data: books.clock.now() })
  cobr.status = status
  books.notify('cobr', null, { cobsr: [notified(books, cobr)] })
}

function ended({ status, endedBy }: Cobr): Body {
  if (status !== 'CANCELADA') return {}
  const codigo = endedBy === 'USUARIO_PAGADOR' ? 'SLBD' : 'SLCR'
  const descricao = 'Cancelamento solicitado'
  return { encerramento: { cancelamento: { solicitante: endedBy, codigo, descricao } } }
}

const REJECTED = { codigo: 'AM02', descricao: 'Saldo ou limite insuficiente' }

const shownAttempt = ({ on, type, endToEndId, status, changes }: Attempt): Body => ({
  dataLiquidacao: on,
  tipo: type,
  endToEndId,
  status,
  atualizacao: shownChanges(changes),
  ...(status === 'REJEITADA' ? { rejeicao: REJECTED } : {}),
})

function notified(books: Books, cobr: Cobr): Body {
  const { txid, recId, status, attempts, changes } = cobr
  const pix = [...books.pix.values()].filter((one) => one.txid === txid)
  return {
    idRec: recId,
    txid,
    status,
    atualizacao: shownChanges(changes),
    ...ended(cobr),
    ...(attempts.length > 0 ? { tentativas: attempts.map(shownAttempt) } : {}),
    ...(pix.length > 0 ? { pix: pix.map((one) => pixEntry(books, one)) } : {}),
  }
}

function generated(books: Books, cobr: Cobr): Body {
  const { recId: idRec, txid, status, amount, dueOn, adjusted, account, createdAt } = cobr
  const { cnpj, name: nome } = books.receiver
  return {
    idRec,
    txid,
    status,
    ajusteDiaUtil: adjusted,
    calendario: { criacao: localDateOf(createdAt), dataDeVencimento: dueOn },
    valor: { original: toText(amount) },
    recebedor: { ...account, cnpj, nome },
  }
}

const complete = (books: Books, cobr: Cobr): Body => ({
  ...generated(books, cobr),
  ...notified(books, cobr),
  politicaRetentativa: books.recs.get(cobr.recId)!.retries,
})
