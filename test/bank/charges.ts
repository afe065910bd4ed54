import { dynamicCode } from '../../src/pix/brcode.ts'
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
import type { Books, Charge } from './books.ts'
import { pixEntry } from './pix.ts'
import { newLocation, toCents, toText, unique } from './scheme.ts'

const REMOVED = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'
const invalid = (...reasons: string[]): Answer => refuse(400, 'CobOperacaoInvalida', ...reasons)

export function charges(books: Books): Handlers {
  return {
    'PUT /cob/{txid}': ({ params, body }) => put(books, params.txid!, body),
    'POST /cob': ({ body }) =>
      books.style.postsCharges ? put(books, unique(32), body) : notFound('NaoEncontrado'),
    'GET /cob/{txid}': ({ params }) => {
      const charge = books.charges.get(params.txid!)
      return charge ? { status: 200, body: complete(books, charge) } : notFound('CobNaoEncontrado')
    },
    'PATCH /cob/{txid}': ({ params, body }) => patch(books, params.txid!, body),
    'GET /cob': ({ query }) => {
      if (backward(query)) return refuse(400, 'CobConsultaInvalida', 'fim é anterior a inicio')
      const found = [...books.charges.values()].filter(({ createdAt, status }) => {
        return within(createdAt, query) && (query.status ?? status) === status
      })
      const { parametros, page } = pageOf(found, query, books.style.mostPerPage)
      return { status: 200, body: { parametros, cobs: page.map((one) => complete(books, one)) } }
    },
  }
}

function put(books: Books, txid: string, body: Body): Answer {
  const existing = books.charges.get(txid)
  const faults = faultsOf(books, body)
  if (faults.length > 0) return invalid(...faults)
  const { repeated } = books.style
  if (existing && repeated === 409) return refuse(409, 'TxidDuplicado', 'O txid está em uso.')
  if (existing && repeated === 400) return invalid('O campo cob.txid encontra-se em uso.')
  if (existing && existing.status !== 'ATIVA')
    return invalid('A cobrança já existe, não está no status ATIVA.')
  const charge = existing ? altered(existing, body) : created(books, txid, body)
  books.charges.set(txid, charge)
  return { status: 201, body: shown(charge) }
}

function faultsOf({ foreignKeys }: Books, { calendario, valor, chave }: Body): string[] {
  const { expiracao = 86_400 } = calendario
  return [
    ...(expiracao > 0 ? [] : ['O campo cob.calendario.expiracao é igual ou menor que zero.']),
    ...(toCents(valor.original) > 0 ? [] : ['O campo cob.valor.original é zero.']),
    ...(foreignKeys.has(chave) ? ['O campo cob.chave não pertence a este usuário.'] : []),
  ]
}

const asked = ({ calendario, valor, chave, devedor, solicitacaoPagador }: Body) => ({
  amount: toCents(valor.original),
  key: chave as string,
  expires_s: (calendario.expiracao ?? 86_400) as number,
  debtor: (devedor ?? null) as Charge['debtor'],
  message: (solicitacaoPagador ?? null) as string | null,
})

function created(books: Books, txid: string, body: Body): Charge {
  const location = newLocation('cob')
  const { name, city } = books.receiver
  return {
    ...asked(body),
    txid,
    location,
    locationId: books.nextId(),
    revision: 0,
    status: 'ATIVA',
    createdAt: books.clock.now(),
    code: dynamicCode({ location, name, city }),
  }
}

const altered = (charge: Charge, body: Body): Charge => ({
  ...charge,
  ...asked(body),
  revision: charge.revision + 1,
})

function patch(books: Books, txid: string, body: Body): Answer {
  const charge = books.charges.get(txid)
  if (!charge) return notFound('CobNaoEncontrado')
  if (charge.status !== 'ATIVA') return invalid('A cobrança não está ATIVA.')
  if (body.status && Object.keys(body).length > 1)
    return invalid('A cobrança não pode ser removida juntamente com outras alterações.')
  const merged = {
    calendario: { expiracao: charge.expires_s, ...body.calendario },
    valor: { original: toText(charge.amount), ...body.valor },
    chave: body.chave ?? charge.key,
    devedor: body.devedor ?? charge.debtor,
    solicitacaoPagador: body.solicitacaoPagador ?? charge.message,
  }
  const faults = faultsOf(books, merged)
  if (faults.length > 0) return invalid(...faults)
  const changed = { ...altered(charge, merged), ...(body.status ? { status: REMOVED } : {}) }
  books.charges.set(txid, changed as Charge)
  return { status: 200, body: shown(changed as Charge) }
}

function shown(charge: Charge): Body {
  const { txid, revision, status, location, locationId: id, key: chave } = charge
  const criacao = charge.createdAt.toISOString()
  return {
    txid,
    revisao: revision,
    status,
    location,
    chave,
    calendario: { criacao, expiracao: charge.expires_s },
    loc: { id, txid, location, tipoCob: 'cob', criacao },
    ...(charge.debtor ? { devedor: charge.debtor } : {}),
    valor: { original: toText(charge.amount) },
    ...(charge.message ? { solicitacaoPagador: charge.message } : {}),
    pixCopiaECola: charge.code,
  }
}

function complete(books: Books, charge: Charge): Body {
  const paid = [...books.pix.values()].filter(({ txid }) => txid === charge.txid)
  return {
    ...shown(charge),
    ...(paid.length > 0 && books.style.pixInCob
      ? { pix: paid.map((one) => pixEntry(books, one)) }
      : {}),
  }
}
