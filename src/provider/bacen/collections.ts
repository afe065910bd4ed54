import type { Uuid } from '../../lib/ids.ts'
import { formatDecimal } from '../../lib/money.ts'
import type { LocalDate } from '../../pix/local-time.ts'
import type { Attempt, Collection, CollectionOrder, Outcome, Provider } from '../port.ts'
import { chargeTxid } from '../txid.ts'
import { accept, notAnswered, notDone, reject, unsure } from './answers.ts'
import type { AtBank, Bank, Call } from './client.ts'
import { type Fields, fieldsOf, listOf, readDay, textOf } from './text.ts'

type Collecting = Pick<
  Provider,
  'scheduleCollection' | 'findCollection' | 'retryCollection' | 'cancelCollection'
>

export const collecting = (at: AtBank): Collecting => ({
  scheduleCollection: (payee, order) => at(payee, (bank) => schedule(bank, order)),
  findCollection: (payee, id) => at(payee, (bank) => find(bank, id)),
  retryCollection: (payee, id, on) => at(payee, (bank) => retry(bank, id, on)),
  cancelCollection: (payee, id) => at(payee, (bank) => cancel(bank, id)),
})

const call = (method: Call['method'], id: Uuid, rest = '', body?: unknown): Call => ({
  method,
  resource: 'cobr',
  path: `/${chargeTxid(id)}${rest}`,
  ...(body === undefined ? {} : { body }),
})

async function find(bank: Bank, id: Uuid): Promise<Outcome<Collection | null>> {
  const reply = await bank.ask(call('GET', id))
  if (reply.kind === 'missing') return accept(null)
  return reply.kind === 'done' ? collectionOf(reply.body) : notAnswered(reply)
}

const NO_ACCOUNT =
  'the account to collect to is not known; connect the bank again and name it with --account'

async function schedule(bank: Bank, order: CollectionOrder): Promise<Outcome<Collection>> {
  const { account } = bank.connection
  // Unknown instead of rejected, so that the charge waits until the account is known.
  if (!account) return unsure(NO_ACCOUNT)
  const reply = await bank.ask(
    call('PUT', order.id, '', {
      idRec: order.agreement.externalId,
      calendario: { dataDeVencimento: order.dueOn },
      valor: { original: formatDecimal(order.amount) },
      ajusteDiaUtil: true,
      recebedor: {
        conta: account.number,
        tipoConta: account.type,
        ...(account.branch === null ? {} : { agencia: account.branch }),
      },
    }),
  )
  const scheduled = reply.kind === 'done' ? collectionOf(reply.body) : null
  if (scheduled?.kind === 'accepted') return scheduled
  const found = await find(bank, order.id)
  if (found.kind !== 'accepted') return unsure(reply.kind === 'done' ? found.reason : reply.reason)
  if (found.value) return accept(found.value)
  return reply.kind === 'done' ? unsure('the bank does not show the collection') : notDone(reply)
}

/** Orders another attempt. If the bank refuses the day, it may have that attempt already. */
async function retry(bank: Bank, id: Uuid, on: LocalDate): Promise<Outcome<Collection>> {
  const reply = await bank.ask(call('POST', id, `/retentativa/${on}`))
  const isThere = (collection: Collection) => collection.attempts.some((one) => one.on === on)
  const retried = reply.kind === 'done' ? collectionOf(reply.body) : null
  if (retried?.kind === 'accepted' && isThere(retried.value)) return retried
  const found = await find(bank, id)
  if (found.kind !== 'accepted') return unsure(reply.kind === 'done' ? found.reason : reply.reason)
  if (found.value === null) return reject('the bank knows no such collection')
  if (isThere(found.value)) return accept(found.value)
  return reply.kind === 'done' ? unsure('the bank does not show the attempt') : notDone(reply)
}

async function cancel(bank: Bank, id: Uuid): Promise<Outcome<Collection>> {
  const reply = await bank.ask(call('PATCH', id, '', { status: 'CANCELADA' }))
  const canceled = reply.kind === 'done' ? collectionOf(reply.body) : null
  if (canceled?.kind === 'accepted' && canceled.value.status === 'CANCELED') return canceled
  const found = await find(bank, id)
  if (found.kind !== 'accepted') return unsure(reply.kind === 'done' ? found.reason : reply.reason)
  if (found.value === null) return reject('the bank knows no such collection')
  const { status } = found.value
  if (status === 'CANCELED') return accept(found.value)
  if (status === 'PAID') return reject('the collection is PAID')
  return reply.kind === 'done' ? unsure('the bank is still processing it') : notDone(reply)
}

