import { formatDecimal, toCents } from '../../lib/money.ts'
import { staticCode } from '../../pix/brcode.ts'
import { type CountedDays, type DueTerms, INTEREST_TYPES, type Rate } from '../../pix/due-amount.ts'
import { kindOfTaxId } from '../../pix/tax-id.ts'
import type { ChargeOrder, ChargeRef, Outcome, Payee, Provider, ReceivedPix } from '../port.ts'
import { chargeTxid, staticTxid, txidIn } from '../txid.ts'
import { accept, notAnswered, notDone, type Reply, reject, unsure } from './answers.ts'
import type { AtBank, Bank, Call } from './client.ts'
import { chargeCode } from './codes.ts'
import { listOfCharge, readReceived } from './received.ts'
import {
  cut,
  type Fields,
  fieldsOf,
  listOf,
  readAmount,
  readDay,
  readMoment,
  textOf,
} from './text.ts'

type Charging = Pick<Provider, 'issueCharge' | 'removeCharge' | 'findPaid' | 'issueStaticCode'>
type Issued = Outcome<{ brCode: string }>

export const charging = (at: AtBank): Charging => ({
  issueCharge: (payee, charge) => at(payee, (bank) => issue(bank, payee, charge)),
  removeCharge: (payee, charge) => at(payee, (bank) => remove(bank, charge)),
  findPaid: (payee, charge) => at(payee, (bank) => findPaid(bank, payee, charge)),
  // API Pix has no static codes. The key in the code is all that a payer's bank needs.
  issueStaticCode: async ({ name, city, pixKey: key }, { id, amount }) =>
    accept({ brCode: staticCode({ key, amount, name, city, txid: staticTxid(id) }) }),
})

const call = (method: Call['method'], { id, due }: ChargeRef, body?: unknown): Call => ({
  method,
  resource: due ? 'cobv' : 'cob',
  path: `/${chargeTxid(id)}`,
  ...(body === undefined ? {} : { body }),
})

const find = (bank: Bank, charge: ChargeRef): Promise<Reply> => bank.ask(call('GET', charge))

/**
 * Issues a charge. If the bank refuses or does not answer, it may have the charge from before, so
 * it is asked. Orders again only if there was no answer and the bank does not have the charge, and
 * not before the time that the bank names.
 */
async function issue(bank: Bank, payee: Payee, charge: ChargeOrder): Promise<Issued> {
  const fault = charge.due ? dueFault(bank, charge) : null
  if (fault) return reject(fault)
  const first = await orderOnce(bank, payee, charge)
  const { reply, isMissing } = first
  const isLost = reply.kind === 'unknown' && isMissing && reply.retryAfter_s === undefined
  return (isLost ? await orderOnce(bank, payee, charge) : first).issued
}

const NOT_OFFERED = 'it offers no charges with a due date, so leave out dueDate'

/** Why a charge with a due date cannot be ordered at all. */
function dueFault({ connection: { profile } }: Bank, { payer }: ChargeOrder): string | null {
  if (profile.paths.cobv === null) return NOT_OFFERED
  return payerOf(payer) ? null : 'with dueDate it needs the name and tax id of the payer'
}

/** Whether the bank does not know the place of charges with a due date, or does not open it. */
const isNotOffered = ({ due }: ChargeOrder, reply: Reply): boolean =>
  Boolean(due) &&
  (reply.kind === 'missing' || (reply.kind === 'refused' && reply.status === FORBIDDEN))

const FORBIDDEN = 403

/** The bank's reply to an order, and whether it says that it has no such charge. */
type Ordered = { reply: Reply; issued: Issued; isMissing: boolean }

