import type { Outcome } from '../port.ts'
import { accept, notAnswered, unsure } from './answers.ts'
import type { Bank } from './client.ts'
import type { Resource } from './profile.ts'
import { type Fields, fieldsOf, listOf, textOf } from './text.ts'

type List = {
  /** Null for a list beside API Pix, which has a whole path. */
  resource: Resource | null
  path?: string
  /** The field with the entries, and the field with the id of an entry. */
  entries: string
  id: string
  /** What else is asked for. */
  query?: Record<string, string>
  from: Date
  to: Date
}

const PAGE_SIZE = 100
/** Far more than a company has in a few days. If the list is longer, reading stops. */
const MAX_PAGES = 2_000
const SECOND_ms = 1000

/**
 * Reads a whole list, page by page, each entry once, also one without an id. If a page has nothing
 * new although more pages follow, entries may be missing, so the outcome is unknown.
 */
export async function readList(bank: Bank, list: List): Promise<Outcome<Fields[]>> {
  const found = new Map<string, Fields>()
  // The first page is there, or the bank has none. Others are there if the bank says so.
  let isAnnounced = false
  for (let page = 0; page < MAX_PAGES; page++) {
    const reply = await bank.ask({
      method: 'GET',
      resource: list.resource,
      path: list.path ?? '',
      query: queryOf(bank, list, page),
    })
    // Some banks have no list where it would be empty.
    const isNone = reply.kind === 'missing' || (reply.kind === 'done' && reply.isEmpty)
    if (isNone && !isAnnounced) return accept([...found.values()])
    if (reply.kind !== 'done') return notAnswered(reply)
    const entries = listOf(reply.body[list.entries])
    if (!isList(reply.body, list)) return unsure('the list of the bank is not understood')
    const before = found.size
    for (const entry of entries) {
      found.set(textOf(entry[list.id]) ?? JSON.stringify(entry), entry)
    }
    const isLast = entries.length === 0 || page + 1 >= pagesOf(reply.body, entries.length, page)
    if (isLast) return accept([...found.values()])
    isAnnounced = announcedPages(reply.body) !== null
    if (found.size === before) return unsure('the bank repeats a page of its list')
  }
  return unsure('the list of the bank does not end')
}

/** A bank may leave out an empty list, but not `parametros` too. */
const isList = (body: Fields, { entries }: List): boolean =>
  Array.isArray(body[entries]) || (!(entries in body) && 'parametros' in body)

/** A bank without milliseconds is asked up to the end of the second. */
function queryOf(bank: Bank, { from, to, query }: List, page: number): Record<string, string> {
  const last = bank.connection.profile.dates === 'seconds' ? ceilSecond(to) : to
  return {
    ...query,
    inicio: bank.moment(from),
    fim: bank.moment(last),
    'paginacao.paginaAtual': String(page),
    'paginacao.itensPorPagina': String(PAGE_SIZE),
  }
}

const ceilSecond = (at: Date): Date => new Date(Math.ceil(at.getTime() / SECOND_ms) * SECOND_ms)

/** The number of pages. If the bank does not say, a full page may have another after it. */
const pagesOf = (body: Fields, entries: number, page: number): number =>
  announcedPages(body) ?? (entries >= PAGE_SIZE ? page + 2 : page + 1)

function announcedPages(body: Fields): number | null {
  const count = fieldsOf(fieldsOf(body.parametros).paginacao).quantidadeDePaginas
  return Number.isInteger(Number(count ?? Number.NaN)) ? Number(count) : null
}
