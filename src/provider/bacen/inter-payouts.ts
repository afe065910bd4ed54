import { formatDecimal } from '../../lib/money.ts'
import type { Outcome, Payee, SendOrder, Sent, StoreReference } from '../port.ts'
import { accept, notAnswered, reject, unsure, wordsOf } from './answers.ts'
import type { Bank } from './client.ts'
import type { Sending } from './sending.ts'
import { fieldsOf, readAmount, textOf } from './text.ts'

/**
 * Withdrawals through Inter. It recognizes a repeated order by our id, and can be asked about an
 * order only by a code of its own.
 */
export const inter: Sending = { send, find }

const PATH = '/banking/v2/pix'

/** It is not documented how long Inter recognizes our id, so an order is repeated only so long. */
const REPEATED_ms = 3_600_000

async function send(
  bank: Bank,
  _: Payee,
  order: SendOrder,
  store: StoreReference,
): Promise<Outcome<Sent>> {
  const reply = await bank.ask({
    method: 'POST',
    resource: null,
    path: PATH,
    headers: { 'x-id-idempotente': order.id },
    body: {
      valor: Number(formatDecimal(order.amount)),
      destinatario: { tipo: 'CHAVE', chave: order.pixKey },
    },
  })
  if (reply.kind === 'done') {
    const code = textOf(reply.body.codigoSolicitacao)
    if (!code) return unsure('the bank does not name the order')
    await store(code)
    return ask(bank, order, code)
  }
  // If the bank may have got the order before, a refusal does not prove that nothing was sent.
  const isFirst = !order.orderedAt
  return reply.kind === 'refused' && isFirst ? reject(reply.reason) : unsure(reply.reason)
}

async function find(bank: Bank, order: SendOrder): Promise<Outcome<Sent | null>> {
  if (order.reference) return ask(bank, order, order.reference)
  const since_ms = bank.clock.now().getTime() - (order.orderedAt?.getTime() ?? Infinity)
  return since_ms > REPEATED_ms ? unsure('only the bank can say whether it was sent') : accept(null)
}

async function ask(bank: Bank, order: SendOrder, code: string): Promise<Outcome<Sent>> {
  const path = `${PATH}/${encodeURIComponent(code)}`
  const reply = await bank.ask({ method: 'GET', resource: null, path })
  return reply.kind === 'done'
    ? sentBy(order, fieldsOf(reply.body.transacaoPix))
    : notAnswered(reply)
}

const PAID = ['PAGO', 'PIX_PAGO']
const FAILED = [
  'REPROVADO',
  'EXPIRADO',
  'CANCELADO',
  'CANCELADO_SEM_SALDO',
  'AGENDAMENTO_CANCELADO',
  'NAO_DEBITADO',
  'FALHA',
]

function sentBy({ amount }: SendOrder, body: ReturnType<typeof fieldsOf>): Outcome<Sent> {
  const found = readAmount(body.valor)
  if (found !== null && found !== amount) return unsure('an order of another amount has its id')
  const status = textOf(body.status) ?? ''
  const endToEndId = textOf(body.endToEnd)
  if (FAILED.includes(status)) return reject(wordsOf(body) || 'the bank could not send it')
  if (status === 'AGUARDANDO_APROVACAO') return unsure('the bank waits until somebody approves it')
  if (!PAID.includes(status)) return unsure('the bank is still processing it')
  return endToEndId ? accept({ endToEndId }) : unsure('the bank does not name what it sent')
}
