import { dynamicCode } from '../../src/pix/brcode.ts'
import {
  type Answer,
  type Body,
  backward,
  type Handler,
  type Handlers,
  notFound,
  pageOf,
  refuse,
  within,
} from './answers.ts'
import type { Books, Charge } from './books.ts'
import { dueFaults, dueOf } from './cobv.ts'
import { pixEntry } from './pix.ts'
import { newLocation, toCents, toText, unique } from './scheme.ts'

const REMOVED = 'REMOVIDA_PELO_USUARIO_RECEBEDOR'

/** Charges that are to be paid at once, and those with a due date. The bank keeps them apart. */
type Kind = 'cob' | 'cobv'
const NAMES = { cob: 'Cob', cobv: 'CobV' }
const MISSING = { cob: 'CobNaoEncontrado', cobv: 'CobVNaoEncontrada' }
const invalid = (kind: Kind, ...reasons: string[]): Answer =>
  refuse(400, `${NAMES[kind]}OperacaoInvalida`, ...reasons)

export const charges = (books: Books): Handlers => ({
  ...chargesOf(books, 'cob'),
  ...Object.fromEntries(
    Object.entries(chargesOf(books, 'cobv')).map(([operation, handler]): [string, Handler] => [
      operation,
      (call) => notOffered(books) ?? handler(call),
    ]),
  ),
  'POST /cob': ({ body }) =>
    books.style.postsCharges ? put(books, 'cob', unique(32), body) : notFound('NaoEncontrado'),
})

function notOffered({ style: { cobv } }: Books): Answer | null {
  if (cobv === 'offered') return null
  return cobv === 404 ? notFound('NaoEncontrado') : refuse(403, 'AcessoNegado', 'Acesso negado.')
}

function chargesOf(books: Books, kind: Kind): Handlers {
  return {
    [`PUT /${kind}/{txid}`]: ({ params, body }) => put(books, kind, params.txid!, body),
    [`GET /${kind}/{txid}`]: ({ params }) => {
      const charge = find(books, kind, params.txid!)
      return charge ? { status: 200, body: complete(books, charge) } : notFound(MISSING[kind])
    },
    [`PATCH /${kind}/{txid}`]: ({ params, body }) => patch(books, kind, params.txid!, body),
    [`GET /${kind}`]: ({ query }) => {
      if (backward(query))
        return refuse(400, `${NAMES[kind]}ConsultaInvalida`, 'fim é anterior a inicio')
      const found = [...books.charges.values()].filter((charge) => {
        const { createdAt, status } = charge
        if (kindOf(charge) !== kind) return false
        return within(createdAt, query) && (query.status ?? status) === status
      })
      const { parametros, page } = pageOf(found, query, books.style.mostPerPage)
      return { status: 200, body: { parametros, cobs: page.map((one) => complete(books, one)) } }
    },
  }
}

const kindOf = ({ due }: Charge): Kind => (due ? 'cobv' : 'cob')

function find({ charges }: Books, kind: Kind, txid: string): Charge | null {
  const charge = charges.get(txid)
  return charge && kindOf(charge) === kind ? charge : null
}

function put(books: Books, kind: Kind, txid: string, body: Body): Answer {
  const existing = books.charges.get(txid)
  const faults = faultsOf(books, kind, existing ?? null, body)
  if (faults.length > 0) return invalid(kind, ...faults)
  const { repeated } = books.style
  if (existing && (repeated === 409 || kindOf(existing) !== kind))
    return refuse(409, 'TxidDuplicado', 'O txid está em uso.')
  if (existing && repeated === 400) return invalid(kind, `O campo ${kind}.txid encontra-se em uso.`)
  if (existing && existing.status !== 'ATIVA')
    return invalid(kind, 'A cobrança já existe, não está no status ATIVA.')
  const charge = existing ? altered(existing, kind, body) : created(books, kind, txid, body)
  books.charges.set(txid, charge)
  return { status: 201, body: shown(books, charge) }
}

