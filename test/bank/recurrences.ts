import { recurrenceCode } from '../../src/pix/brcode.ts'
import { localDateOf } from '../../src/pix/local-time.ts'
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
import { type Books, type LocRec, type Rec, type RecStatus, shownChanges } from './books.ts'
import { cancelScheduled } from './collections.ts'
import type { Params } from './document.ts'
import { newLocation, recurrenceId, toCents, toText } from './scheme.ts'

const invalid = (...reasons: string[]): Answer => refuse(400, 'RecOperacaoInvalida', ...reasons)

export function recurrences(books: Books): Handlers {
  return {
    'POST /locrec': () => {
      const location: LocRec = {
        id: books.nextId(),
        location: newLocation('rec'),
        recId: null,
        createdAt: books.clock.now(),
      }
      books.locations.set(location.id, location)
      return { status: 201, body: shownLocation(location) }
    },
    'GET /locrec/{id}': ({ params }) => {
      const found = books.locations.get(Number(params.id))
      return found
        ? { status: 200, body: shownLocation(found) }
        : notFound('PayloadLocationRecNaoEncontrado')
    },
    'POST /rec': ({ body }) => create(books, body),
    'GET /rec/{idRec}': ({ params }) => {
      const rec = books.recs.get(params.idRec!)
      return rec ? { status: 200, body: complete(books, rec) } : notFound('RecNaoEncontrada')
    },
    'GET /rec': ({ query }) => list(books, query),
    'PATCH /rec/{idRec}': ({ params, body }) => patch(books, params.idRec!, body),
  }
}

function create(books: Books, body: Body): Answer {
  const faults = faultsOf(books, body)
  if (faults.length > 0) return invalid(...faults)
  const now = books.clock.now()
  const { vinculo, calendario, valor = {}, politicaRetentativa, loc = null } = body
  const rec: Rec = {
    id: recurrenceId(politicaRetentativa === 'PERMITE_3R_7D', now),
    contract: vinculo.contrato,
    object: vinculo.objeto ?? null,
    debtor: vinculo.devedor,
    startsOn: calendario.dataInicial,
    frequency: calendario.periodicidade,
    amount: valor.valorRec ? toCents(valor.valorRec) : null,
    retries: politicaRetentativa,
    locationId: loc,
    endedBy: null,
    createdAt: now,
    status: 'CRIADA',
    changes: [{ status: 'CRIADA', data: now }],
  }
  books.recs.set(rec.id, rec)
  if (loc !== null) books.locations.get(loc)!.recId = rec.id
  return { status: 201, body: shown(books, rec) }
}

function faultsOf(books: Books, { calendario, valor = {}, loc }: Body): string[] {
  const location = loc === undefined ? null : books.locations.get(loc)
  const today = localDateOf(books.clock.now())
  return [
    ...(calendario.dataInicial < today ? ['dataInicial é anterior à data de criação.'] : []),
    ...(calendario.dataFinal < calendario.dataInicial ? ['dataFinal antes de dataInicial.'] : []),
    ...(valor.valorRec && valor.valorMinimoRecebedor
      ? ['Ambos os valores estão preenchidos.']
      : []),
    ...(location === undefined ? ['O location referenciado por rec.loc inexiste.'] : []),
    ...(location?.recId ? ['O location referenciado por rec.loc já está sendo utilizado.'] : []),
  ]
}

function list(books: Books, query: Params): Answer {
  if (backward(query)) return refuse(400, 'RecConsultaInvalida', 'fim é anterior a inicio')
  const found = [...books.recs.values()].filter(({ createdAt, status, debtor }) => {
    const isAsked = [
      [query.status, status],
      [query.cpf, debtor.cpf],
      [query.cnpj, debtor.cnpj],
    ].every(([asked, own]) => asked === undefined || asked === own)
    return isAsked && within(createdAt, query)
  })
  const { parametros, page } = pageOf(found, query, books.style.mostPerPage)
  return { status: 200, body: { parametros, recs: page.map((one) => searched(books, one)) } }
}

function patch(books: Books, id: string, body: Body): Answer {
  const rec = books.recs.get(id)
  if (!rec) return notFound('RecNaoEncontrada')
  if (['EXPIRADA', 'CANCELADA', 'REJEITADA'].includes(rec.status))
    return invalid('A recorrência encontra-se expirada, cancelada ou rejeitada.')
  if (body.status === 'CANCELADA') changeRec(books, rec, 'CANCELADA', 'USUARIO_RECEBEDOR')
  return { status: 200, body: shown(books, rec) }
}

/** An end of a recurrence ends what is scheduled of it. */
export function changeRec(
  books: Books,
  rec: Rec,
  status: RecStatus,
  endedBy: Rec['endedBy'] = null,
): void {
  rec.status = status
  rec.endedBy = endedBy
  rec.changes.push({ status, data: books.clock.now() })
  books.notify('rec', null, { recs: [notified(rec)] })
  if (status === 'CANCELADA') cancelScheduled(books, rec, endedBy!)
}

const shownLocation = ({ id, location, createdAt, recId }: LocRec): Body => ({
  id,
  location,
  criacao: createdAt.toISOString(),
  ...(recId ? { idRec: recId } : {}),
})

const ended = ({ status, endedBy }: Rec): Body => {
  if (status === 'REJEITADA')
    return { encerramento: { rejeicao: { codigo: 'AP13', descricao: 'Rejeitada pelo pagador' } } }
  if (status !== 'CANCELADA') return {}
  const codigo = endedBy === 'USUARIO_PAGADOR' ? 'SLDB' : 'SLCR'
  const descricao = 'Cancelamento solicitado'
  return { encerramento: { cancelamento: { solicitante: endedBy, codigo, descricao } } }
}

const notified = (rec: Rec): Body => ({
  idRec: rec.id,
  status: rec.status,
  atualizacao: shownChanges(rec.changes),
  ...ended(rec),
  ativacao: { tipoJornada: rec.status === 'CRIADA' ? 'AGUARDANDO_DEFINICAO' : 'JORNADA_2' },
})

function shown(books: Books, rec: Rec): Body {
  const { contract, object, debtor, startsOn, frequency, amount, locationId } = rec
  const { cnpj, name: nome } = books.receiver
  return {
    ...notified(rec),
    vinculo: { contrato: contract, devedor: debtor, ...(object ? { objeto: object } : {}) },
    calendario: { dataInicial: startsOn, periodicidade: frequency },
    ...(amount === null ? {} : { valor: { valorRec: toText(amount) } }),
    recebedor: { cnpj, nome },
    politicaRetentativa: rec.retries,
    ...(locationId === null ? {} : { loc: shownLocation(books.locations.get(locationId)!) }),
  }
}

function searched(books: Books, rec: Rec): Body {
  const { cpf, cnpj } = rec.debtor
  const payer = { ispbParticipante: '99999991', ...(cpf ? { cpf } : { cnpj }) }
  return { ...shown(books, rec), ...(rec.status === 'APROVADA' ? { pagador: payer } : {}) }
}

/** Of one recurrence alone the code is shown, not of those in a list. */
function complete(books: Books, rec: Rec): Body {
  const found = books.locations.get(rec.locationId ?? -1)
  if (!found) return searched(books, rec)
  const { name, city } = books.receiver
  const pixCopiaECola = recurrenceCode({ location: found.location, name, city })
  return { ...searched(books, rec), dadosQR: { jornada: 'JORNADA_2', pixCopiaECola } }
}
