import {
  type Answer,
  type Body,
  backward,
  type Handlers,
  notFound,
  pageOf,
  refuse,
  within,
} from './answers.ts'
import { type Books, type Parts, type Pix, type Refund, refundsOf } from './books.ts'
import type { Params } from './document.ts'
import { endToEndId, toCents, toText, unique } from './scheme.ts'

const REFUNDABLE_ms = 90 * 86_400_000
const invalid = (...reasons: string[]): Answer => refuse(400, 'PixDevolucaoInvalida', ...reasons)

export function received(books: Books): Handlers {
  return {
    'GET /pix': ({ query }) => list(books, query),
    'GET /pix/{e2eid}': ({ params }) => {
      const pix = books.pix.get(params.e2eid!)
      return pix ? { status: 200, body: pixEntry(books, pix) } : notFound('PixNaoEncontrado')
    },
    'PUT /pix/{e2eid}/devolucao/{id}': ({ params, body }) =>
      refund(books, params.e2eid!, params.id!, body),
    'GET /pix/{e2eid}/devolucao/{id}': ({ params }) => {
      const found = refundsOf(books, params.e2eid!).find(({ id }) => id === params.id)
      return found ? { status: 200, body: shown(found) } : notFound('PixDevolucaoNaoEncontrada')
    },
  }
}

function list(books: Books, query: Params): Answer {
  if (backward(query)) return refuse(400, 'PixConsultaInvalida', 'fim é anterior a inicio')
  const { lists, mostPerPage, returns } = books.style
  if (query.devolucaoPresente && returns === 'refused')
    return refuse(400, 'PixConsultaInvalida', 'devolucaoPresente não é aceito')
  const end_ms = Date.parse(query.fim!)
  const found = [...books.pix.values()].filter((pix) => {
    if (!within(pix.at, query) || (lists === 'exclusive' && pix.at.getTime() === end_ms))
      return false
    if (query.txid && pix.txid !== query.txid) return false
    if (query.txIdPresente && (pix.txid !== null) !== (query.txIdPresente === 'true')) return false
    const returned = refundsOf(books, pix.endToEndId).length > 0
    if (!query.devolucaoPresente || returns === 'ignored') return true
    return returned === (query.devolucaoPresente === 'true')
  })
  found.sort((a, b) => a.at.getTime() - b.at.getTime())
  const { parametros, page } = pageOf(found, query, mostPerPage)
  return { status: 200, body: { parametros, pix: page.map((one) => pixEntry(books, one)) } }
}

/** A Pix as every answer and every callback shows it. */
export function pixEntry(books: Books, pix: Pix): Body {
  const { endToEndId, txid, amount, key, at, parts, extras } = pix
  const returned = refundsOf(books, endToEndId)
  return {
    endToEndId,
    ...(txid === null ? {} : { txid }),
    valor: toText(amount),
    ...(key === null ? {} : { chave: key }),
    horario: at.toISOString(),
    ...(parts && books.style.namesParts ? { componentesValor: shownParts(parts) } : {}),
    ...extras,
    ...(returned.length > 0 ? { devolucoes: returned.map(shown) } : {}),
  }
}

/** The parts that are not zero. The original is always there. */
const shownParts = (parts: Parts): Body =>
  Object.fromEntries(
    Object.entries(parts)
      .filter(([name, cents]) => name === 'original' || cents > 0)
      .map(([name, cents]) => [name, { valor: toText(cents) }]),
  )

const shown = (refund: Refund): Body => ({
  id: refund.id,
  rtrId: refund.returnId,
  valor: toText(refund.amount),
  natureza: refund.nature ?? 'ORIGINAL',
  ...(refund.message ? { descricao: refund.message } : {}),
  status: refund.status,
  horario: {
    solicitacao: refund.askedAt.toISOString(),
    ...(refund.doneAt ? { liquidacao: refund.doneAt.toISOString() } : {}),
  },
  ...(refund.status === 'NAO_REALIZADO' ? { motivo: 'A conta do pagador foi encerrada.' } : {}),
})

function refund(books: Books, endToEnd: string, id: string, body: Body): Answer {
  const amount = toCents(body.valor)
  const pix = books.pix.get(endToEnd)
  if (!pix) return notFound('PixNaoEncontrado')
  const before = refundsOf(books, endToEnd)
  if (before.some((one) => one.id === id)) return invalid('O {id} já foi utilizado.')
  const returned = before
    .filter(({ status }) => status !== 'NAO_REALIZADO')
    .reduce((sum, one) => sum + one.amount, 0)
  if (amount === 0) return invalid('O campo devolucao.valor é zero.')
  if (returned + amount > pix.amount) return invalid('Excederia o valor do pix originário.')
  const now = books.clock.now()
  if (now.getTime() - pix.at.getTime() > REFUNDABLE_ms)
    return invalid('Viola a janela de tempo permitida para devoluções.')
  const open: Refund = {
    id,
    endToEndId: endToEnd,
    returnId: endToEndId('D', now),
    amount,
    askedAt: now,
    doneAt: null,
    message: body.descricao ?? null,
    status: 'EM_PROCESSAMENTO',
  }
  books.refunds.push(open)
  if (books.refunding !== 'later') finish(books, open, books.refunding !== 'refused')
  return { status: 201, body: shown(open) }
}

function finish(books: Books, refund: Refund, isDone: boolean): void {
  refund.status = isDone ? 'DEVOLVIDO' : 'NAO_REALIZADO'
  if (isDone) refund.doneAt = books.clock.now()
  notifyPix(books, [books.pix.get(refund.endToEndId)!])
}

/** Comes to an end with the refunds that are being processed. */
export function finishRefunds(books: Books, isDone = true): void {
  for (const refund of books.refunds)
    if (refund.status === 'EM_PROCESSAMENTO') finish(books, refund, isDone)
}

export type Claim = { amount?: number; nature?: string }

/** Returns a payment without an order, all that is left of it unless an amount is given. */
export function returnByItself(books: Books, endToEnd: string, claim: Claim = {}): Refund {
  const pix = books.pix.get(endToEnd)
  if (!pix) throw new Error('the bank has no such payment')
  const [now, before] = [books.clock.now(), refundsOf(books, endToEnd)]
  const done = before.filter(({ status }) => status !== 'NAO_REALIZADO')
  const left = pix.amount - done.reduce((sum, { amount }) => sum + amount, 0)
  const { amount = left, nature = 'MED_FRAUDE' } = claim
  const open: Refund = {
    id: `med${unique(12)}`,
    endToEndId: endToEnd,
    returnId: endToEndId('D', now),
    amount,
    nature,
    askedAt: now,
    doneAt: null,
    status: 'EM_PROCESSAMENTO',
  }
  books.refunds.push(open)
  finish(books, open, true)
  return open
}

/** Sends callbacks only for payments with a txid, to the receiver that registered for the key. */
export function notifyPix(books: Books, pix: Pix[]): void {
  const reported = pix.filter(({ txid, key }) => txid !== null && key !== null)
  for (const key of new Set(reported.map((one) => one.key)))
    books.notify('pix', key, {
      pix: reported.filter((one) => one.key === key).map((one) => pixEntry(books, one)),
    })
}
