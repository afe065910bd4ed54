import type { Params } from './document.ts'

// biome-ignore lint/suspicious/noExplicitAny: a body was checked against the document before
export type Body = any

export type Answer = { status: number; body?: Body; headers?: Record<string, string> }

export type Call = { params: Params; query: Params; body: Body; headers: Params }

/** What the bank does at one operation of the document. */
export type Handler = (call: Call) => Answer | Promise<Answer>
export type Handlers = Record<string, Handler>

const TYPES = 'https://pix.bcb.gov.br/api/v2/error/'

export const refuse = (status: number, type: string, ...reasons: string[]): Answer => ({
  status,
  body: {
    type: `${TYPES}${type}`,
    title: status === 404 ? 'Não Encontrado' : 'Requisição recusada.',
    status,
    detail: reasons[0] ?? 'Entidade não encontrada.',
    ...(status === 400
      ? { violacoes: reasons.map((razao) => ({ razao, propriedade: type })) }
      : {}),
  },
})

export const notFound = (type: string): Answer => refuse(404, type)

/** A page of a list, with what the document says of every list. */
export function pageOf<T>(all: T[], query: Params, most: number): { parametros: Body; page: T[] } {
  const asked = Number(query['paginacao.itensPorPagina'] ?? 100)
  const itensPorPagina = Math.min(asked, most)
  const paginaAtual = Number(query['paginacao.paginaAtual'] ?? 0)
  const paginacao = {
    paginaAtual,
    itensPorPagina,
    quantidadeDePaginas: Math.max(1, Math.ceil(all.length / itensPorPagina)),
    quantidadeTotalDeItens: all.length,
  }
  const from = paginaAtual * itensPorPagina
  const { inicio, fim } = query
  return { parametros: { inicio, fim, paginacao }, page: all.slice(from, from + itensPorPagina) }
}

/** Whether a moment is within what a list is asked for: both ends count, as the document says. */
export const within = (at: Date, { inicio, fim }: Params): boolean =>
  at.getTime() >= Date.parse(inicio!) && at.getTime() <= Date.parse(fim!)

export const backward = ({ inicio, fim }: Params): boolean => Date.parse(fim!) < Date.parse(inicio!)
