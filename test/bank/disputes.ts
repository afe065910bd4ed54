import { type Handlers, refuse } from './answers.ts'
import type { Books, Infraction } from './books.ts'
import { returnByItself } from './pix.ts'
import { toText, unique } from './scheme.ts'

/** The endpoints of Efí for disputes, which the document does not have, and their scopes. */
export const DISPUTE_OPERATIONS = {
  efi: [
    {
      method: 'GET',
      path: '/v2/gn/infracoes',
      form: /^\/v2\/gn\/infracoes$/,
      scopes: ['gn.infractions.read'],
    },
    {
      method: 'POST',
      path: '/v2/gn/infracoes/{idInfracao}/defesa',
      form: /^\/v2\/gn\/infracoes\/(?<idInfracao>[\w-]+)\/defesa$/,
      scopes: ['gn.infractions.write'],
    },
  ],
}

const DAY_MS = 86_400_000
/** So long a receiver has to answer. */
const DAYS = 7

export const disputes = (books: Books): Handlers => ({
  'GET /v2/gn/infracoes': ({ query }) => {
    const [from, to] = [Date.parse(query.inicio!), Date.parse(query.fim!)]
    const inPeriod = [...books.infractions.values()].filter(
      ({ openedAt }) => openedAt.getTime() >= from && openedAt.getTime() <= to,
    )
    const size = Number(query['paginacao.itensPorPagina'] ?? 100)
    const page = Number(query['paginacao.paginaAtual'] ?? 0)
    const paginacao = {
      paginaAtual: page,
      itensPorPagina: size,
      quantidadeDePaginas: Math.max(1, Math.ceil(inPeriod.length / size)),
      quantidadeTotalDeItens: inPeriod.length,
    }
    const parametros = { inicio: query.inicio, fim: query.fim, paginacao }
    const infracoes = inPeriod.slice(page * size, (page + 1) * size).map(shown)
    return { status: 200, body: { parametros, infracoes } }
  },
  'POST /v2/gn/infracoes/{idInfracao}/defesa': ({ params, body }) => {
    const infraction = books.infractions.get(params.idInfracao!)
    if (!infraction) return refuse(404, 'InfracaoNaoEncontrada', 'Infração não encontrada.')
    const isGood = /^(aceito|rejeitado)$/.test(body.analise ?? '') && body.justificativa
    if (!isGood) return refuse(400, 'JsonInvalido', 'O corpo não é uma defesa.')
    if (infraction.status !== 'ABERTA') {
      return refuse(400, 'InfracaoNaoAberta', 'A infração não está aberta.')
    }
    infraction.status = 'EM_DEFESA'
    infraction.defense = body.justificativa
    return { status: 200, body: {} }
  },
})

const shown = (one: Infraction) => ({
  idInfracao: one.id,
  endToEndId: one.endToEndId,
  protocolo: '1',
  valor: toText(one.amount),
  status: one.status,
  razao: 'solicitação de devolução',
  tipoSituacao: 'golpe',
  ...(one.defense ? { defesa: one.defense } : {}),
  dadosAnalise: {
    abertura: one.openedAt.toISOString(),
    prazoFinalizacao: new Date(one.openedAt.getTime() + DAYS * DAY_MS).toISOString(),
    ...(one.decidedAt ? { finalizacao: one.decidedAt.toISOString() } : {}),
  },
  criadoEm: one.openedAt.toISOString(),
})

/** A payer disputes a payment. */
export function dispute(books: Books, endToEndId: string, amount?: number): Infraction {
  const pix = books.pix.get(endToEndId)
  if (!pix) throw new Error('the bank has no such payment')
  const infraction: Infraction = {
    id: unique(12),
    endToEndId,
    amount: amount ?? pix.amount,
    status: 'ABERTA',
    openedAt: books.clock.now(),
    decidedAt: null,
    defense: null,
  }
  books.infractions.set(infraction.id, infraction)
  return infraction
}

/** The bank decides. What it accepts it returns, sooner or later. */
export function decideDispute(
  books: Books,
  id: string,
  status: 'ACEITA' | 'REJEITADA' | 'CANCELADA_EFI',
): void {
  const infraction = books.infractions.get(id)!
  infraction.status = status
  infraction.decidedAt = books.clock.now()
}

export const returnDisputed = (books: Books, id: string): void => {
  const { endToEndId, amount } = books.infractions.get(id)!
  returnByItself(books, endToEndId, { amount })
}
