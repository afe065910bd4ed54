import { suffixOf } from '../../lib/ids.ts'
import { formatDecimal } from '../../lib/money.ts'
import type { Outcome, Payee, SendOrder, Sent } from '../port.ts'
import { accept, notAnswered, reject, unsure } from './answers.ts'
import type { Bank } from './client.ts'
import type { Sending } from './sending.ts'
import { type Fields, plainWords, readAmount, textOf } from './text.ts'

/**
 * Withdrawals through Efí. Our id is the order's id there, so an order can be repeated and asked
 * about.
 */
export const efi: Sending = { send, find }

const CONFLICT = 409

async function send(bank: Bank, payee: Payee, order: SendOrder): Promise<Outcome<Sent>> {
  const reply = await bank.ask({
    method: 'PUT',
    resource: null,
    path: `/v3/gn/pix/${suffixOf(order.id)}`,
    body: {
      valor: formatDecimal(order.amount),
      pagador: { chave: payee.pixKey },
      favorecido: { chave: order.pixKey },
    },
  })
  if (reply.kind === 'done') return sentBy(order, reply.body)
  const found = await find(bank, order)
  if (found.kind !== 'accepted') return found
  if (found.value) return accept(found.value)
  // On a conflict the bank may be sending an order with this id right now. A missing endpoint may
  // be the answer of a proxy, which does not know what the bank has got. Both are unknown.
  const isRefused = reply.kind === 'refused' && reply.status !== CONFLICT
  return isRefused ? reject(reply.reason) : unsure(reply.reason)
}

async function find(bank: Bank, order: SendOrder): Promise<Outcome<Sent | null>> {
  const path = `/v2/gn/pix/enviados/id-envio/${suffixOf(order.id)}`
  const reply = await bank.ask({ method: 'GET', resource: null, path })
  if (reply.kind === 'missing') return accept(null)
  return reply.kind === 'done' ? sentBy(order, reply.body) : notAnswered(reply)
}

function sentBy({ amount }: SendOrder, body: Fields): Outcome<Sent> {
  const found = readAmount(body.valor)
  if (found !== null && found !== amount) return unsure('an order of another amount has its id')
  const endToEndId = textOf(body.endToEndId) ?? textOf(body.e2eId)
  switch (body.status) {
    case 'REALIZADO':
      return endToEndId ? accept({ endToEndId }) : unsure('the bank does not name what it sent')
    case 'NAO_REALIZADO':
      return reject(plainWords(textOf(body.motivo) ?? '') || 'the bank could not send it')
    default:
      return unsure('the bank is still processing it')
  }
}