async function orderOnce(bank: Bank, payee: Payee, charge: ChargeOrder): Promise<Ordered> {
  const reply = await bank.ask(call('PUT', charge, bodyOf(bank, payee, charge)))
  const issued = reply.kind === 'done' ? issuedBy(bank, payee, charge, reply.body) : null
  if (issued?.kind === 'accepted') return { reply, issued, isMissing: false }
  const found = await find(bank, charge)
  const isMissing = found.kind === 'missing'
  if (found.kind === 'done') {
    return { reply, issued: issuedBy(bank, payee, charge, found.body), isMissing }
  }
  if (reply.kind === 'done') return { reply, issued: issued ?? notAnswered(found), isMissing }
  // If the bank allows neither the order nor the question, it has no charge of ours.
  const isForbidden =
    reply.kind === 'refused' && reply.status === FORBIDDEN && found.kind === 'refused'
  if (!isMissing && !isForbidden) return { reply, issued: notAnswered(reply), isMissing }
  const refusal = isNotOffered(charge, reply) ? reject(`${NOT_OFFERED} (${reply.reason})`) : null
  return { reply, issued: refusal ?? notDone(reply), isMissing }
}

const NAME_MAX = 200
const DESCRIPTION_MAX = 140

function bodyOf({ clock }: Bank, { pixKey }: Payee, charge: ChargeOrder) {
  const { amount, expiresAt, payer } = charge
  const left_ms = expiresAt.getTime() - clock.now().getTime()
  const devedor = payerOf(payer)
  const description = cut(charge.description ?? '', DESCRIPTION_MAX)
  return {
    calendario: charge.due
      ? {
          dataDeVencimento: charge.due.terms.dueDate,
          validadeAposVencimento: charge.due.terms.daysAfterDue,
        }
      : { expiracao: Math.max(1, Math.ceil(left_ms / 1000)) },
    ...(devedor ? { devedor } : {}),
    valor: { original: formatDecimal(amount), ...(charge.due && termsOf(charge.due.terms)) },
    chave: pixKey,
    ...(description ? { solicitacaoPagador: description } : {}),
  }
}

/** The payer as a bank gets it; null if there is none, or nothing is left of the name. */
function payerOf(payer: ChargeOrder['payer']) {
  const nome = cut(payer?.name ?? '', NAME_MAX)
  return payer && nome ? { [kindOfTaxId(payer.taxId)]: payer.taxId, nome } : null
}

const rateOf = (modalidade: number, value: number) => ({
  modalidade,
  // Cents and hundredths of a percent are both written with two decimals.
  valorPerc: formatDecimal(toCents(value)),
})
const fixedOrPercent = ({ type, value }: Rate) => rateOf(type === 'FIXED' ? 1 : 2, value)

/** Fine, interest, discount and rebate by the numbers that API Pix gives their kinds. */
function termsOf({ fine, interest, discounts, discountPerDay, rebate }: DueTerms) {
  const isBusiness = (days: CountedDays) => days === 'BUSINESS'
  const entries = discounts?.map(({ until, value }) => ({
    data: until,
    valorPerc: formatDecimal(toCents(value)),
  }))
  const perDay =
    discountPerDay &&
    rateOf(
      (discountPerDay.type === 'FIXED' ? 3 : 5) + (isBusiness(discountPerDay.days) ? 1 : 0),
      discountPerDay.value,
    )
  return {
    ...(fine && { multa: fixedOrPercent(fine) }),
    ...(interest && {
      juros: rateOf(
        INTEREST_TYPES.indexOf(interest.type) + (isBusiness(interest.days) ? 5 : 1),
        interest.value,
      ),
    }),
    ...(rebate && { abatimento: fixedOrPercent(rebate) }),
    ...(entries?.[0] && {
      desconto: {
        modalidade: discounts![0]!.type === 'FIXED' ? 1 : 2,
        descontoDataFixa: entries,
      },
    }),
    ...(perDay && { desconto: perDay }),
  }
}

/**
 * Whether a charge of the bank has other terms than ours. What the bank does not show is not
 * compared, because some leave out what was ordered.
 */
function hasOtherTerms(terms: DueTerms, { calendario, valor }: Fields): boolean {
  const { dataDeVencimento, validadeAposVencimento: days } = fieldsOf(calendario)
  const on = readDay(dataDeVencimento)
  if (on !== null && on !== terms.dueDate) return true
  if (days !== undefined && days !== null && Number(days) !== terms.daysAfterDue) return true
  const [own, found] = [fieldsOf(termsOf(terms)), fieldsOf(valor)]
  return ['multa', 'juros', 'abatimento', 'desconto'].some(
    (name) => Boolean(found[name]) && plainTerm(found[name]) !== plainTerm(own[name]),
  )
}