/** Reads a collection. It has an attempt, unless it was canceled. */
export function collectionOf(body: Fields): Outcome<Collection> {
  const attempts = attemptsIn(body)
  if (attempts === null) return unsure('the bank does not say when it collects')
  const paid = attempts.some(({ status }) => status === 'PAID')
  switch (paid ? 'CONCLUIDA' : body.status) {
    case 'CONCLUIDA':
      return paidCollection(body, attempts)
    case 'CANCELADA':
      return accept({ status: 'CANCELED', attempts: madeIn(body, attempts) })
    case 'EXPIRADA':
    case 'REJEITADA':
      return accept({ status: 'FAILED', attempts: attempts.map(endedAttempt) })
    case 'CRIADA':
    case 'ATIVA':
      return accept({
        status: attempts.at(-1)!.status === 'FAILED' ? 'FAILED' : 'SCHEDULED',
        attempts,
      })
    default:
      return unsure('the bank gives the collection a status that is not known')
  }
}

/** The id of the payment is in its attempt, or in the list of payments. */
function paidCollection(body: Fields, attempts: Attempt[]): Outcome<Collection> {
  if (attempts.some(({ status }) => status === 'PAID')) return accept({ status: 'PAID', attempts })
  const endToEndId = textOf(listOf(body.pix)[0]?.endToEndId)
  if (!endToEndId) return unsure('the bank does not name the payment yet')
  const last: Attempt = { on: attempts.at(-1)!.on, status: 'PAID', endToEndId }
  return accept({ status: 'PAID', attempts: [...attempts.slice(0, -1), last] })
}

const endedAttempt = (attempt: Attempt): Attempt =>
  attempt.status === 'SCHEDULED' ? { ...attempt, status: 'FAILED' } : attempt

/** The attempts of a canceled collection that were made. */
function madeIn(body: Fields, attempts: Attempt[]): Attempt[] {
  const made = listOf(body.tentativas).filter(({ status }) => MADE.has(status))
  const days = new Set(made.map(({ dataLiquidacao }) => readDay(dataLiquidacao)))
  return attempts.filter(({ on }) => days.has(on))
}

const MADE = new Set<unknown>(['PAGA', 'REJEITADA', 'EXPIRADA'])
const FAILED = new Set<unknown>(['CANCELADA', 'REJEITADA', 'EXPIRADA'])
const RANK = { PAID: 2, SCHEDULED: 1, FAILED: 0 }

/**
 * The attempts in the order of their days, one a day. If the bank names none, there is one on the
 * due day. Null when the bank does not name that day either.
 */
function attemptsIn(body: Fields): Attempt[] | null {
  const dueOn = readDay(fieldsOf(body.calendario).dataDeVencimento)
  const days = new Map<LocalDate, Attempt>()
  for (const entry of listOf(body.tentativas)) {
    const attempt = attemptOf(entry, dueOn)
    if (attempt === null) return null
    const known = days.get(attempt.on)
    if (!known || RANK[attempt.status] > RANK[known.status]) days.set(attempt.on, attempt)
  }
  const attempts = [...days.values()].sort((a, b) => (a.on < b.on ? -1 : 1))
  if (attempts.length > 0) return attempts
  return dueOn === null ? null : [{ on: dueOn, status: 'SCHEDULED', endToEndId: null }]
}

/** An attempt with an unknown status counts as scheduled. */
function attemptOf(entry: Fields, dueOn: LocalDate | null): Attempt | null {
  const on = readDay(entry.dataLiquidacao) ?? dueOn
  const endToEndId = textOf(entry.endToEndId)
  if (on === null) return null
  if (entry.status === 'PAGA' && endToEndId) return { on, status: 'PAID', endToEndId }
  return { on, status: FAILED.has(entry.status) ? 'FAILED' : 'SCHEDULED', endToEndId: null }
}
