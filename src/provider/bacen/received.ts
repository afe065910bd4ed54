import { idOfSuffix, type Uuid } from '../../lib/ids.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { totalOfParts } from '../../pix/due-amount.ts'
import type {
  BankTransfer,
  Outcome,
  PaidParts,
  Payee,
  Period,
  PixPayer,
  PixReturn,
  Provider,
  ReceivedPix,
  ReturnReason,
} from '../port.ts'
import { chargeTxid, namedBy, txidIn } from '../txid.ts'
import { accept, notAnswered, type Reply, unsure } from './answers.ts'
import type { AtBank, Bank } from './client.ts'
import { datedAt } from './moments.ts'
import { readList } from './pages.ts'
import { type Fields, fieldsOf, listOf, readAmount, textOf } from './text.ts'

type Reading = Pick<Provider, 'findReceived' | 'listReceived' | 'listReturned' | 'listTransfers'>

export const reading = (at: AtBank): Reading => ({
  findReceived: (payee, ids) => at(payee, (bank) => findReceived(bank, payee, ids), 'list'),
  listReceived: (payee, period) =>
    at(payee, (bank) => listIn(bank, payee, period, ({ pix }) => [pix]), 'list'),
  listReturned: (payee, period) =>
    at(payee, (bank) => listIn(bank, payee, period, returnedOnly, RETURNED), 'list'),
  listTransfers: (payee, period) =>
    at(payee, (bank) => listIn(bank, payee, period, transfersOf), 'list'),
})

/** The form of a payment's id. A bank refuses a search for anything else. */
const PAYMENT_ID = /^E[0-9A-Z]{8}\d{12}[A-Za-z0-9]{11}$/
const AT_ONCE = 8

async function findReceived(
  bank: Bank,
  payee: Payee,
  ids: string[],
): Promise<Outcome<ReceivedPix[]>> {
  const asked = [...new Set(ids)].filter((id) => PAYMENT_ID.test(id))
  const found: ReceivedPix[] = []
  for (let i = 0; i < asked.length; i += AT_ONCE) {
    const some = asked.slice(i, i + AT_ONCE)
    const answers = await Promise.all(some.map((id) => findOne(bank, payee, id)))
    for (const answer of answers) {
      if (answer.kind !== 'accepted') return answer
      found.push(...answer.value)
    }
  }
  return accept(found)
}

async function findOne(bank: Bank, payee: Payee, id: string): Promise<Outcome<ReceivedPix[]>> {
  const reply: Reply = await bank.ask({ method: 'GET', resource: 'pix', path: `/${id}` })
  if (reply.kind === 'missing') return accept([])
  if (reply.kind !== 'done') return notAnswered(reply)
  if (reply.body.endToEndId !== id) return unsure('the bank answers with another payment')
  return isOfOtherKey(reply.body, payee) ? accept([]) : readReceived(bank, [reply.body])
}

/** If one payment is not understood, the outcome is unknown, so that no money is missed. */
export function readReceived(bank: Bank, entries: Fields[]): Outcome<ReceivedPix[]> {
  const read = entries.map((entry) => readPix(bank, entry))
  return read.every((pix) => pix !== null)
    ? accept(read)
    : unsure('a payment in the answer of the bank is not understood')
}

/** The ids and amounts that can be recorded. What is beyond them is not understood. */
const ID = /^[\x21-\x7e]{1,64}$/
const MAX_AMOUNT = 999_999_999_999
const isRecordable = (id: string | null, amount: number | null): boolean =>
  id !== null && ID.test(id) && amount !== null && amount > 0 && amount <= MAX_AMOUNT

