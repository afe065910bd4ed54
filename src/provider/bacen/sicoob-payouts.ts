import { formatDecimal } from '../../lib/money.ts'
import type { Outcome, Payee, SendOrder, Sent, StoreReference } from '../port.ts'
import { accept, notAnswered, notDone, type Reply, reject, unsure } from './answers.ts'
import type { Bank } from './client.ts'
import type { Sending } from './sending.ts'
import { type Fields, plainWords, readAmount, textOf } from './text.ts'

/**
 * Withdrawals through Sicoob. The bank first names the payment, and sends it when that is
 * confirmed. Its id is stored in between, because the bank knows no id of ours.
 */
export const sicoob: Sending = { send, find }

const PATH = '/pix-pagamentos/v2/pagamentos'

async function send(
  bank: Bank,
  _: Payee,
  order: SendOrder,
  store: StoreReference,
): Promise<Outcome<Sent>> {
  // If the payment has a name, it may have been confirmed. It is never confirmed twice.
  if (order.reference) return outcomeOf(order, await ask(bank, order.reference))
  const begun = await bank.ask({
    method: 'POST',
    resource: null,
    path: PATH,
    body: { chave: order.pixKey },
  })
  // Nothing is sent before the confirmation.
  if (begun.kind !== 'done') return notDone(begun)
  const reference = textOf(begun.body.endToEndId)
  if (!reference) return unsure('the bank does not name the payment')
  await store(reference)
  return confirm(bank, { ...order, reference })
}

type Named = SendOrder & { reference: string }

async function confirm(bank: Bank, order: Named): Promise<Outcome<Sent>> {
  const reply = await bank.ask({
    method: 'POST',
    resource: null,
    path: `${PATH}/confirmacao`,
    body: {
      endToEndId: order.reference,
      valor: formatDecimal(order.amount).replace('.', ','),
      meioIniciacao: 'CHAVE',
    },
  })
  if (reply.kind === 'done') return sentBy(order, reply.body)
  const found = await ask(bank, order.reference)
  if (found.kind === 'done') return sentBy(order, found.body)
  const isRefused = reply.kind === 'refused' && found.kind === 'missing'
  return isRefused ? reject(reply.reason) : unsure(reply.reason)
}

async function find(bank: Bank, order: SendOrder): Promise<Outcome<Sent | null>> {
  const { reference } = order
  return reference ? outcomeOf(order, await ask(bank, reference)) : accept(null)
}

const ask = (bank: Bank, reference: string): Promise<Reply> =>
  bank.ask({ method: 'GET', resource: null, path: `${PATH}/${encodeURIComponent(reference)}` })

/** If the bank has no such payment, it may have got the confirmation and not recorded it yet. */
const outcomeOf = (order: SendOrder, reply: Reply): Outcome<Sent> =>
  reply.kind === 'done' ? sentBy(order, reply.body) : notAnswered(reply)

const withoutAccents = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '')

function sentBy({ amount, reference }: SendOrder, body: Fields): Outcome<Sent> {
  const { valor } = body
  const found = readAmount(typeof valor === 'string' ? valor.replace(',', '.') : valor)
  if (found !== null && found !== amount) return unsure('an order of another amount has its id')
  switch (withoutAccents(textOf(body.estado) ?? '')) {
    case 'FINALIZADO':
      return accept({ endToEndId: textOf(body.endToEndId) ?? reference! })
    case 'REJEITADO':
    case 'NAO_REALIZADO':
      return reject(plainWords(textOf(body.detalheRejeicao) ?? '') || 'the bank could not send it')
    default:
      return unsure('the bank is still processing it')
  }
}
