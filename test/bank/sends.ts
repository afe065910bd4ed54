import { type Body, type Handlers, refuse } from './answers.ts'
import type { Books, Send } from './books.ts'
import { endToEndId, toCents, toText } from './scheme.ts'

/** Efí's endpoints to send money, which the document does not have, with the scope of each. */
export const SEND_OPERATIONS = [
  { method: 'PUT', path: '/v3/gn/pix/{idEnvio}', scopes: ['pix.send'] },
  { method: 'GET', path: '/v2/gn/pix/enviados/id-envio/{idEnvio}', scopes: ['gn.pix.send.read'] },
].map((one) => ({
  ...one,
  form: new RegExp(`^${one.path.replace('{idEnvio}', '(?<idEnvio>[a-zA-Z0-9]{1,35})')}$`),
}))

export function sends(books: Books): Handlers {
  return {
    'PUT /v3/gn/pix/{idEnvio}': ({ params, body }) => {
      const id = params.idEnvio!
      if (books.sends.has(id)) return refuse(409, 'IdEnvioDuplicado', 'O idEnvio já foi usado.')
      const amount = amountOf(body)
      if (amount === null) return refuse(400, 'JsonInvalido', 'O corpo não é um envio.')
      const at = books.clock.now()
      const send: Send = {
        id,
        endToEndId: endToEndId('E', at),
        amount,
        askedAt: at,
        status: 'EM_PROCESSAMENTO',
        from: body.pagador.chave,
        to: body.favorecido.chave,
      }
      books.sends.set(id, send)
      const answer = { status: 201, body: ordered(send) }
      // Efí answers for the order, and carries it out a moment later.
      if (books.sending !== 'later') finish(send, books.sending !== 'refused')
      return answer
    },
    'GET /v2/gn/pix/enviados/id-envio/{idEnvio}': ({ params }) => {
      const send = books.sends.get(params.idEnvio!)
      if (!send) return refuse(404, 'PagamentoNaoEncontrado', 'Nenhum pagamento encontrado.')
      return { status: 200, body: shown(send) }
    },
  }
}

function amountOf({ valor, pagador, favorecido }: Body): number | null {
  const isGood = /^\d{1,10}\.\d{2}$/.test(valor ?? '') && pagador?.chave && favorecido?.chave
  return isGood && toCents(valor) > 0 ? toCents(valor) : null
}

function finish(send: Send, isDone: boolean): void {
  send.status = isDone ? 'REALIZADO' : 'NAO_REALIZADO'
}

export function finishSends(books: Books, isDone = true): void {
  for (const send of books.sends.values())
    if (send.status === 'EM_PROCESSAMENTO') finish(send, isDone)
}

const ordered = ({ id, endToEndId, amount, askedAt, status }: Send): Body => ({
  idEnvio: id,
  e2eId: endToEndId,
  valor: toText(amount),
  status,
  horario: { solicitacao: askedAt.toISOString() },
})

const shown = ({ id, endToEndId, amount, askedAt, status, from, to }: Send): Body => ({
  idEnvio: id,
  endToEndId,
  valor: toText(amount),
  chave: from,
  status,
  favorecido: { chave: to },
  horario: { solicitacao: askedAt.toISOString() },
})