export function readPix(bank: Bank, entry: Fields): ReceivedPix | null {
  const endToEndId = textOf(entry.endToEndId)
  const amount = readAmount(entry.valor)
  const receivedAt = datedAt(bank, entry.horario, endToEndId ?? '')?.at
  if (!isRecordable(endToEndId, amount) || !receivedAt) return null
  const payer = readPayer(entry)
  const parts = readParts(entry, amount!)
  // If a return is not understood, it is left out, so that the payment is still recorded.
  const returns = returnsOf(entry).flatMap((one) => readReturn(bank, one) ?? [])
  return {
    endToEndId: endToEndId!,
    txid: txidIn(entry),
    amount: amount!,
    receivedAt,
    ...(payer ? { payer } : {}),
    ...(parts ? { parts } : {}),
    ...(returns.length > 0 ? { returns } : {}),
  }
}

/**
 * How the amount came about, of a charge with a due date. Null if the bank does not say, or if its
 * parts do not add up to the amount.
 */
function readParts({ componentesValor }: Fields, amount: Cents): PaidParts | null {
  const given = fieldsOf(componentesValor)
  const partOf = (name: string) =>
    given[name] ? readAmount(fieldsOf(given[name]).valor) : toCents(0)
  const original = readAmount(fieldsOf(given.original).valor)
  const [fine, interest] = [partOf('multa'), partOf('juros')]
  const [discount, rebate] = [partOf('desconto'), partOf('abatimento')]
  if (original === null || fine === null || interest === null) return null
  if (discount === null || rebate === null || discount + rebate >= original) return null
  const parts = { original, fine, interest, discount, rebate }
  return totalOfParts(parts) === amount ? parts : null
}

const MAX_NAME = 255

/** The scheme's document has no field for the payer, but some banks add one. */
function readPayer(entry: Fields): PixPayer | null {
  const extras = fieldsOf(fieldsOf(entry.gnExtras).pagador)
  const found = { ...extras, ...fieldsOf(entry.pagador) }
  const name = textOf(found.nome)?.slice(0, MAX_NAME)
  const taxId = (textOf(found.cpf) ?? textOf(found.cnpj) ?? textOf(found.cpfCnpj))?.slice(0, 18)
  if (!name && !taxId) return null
  return { ...(name ? { name } : {}), ...(taxId ? { taxId } : {}) }
}

const DAY_ms = 86_400_000
/** Banks refuse long periods. The strictest accepts 5 days. */
const SPAN_ms = 4 * DAY_ms
/** A bank may list by another clock than the one that dates its payments. */
const MARGIN_ms = 60_000

type Entry = { pix: ReceivedPix; entry: Fields }
export const NAMELESS = 'an entry without an id'

/**
 * Lists what was received in a period. Banks include or exclude the bounds as they like, so the
 * bank is asked for a little more, and the time of each payment decides. If an entry is not
 * understood, it is set aside, so that the others are not missed.
 */
async function listIn<T>(
  bank: Bank,
  payee: Payee,
  { from, to }: Period,
  take: (entry: Entry) => T[],
  query: Record<string, string> = {},
): Promise<Outcome<T[]>> {
  const all = new Map<string, T[]>()
  const unread = new Set<string>()
  let unasked = 0
  for (let start = from.getTime(); start < to.getTime(); start += SPAN_ms) {
    const end = Math.min(start + SPAN_ms, to.getTime())
    const listed = await readList(bank, {
      resource: 'pix',
      entries: 'pix',
      id: 'endToEndId',
      query,
      ...widened(bank, start, end),
    })
    if (listed.kind !== 'accepted') return listed
    for (const entry of listed.value) {
      const pix = isOfOtherKey(entry, payee) ? null : readPix(bank, entry)
      const isIn = pix !== null && pix.receivedAt >= from && pix.receivedAt < to
      const taken = isIn ? take({ pix, entry }) : []
      if (taken.length > 0) all.set(pix!.endToEndId, taken)
      else unasked += 1
      for (const id of unreadIn(bank, payee, entry)) unread.add(id)
    }
    if (query === RETURNED && unasked > MAX_UNASKED) {
      return unsure('the bank does not list returns alone')
    }
  }
  const value = [...all.values()].flat()
  return unread.size > 0 ? { kind: 'accepted', value, unread: [...unread] } : accept(value)
}

