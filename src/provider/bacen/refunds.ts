import { suffixOf } from '../../lib/ids.ts'
import { formatDecimal } from '../../lib/money.ts'
import type { Outcome, Provider, RefundOrder, Returned } from '../port.ts'
import { accept, notAnswered, notDone, reject, unsure } from './answers.ts'
import type { AtBank, Bank, Call } from './client.ts'
import { cut, type Fields, plainWords, readAmount, textOf } from './text.ts'

type Refunding = Pick<Provider, 'refund' | 'findRefund'>

export const refunding = (at: AtBank): Refunding => ({
  refund: (payee, order) => at(payee, (bank) => refund(bank, order)),
  findRefund: (payee, order) => at(payee, (bank) => find(bank, order)),
})

const addressOf = ({ id, endToEndId }: RefundOrder): Pick<Call, 'resource' | 'path'> => ({
  resource: 'pix',
  path: `/${encodeURIComponent(endToEndId)}/devolucao/${suffixOf(id)}`,
})

const COMMENT_MAX = 140

/** Orders a refund. If the bank refuses or does not answer, it may have it already, so asks. */
async function refund(bank: Bank, order: RefundOrder): Promise<Outcome<Returned>> {
  const comment = cut(order.comment ?? '', COMMENT_MAX)
  const body = { valor: formatDecimal(order.amount), ...(comment ? { descricao: comment } : {}) }
  const reply = await bank.ask({ method: 'PUT', ...addressOf(order), body })
  if (reply.kind === 'done') return returnedBy(order, reply.body)
  const found = await find(bank, order)
  if (found.kind !== 'accepted') return found
  return found.value === null ? notDone(reply) : accept(found.value)
}

/** If the bank refuses to answer, the outcome is unknown, because the refund may be done. */
async function find(bank: Bank, order: RefundOrder): Promise<Outcome<Returned | null>> {
  const reply = await bank.ask({ method: 'GET', ...addressOf(order) })
  if (reply.kind === 'missing') return accept(null)
  return reply.kind === 'done' ? returnedBy(order, reply.body) : notAnswered(reply)
}

function returnedBy({ amount }: RefundOrder, body: Fields): Outcome<Returned> {
  const found = readAmount(body.valor)
  if (found !== null && found !== amount) return unsure('a refund of another amount has its id')
  const returnId = textOf(body.rtrId)
  switch (body.status) {
    case 'DEVOLVIDO':
      return returnId ? accept({ returnId }) : unsure('the bank does not name what it returned')
    case 'NAO_REALIZADO':
      return reject(plainWords(textOf(body.motivo) ?? '') || 'the bank could not return it')
    default:
      return unsure('the bank is still processing it')
  }
}