function faultsOf(books: Books, kind: Kind, existing: Charge | null, body: Body): string[] {
  const { calendario, valor, chave } = body
  const { expiracao = 86_400 } = calendario
  const isForeign = books.foreignKeys.has(chave)
  return [
    ...(expiracao > 0 ? [] : ['O campo cob.calendario.expiracao é igual ou menor que zero.']),
    ...(toCents(valor.original) > 0 ? [] : [`O campo ${kind}.valor.original é zero.`]),
    ...(isForeign ? [`O campo ${kind}.chave não pertence a este usuário.`] : []),
    ...(kind === 'cobv' ? dueFaults(books, existing?.createdAt ?? null, body) : []),
  ]
}

const asked = (kind: Kind, body: Body) => ({
  amount: toCents(body.valor.original),
  key: body.chave as string,
  expires_s: (body.calendario.expiracao ?? 86_400) as number,
  due: kind === 'cobv' ? dueOf(body) : null,
  debtor: (body.devedor ?? null) as Charge['debtor'],
  message: (body.solicitacaoPagador ?? null) as string | null,
})

function created(books: Books, kind: Kind, txid: string, body: Body): Charge {
  const location = newLocation(kind)
  const { name, city } = books.receiver
  return {
    ...asked(kind, body),
    txid,
    location,
    locationId: books.nextId(),
    revision: 0,
    status: 'ATIVA',
    createdAt: books.clock.now(),
    code: dynamicCode({ location, name, city }),
  }
}

const altered = (charge: Charge, kind: Kind, body: Body): Charge => ({
  ...charge,
  ...asked(kind, body),
  revision: charge.revision + 1,
})

function patch(books: Books, kind: Kind, txid: string, body: Body): Answer {
  const charge = find(books, kind, txid)
  if (!charge) return notFound(MISSING[kind])
  if (charge.status !== 'ATIVA') return invalid(kind, 'A cobrança não está ATIVA.')
  if (body.status && Object.keys(body).length > 1)
    return invalid(kind, 'A cobrança não pode ser removida juntamente com outras alterações.')
  const merged = {
    calendario: { ...calendarOf(charge), ...body.calendario },
    valor: { ...termsOf(charge), ...body.valor },
    chave: body.chave ?? charge.key,
    devedor: body.devedor ?? charge.debtor,
    solicitacaoPagador: body.solicitacaoPagador ?? charge.message,
  }
  const faults = faultsOf(books, kind, charge, merged)
  if (faults.length > 0) return invalid(kind, ...faults)
  const changed = { ...altered(charge, kind, merged), ...(body.status ? { status: REMOVED } : {}) }
  books.charges.set(txid, changed as Charge)
  return { status: 200, body: shown(books, changed as Charge) }
}

const calendarOf = ({ due, expires_s }: Charge): Body =>
  due
    ? { dataDeVencimento: due.on, validadeAposVencimento: due.daysAfter }
    : { expiracao: expires_s }

function termsOf({ amount, due }: Charge): Body {
  const { on: _, daysAfter: __, ...terms } = due ?? { on: '', daysAfter: 0 }
  return { original: toText(amount), ...terms }
}

function shown({ receiver }: Books, charge: Charge): Body {
  const { txid, revision, status, location, locationId: id, key: chave } = charge
  const criacao = charge.createdAt.toISOString()
  const { cnpj, name: nome, city: cidade } = receiver
  const address = { logradouro: 'Rua XV de Novembro, 1', cidade, uf: 'SP', cep: '01013001' }
  return {
    txid,
    revisao: revision,
    status,
    location,
    chave,
    calendario: { criacao, ...calendarOf(charge) },
    loc: { id, txid, location, tipoCob: kindOf(charge), criacao },
    ...(charge.debtor ? { devedor: charge.debtor } : {}),
    ...(charge.due ? { recebedor: { cnpj, nome, ...address } } : {}),
    valor: termsOf(charge),
    ...(charge.message ? { solicitacaoPagador: charge.message } : {}),
    pixCopiaECola: charge.code,
  }
}

function complete(books: Books, charge: Charge): Body {
  const paid = [...books.pix.values()].filter(({ txid }) => txid === charge.txid)
  return {
    ...shown(books, charge),
    ...(paid.length > 0 && books.style.pixInCob
      ? { pix: paid.map((one) => pixEntry(books, one)) }
      : {}),
  }
}