/** The ids of what is not understood in an entry: the payment, or returns of it. */
function unreadIn(bank: Bank, payee: Payee, entry: Fields): string[] {
  if (isOfOtherKey(entry, payee)) return []
  const endToEndId = textOf(entry.endToEndId) ?? NAMELESS
  if (!readPix(bank, entry)) return [endToEndId]
  const returns = returnsOf(entry).filter((one) => readReturn(bank, one) === null)
  return returns.map(({ rtrId }) => textOf(rtrId) ?? endToEndId)
}

/** Lists the payments of one charge since a moment. A bank may list others too. */
export async function listOfCharge(
  bank: Bank,
  payee: Payee,
  id: Uuid,
  from: Date,
): Promise<Outcome<ReceivedPix[]>> {
  const period = { from, to: new Date(bank.clock.now().getTime() + 1) }
  const take = ({ pix }: Entry) => {
    const name = namedBy(pix.txid)
    return name && 'charge' in name && name.charge === id ? [pix] : []
  }
  return listIn(bank, payee, period, take, { txid: chargeTxid(id) })
}

/** Widens a window by the margin, but not into the future. */
function widened(bank: Bank, start: number, end: number): Period {
  const latest = Math.max(end, bank.clock.now().getTime())
  return {
    from: new Date(start - MARGIN_ms),
    to: new Date(Math.min(end + MARGIN_ms, latest)),
  }
}

/** Whether a payment came to another key of the account, which is not the company's. */
function isOfOtherKey(entry: Fields, { pixKey }: Payee): boolean {
  const key = textOf(entry.chave)
  return key !== null && plainKey(key) !== plainKey(pixKey)
}

const plainKey = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '')

/** Asks for payments with returns only. */
const RETURNED = { devolucaoPresente: 'true' }
/** If a bank ignores the question, it lists all payments. So many are read, and no more. */
const MAX_UNASKED = 5_000

const returnedOnly = ({ pix }: Entry): ReceivedPix[] => (pix.returns ? [pix] : [])

/** The transfers of a payment: itself and its returns, which banks list only with it. */
function transfersOf({ pix }: Entry): BankTransfer[] {
  const { endToEndId, txid, amount, receivedAt: at, returns = [] } = pix
  const received = { orderId: null, paymentId: null, txid, amount, at }
  return [
    { direction: 'received', endToEndId, ...received },
    ...returns.map(
      ({ returnId, reason: _, ...one }): BankTransfer => ({
        direction: 'returned',
        endToEndId: returnId,
        paymentId: endToEndId,
        txid: null,
        ...one,
      }),
    ),
  ]
}

/** The returns that are done. */
const returnsOf = (entry: Fields): Fields[] =>
  listOf(entry.devolucoes).filter(({ status }) => status === 'DEVOLVIDO')

const REASONS = new Map<unknown, ReturnReason>([
  ['MED_FRAUDE', 'FRAUD'],
  ['MED_OPERACIONAL', 'OPERATIONAL_FAILURE'],
  ['MED_PIX_AUTOMATICO', 'SUBSCRIPTION_CLAIM'],
])

function readReturn(bank: Bank, entry: Fields): PixReturn | null {
  const { liquidacao, solicitacao } = fieldsOf(entry.horario)
  const returnId = textOf(entry.rtrId)
  const amount = readAmount(entry.valor)
  const at = datedAt(bank, liquidacao ?? solicitacao, returnId ?? '')?.at
  if (!isRecordable(returnId, amount) || !at) return null
  const orderId = idOfSuffix(textOf(entry.id)?.toLowerCase() ?? '')
  return {
    returnId: returnId!,
    orderId,
    amount: amount!,
    at,
    reason: REASONS.get(entry.natureza) ?? 'OTHER',
  }
}