/** A term in one form, however its numbers are written. A term of zero is none. */
function plainTerm(term: unknown): string {
  const { modalidade, valorPerc, descontoDataFixa } = fieldsOf(term)
  const values = [{ data: '', valorPerc }, ...listOf(descontoDataFixa)]
    .map((one) => ({ on: readDay(one.data) ?? '', value: readAmount(one.valorPerc) ?? 0 }))
    .filter(({ value }) => value > 0)
    .map(({ on, value }) => `${on} ${value}`)
  return values.length > 0 ? [Number(modalidade), ...values.sort()].join(', ') : ''
}

function issuedBy(bank: Bank, payee: Payee, { amount, due }: ChargeOrder, body: Fields): Issued {
  const status = statusOf(body)
  const found = readAmount(fieldsOf(body.valor).original)
  if (found !== null && found !== amount) return reject('a charge of another amount has its id')
  if (due && hasOtherTerms(due.terms, body)) return reject('a charge of other terms has its id')
  if (status === 'removed') return reject('the charge was removed')
  if (status === 'unknown') return unsure('the bank gives the charge a status that is not known')
  const brCode = chargeCode(body, bank.connection.profile.codeFields, payee)
  return brCode ? accept({ brCode }) : unsure('the bank gives no code that can be paid')
}

type Status = 'open' | 'paid' | 'removed' | 'unknown'

function statusOf(body: Fields): Status {
  const status = textOf(body.status) ?? ''
  if (status.startsWith('REMOVIDA')) return 'removed'
  return status === 'ATIVA' ? 'open' : status === 'CONCLUIDA' ? 'paid' : 'unknown'
}

async function remove(bank: Bank, charge: ChargeRef): Promise<Outcome<'removed' | 'paid'>> {
  const order = await bank.ask(call('PATCH', charge, { status: 'REMOVIDA_PELO_USUARIO_RECEBEDOR' }))
  if (order.kind === 'done' || order.kind === 'missing') return accept('removed')
  const found = await find(bank, charge)
  if (found.kind === 'missing') return accept('removed')
  if (found.kind !== 'done') return unsure(order.reason)
  const status = statusOf(found.body)
  if (status === 'removed' || status === 'paid') return accept(status)
  // If the bank does not remove an open charge, it can still be paid.
  return notDone(order)
}

/**
 * If the bank shows no payments with a charge that is not open, its list is asked, because some
 * banks never show them there. If it calls the charge paid, the payment must be somewhere.
 */
async function findPaid(
  bank: Bank,
  payee: Payee,
  charge: ChargeRef,
): Promise<Outcome<ReceivedPix[]>> {
  const { id } = charge
  const found = await find(bank, charge)
  if (found.kind === 'missing') return accept([])
  if (found.kind !== 'done') return notAnswered(found)
  if (!textOf(found.body.status)) return unsure('the answer of the bank is not understood')
  const entries = listOf(found.body.pix)
  if (entries.length > 0) {
    return readReceived(
      bank,
      entries.map((entry) => ({ ...entry, txid: txidIn(entry) ?? chargeTxid(id) })),
    )
  }
  const status = statusOf(found.body)
  if (status === 'open') return accept([])
  const listed = await listOfCharge(bank, payee, id, listStart(bank, found.body))
  const isUnnamed = status === 'paid' && listed.kind === 'accepted' && listed.value.length === 0
  return isUnnamed ? unsure('the bank calls the charge paid and names no payment') : listed
}

const DAY_ms = 86_400_000

/** A day before the charge was created, because the clock of the bank may be wrong by hours. */
function listStart({ clock }: Bank, { calendario }: Fields): Date {
  const created = readMoment(fieldsOf(calendario).criacao)
  return new Date((created ?? clock.now()).getTime() - (created ? 1 : 7) * DAY_ms)
}
