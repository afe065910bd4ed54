import { type Body, type Handlers, refuse } from './answers.ts'
import type { Books, Send } from './books.ts'
import { endToEndId, toCents, toText } from './scheme.ts'

type Described = { method: string; path: string; scopes: string[] }

const formOf = (path: string): RegExp =>
  new RegExp(`^${path.replace(/\{(\w+)\}/, '(?<$1>[a-zA-Z0-9-]{1,36})')}$`)

const operations = (...described: Described[]) =>
  described.map((one) => ({ ...one, form: formOf(one.path) }))

const SICOOB = '/pix-pagamentos/v2/pagamentos'

/** The endpoints of banks to send money, which the document does not have, and their scopes. */
export const SEND_OPERATIONS = {
  efi: operations(
    { method: 'PUT', path: '/v3/gn/pix/{idEnvio}', scopes: ['pix.send'] },
    { method: 'GET', path: '/v2/gn/pix/enviados/id-envio/{idEnvio}', scopes: ['gn.pix.send.read'] },
  ),
  inter: operations(
    { method: 'POST', path: '/banking/v2/pix', scopes: ['pagamento-pix.write'] },
    { method: 'GET', path: '/banking/v2/pix/{codigo}', scopes: ['pagamento-pix.read'] },
  ),
  sicoob: operations(
    { method: 'POST', path: SICOOB, scopes: ['pixpagamentos_escrita'] },
    { method: 'POST', path: `${SICOOB}/confirmacao`, scopes: ['pixpagamentos_escrita'] },
    { method: 'GET', path: `${SICOOB}/{endToEndId}`, scopes: ['pixpagamentos_consulta'] },
  ),
}

export const sends = (books: Books): Handlers => ({
  ...efi(books),
  ...inter(books),
  ...sicoob(books),
})

function efi(books: Books): Handlers {
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

/** A new payment. It ends at once, or later, as the bank's course is. */
function begin(books: Books, id: string, to: string, amount: number): Send {
  const at = books.clock.now()
  const rest = { amount, to, from: 'conta', askedAt: at, status: 'EM_PROCESSAMENTO' }
  const send: Send = { id, endToEndId: endToEndId('E', at), ...rest }
  books.sends.set(id, send)
  return send
}

const end = (books: Books, send: Send): void => {
  if (books.sending !== 'later') finish(send, books.sending !== 'refused')
}

const INTER_STATUS: Record<string, string> = {
  EM_PROCESSAMENTO: 'ENVIADO',
  REALIZADO: 'PAGO',
  NAO_REALIZADO: 'FALHA',
}

/** Inter knows an order by the client's key, and is asked about it by a code of its own. */
function inter(books: Books): Handlers {
  const codeOf = ({ id }: Send) => `codigo-${id.slice(-11)}`
  return {
    'POST /banking/v2/pix': ({ headers, body }) => {
      const id = headers['x-id-idempotente'] ?? ''
      const { valor, destinatario } = body
      const isGood = typeof valor === 'number' && destinatario?.tipo === 'CHAVE' && id !== ''
      if (!isGood) return refuse(400, 'RequisicaoInvalida', 'O corpo não é um pagamento.')
      if (books.foreignKeys.has(destinatario.chave))
        return refuse(400, 'ChaveInvalida', 'A chave não está cadastrada no DICT.')
      const known = books.sends.get(id)
      const send = known ?? begin(books, id, destinatario.chave, Math.round(valor * 100))
      if (!known) end(books, send)
      return { status: 200, body: { tipoRetorno: 'PROCESSADO', codigoSolicitacao: codeOf(send) } }
    },
    'GET /banking/v2/pix/{codigo}': ({ params }) => {
      const send = [...books.sends.values()].find((one) => codeOf(one) === params.codigo)
      if (!send) return refuse(404, 'PixNaoEncontrado', 'Não há Pix com este código.')
      const status = INTER_STATUS[send.status] ?? send.status
      const transacaoPix = {
        codigoSolicitacao: codeOf(send),
        valor: send.amount / 100,
        status,
        chave: send.to,
        erros: status === 'FALHA' ? [{ codigo: '1', descricao: 'A conta foi encerrada.' }] : [],
        endToEnd: send.endToEndId,
      }
      return { status: 200, body: { transacaoPix, historico: [] } }
    },
  }
}

const SICOOB_STATE: Record<string, string> = {
  EM_PROCESSAMENTO: 'EM_PROCESSAMENTO',
  REALIZADO: 'FINALIZADO',
  NAO_REALIZADO: 'NÃO_REALIZADO',
}

/** Sicoob names a payment first, and knows it from its confirmation on. */
function sicoob(books: Books): Handlers {
  const begun = new Map<string, string>()
  const shownAs = ({ endToEndId, amount, status }: Send): Body => ({
    endToEndId,
    valor: amount / 100,
    estado: SICOOB_STATE[status] ?? status,
    ...(status === 'NAO_REALIZADO' ? { detalheRejeicao: 'A conta foi encerrada.' } : {}),
  })
  return {
    [`POST ${SICOOB}`]: ({ body }) => {
      if (!body?.chave || books.foreignKeys.has(body.chave))
        return refuse(404, 'ChaveNaoEncontrada', 'A chave DICT não foi encontrada.')
      const id = endToEndId('E', books.clock.now())
      begun.set(id, body.chave)
      return { status: 200, body: { endToEndId: id, chave: body.chave, tipo: 'EMAIL' } }
    },
    [`POST ${SICOOB}/confirmacao`]: ({ body }) => {
      const { endToEndId: id = '', valor = '', meioIniciacao } = body ?? {}
      const to = begun.get(id)
      const isGood = /^[0-9]{1,18},[0-9]{2}$/.test(valor) && meioIniciacao === 'CHAVE' && to
      if (!isGood || books.sends.has(id))
        return refuse(400, 'PagamentoInvalido', 'O pagamento não pode ser confirmado.')
      const send = begin(books, id, to, toCents(valor.replace(',', '.')))
      send.endToEndId = id
      end(books, send)
      return { status: 200, body: shownAs(send) }
    },
    [`GET ${SICOOB}/{endToEndId}`]: ({ params }) => {
      const send = books.sends.get(params.endToEndId!)
      if (!send) return refuse(404, 'PagamentoNaoEncontrado', 'Nenhum pagamento encontrado.')
      return { status: 200, body: shownAs(send) }
    },
  }
}
