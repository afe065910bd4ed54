import type { FastifyReply } from 'fastify'
import { type ApiKey, findKey, findKeyNames, listKeysAfter } from '../../core/companies/store.ts'
import {
  type LoggedRequest,
  oldestKept,
  STATUS_CLASSES,
  type StatusClass,
} from '../../core/request-log/rules.ts'
import {
  findRequest,
  listRequests,
  listUsedOperations,
  type RequestFilter,
} from '../../core/request-log/store.ts'
import { idOfSuffix, lowestIdAt, suffixOf, timeOf, type Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { problem } from '../../lib/problems.ts'
import { endOfPeriod, isLocalDate, startOfPeriod } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { copyable, sendForDevelopers } from './developers.ts'
import { explainError } from './error-texts.ts'
import { dayFilter, filterHead, selectFilter } from './filters.ts'
import { backLink } from './form-parts.ts'
import { listCard } from './list-parts.ts'
import {
  type Column,
  card,
  idText,
  moment,
  notFound,
  nothing,
  notice,
  pager,
  pill,
  rowLink,
  table,
} from './parts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PATH = '/developers/requests'
const PAGE_SIZE = 50
/** The filter offers so many keys at most, the newest first. */
const MAX_KEYS = 100
const CLASSES = Object.keys(STATUS_CLASSES) as StatusClass[]

/** The filters of the URL. What is not understood is not used. */
function filterOf({ query, site }: Visit): RequestFilter {
  const { status, operation, key = '', from = '', to = '' } = query
  const oldest = oldestKept(site.app.systemClock.now())
  const start = isLocalDate(from) ? startOfPeriod(from) : oldest
  const end = isLocalDate(to) ? lowestIdAt(endOfPeriod(to)) : null
  return {
    status: CLASSES.find((one) => one === status) ?? null,
    operation: operation || null,
    keyId: idOfSuffix(key),
    from: lowestIdAt(start > oldest ? start : oldest),
    before: idOfSuffix(query.after ?? '') ?? end,
  }
}

async function list(visit: Visit): Promise<FastifyReply> {
  const { app, company, language, query, site } = visit
  const texts = REQUESTS[language]
  const wanted = query.id?.trim().toLowerCase()
  const asked = wanted ? await findOne(visit, wanted) : null
  if (asked) return visit.redirect(`${PATH}/${suffixOf(asked.id)}`)
  const since = oldestKept(site.app.systemClock.now())
  const [keys, used] = await Promise.all([
    listKeysAfter(app.db, company.id, { limit: MAX_KEYS, after: null }),
    listUsedOperations(app.db, company.id, since),
  ])
  const operations = used.map(({ operation }) => operation)
  const { requests, next } = await listRequests(app.db, company.id, filterOf(visit), PAGE_SIZE)
  const keyIds = requests.map(({ keyId }) => keyId)
  const names = await findKeyNames(app.db, company.id, keyIds)
  const { status, operation, key, from, to } = query
  const isFiltered = Boolean(status || operation || key || from || to)
  const shown =
    requests.length > 0
      ? table(texts.caption, columnsOf(visit, names), requests)
      : next !== null || isFiltered
        ? notFound(next === null ? texts.emptyFiltered : texts.searchOn)
        : nothing(language, texts.empty)
  const isPart = next !== null && requests.length < PAGE_SIZE
  const body = html`<p class="soft">${texts.about}</p>
${wanted && notice(texts.notFound, 'warn')}
${filtersOf(visit, keys, operations)}
${listCard(html`${shown}${isPart && html`<p class="soft">${texts.searchedUntil} ${moment(timeOf(next))}.</p>`}${pager(visit, next && suffixOf(next))}`)}`
  return sendForDevelopers(visit, 'requests', { title: texts.title, body })
}

/** A request of the last 7 days, by its id as answers have it. */
async function findOne({ app, company, site }: Visit, text: string): Promise<LoggedRequest | null> {
  const id = idOfSuffix(text)
  if (id === null || timeOf(id) < oldestKept(site.app.systemClock.now())) return null
  return findRequest(app.db, company.id, id)
}

function filtersOf(visit: Visit, keys: ApiKey[], operations: string[]): Html {
  const { filters, statuses } = REQUESTS[visit.language]
  const classes = CLASSES.map((value) => ({ value, label: statuses[value] }))
  const used = operations.map((value) => ({ value, label: value }))
  const named = keys.map(({ id, name }) => ({ value: suffixOf(id), label: name }))
  const controls = [
    selectFilter(visit, 'status', filters.status, filters.allStatuses, classes),
    selectFilter(visit, 'operation', filters.operation, filters.allOperations, used),
    selectFilter(visit, 'key', filters.key, filters.allKeys, named),
    dayFilter(visit, 'from', filters.from),
    dayFilter(visit, 'to', filters.to),
  ]
  const box = {
    name: 'id',
    label: filters.id,
    hint: filters.id,
    value: visit.query.id ?? '',
    find: filters.find,
  }
  return filterHead(visit, controls, { box })
}

/** The method and path of an operation, as in the reference. */
function callOf({ site }: Visit, operationId: string): Html | string {
  const found = site.operations.find((one) => one.operationId === operationId)
  return found ? html`<code class="breakable">${found.method} ${found.path}</code>` : operationId
}

const statusPill = ({ status }: LoggedRequest): Html =>
  pill(String(status), status < 400 ? 'good' : status < 500 ? 'warn' : 'bad')

const duration = ({ ms }: LoggedRequest): Html =>
  html`<span class="nowrap">${ms === 0 ? '< 1' : ms} ms</span>`

/** The code of an error, which breaks only between its words. */
const errorCode = (code: string): Html =>
  html`<code class="small unbroken">${code.split('_').map((word, i) => html`${i > 0 && html`_<wbr>`}${word}`)}</code>`

function columnsOf(visit: Visit, names: Map<Uuid, string>): Column<LoggedRequest>[] {
  const { columns, unknownKey } = REQUESTS[visit.language]
  return [
    {
      title: columns.operation,
      kind: 'main',
      of: ({ id, operation }) =>
        rowLink(visit.url(`${PATH}/${suffixOf(id)}`), callOf(visit, operation), operation),
    },
    {
      title: columns.status,
      kind: 'state',
      of: (request) =>
        html`${statusPill(request)} ${request.errorCode && errorCode(request.errorCode)}`,
    },
    { title: columns.time, kind: 'number', isWide: true, of: duration },
    { title: columns.key, of: ({ keyId }) => names.get(keyId) ?? unknownKey },
    { title: columns.at, kind: 'moment', of: ({ id }) => moment(timeOf(id)) },
    {
      title: columns.id,
      of: ({ id }) => idText(suffixOf(id), columns.id, visit.language),
    },
  ]
}

/** The id that the caller has sent, if it has. */
const callerId = ({ language }: Visit, request: LoggedRequest): [string, Html][] =>
  request.callerId === null
    ? []
    : [[REQUESTS[language].one.callerId, html`<code class="breakable">${request.callerId}</code>`]]

async function showOne(visit: Visit): Promise<FastifyReply> {
  const { app, company, language, params } = visit
  const texts = REQUESTS[language]
  const request = await findOne(visit, params.id ?? '')
  if (!request) throw problem('route_not_found')
  const { id, operation, errorCode } = request
  const key = await findKey(app.db, company.id, request.keyId)
  const explained = errorCode === null ? null : explainError(errorCode, language)
  const error = errorCode && [
    card(
      html`${texts.one.error} <code class="breakable">${errorCode}</code>`,
      explained &&
        html`${facts([
          [texts.one.meaning, explained.means],
          [texts.one.advice, explained.advice],
        ])}<p><a href="/docs">${texts.one.reference}</a></p>`,
    ),
  ]
  const back = backLink(visit, PATH, texts.one.back)
  const body = html`<div class="columns">
${card(
  callOf(visit, operation),
  html`${copyable(suffixOf(id), texts.one.copyId, visit)}${facts([
    [texts.one.status, statusPill(request)],
    [texts.columns.at, moment(timeOf(id))],
    [texts.columns.time, duration(request)],
    [texts.one.operation, operation],
    [texts.columns.key, key?.name ?? texts.unknownKey],
    ...callerId(visit, request),
  ])}<p class="soft small">${texts.one.noBody}</p>`,
)}
${error}
</div>`
  return sendForDevelopers(visit, 'requests', { title: texts.one.title, back, body })
}

export const requestsRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: 'webhooks:read', handle: list },
  { method: 'GET', path: `${PATH}/:id`, needs: 'webhooks:read', handle: showOne },
]

const pt = {
  title: 'Requisições',
  about:
    'As chamadas à API nos últimos 7 dias. O corpo das requisições e os dados dos pagadores não são guardados aqui. O ID de cada uma está no cabeçalho X-Request-Id da resposta.',
  caption: 'Requisições, as mais recentes primeiro',
  empty: 'As chamadas que suas chaves fizerem à API aparecem aqui.',
  emptyFiltered: 'Nenhuma requisição com estes filtros.',
  searchOn: 'Nada encontrado até aqui. A busca ainda não chegou ao fim: veja as mais antigas.',
  /** A moment follows. */
  searchedUntil: 'A busca chegou até',
  notFound: 'Nenhuma requisição dos últimos 7 dias tem este ID.',
  columns: {
    operation: 'Operação',
    status: 'Status',
    time: 'Duração',
    key: 'Chave',
    at: 'Quando',
    id: 'ID da requisição',
  },
  statuses: {
    ok: 'Sucesso (2xx)',
    refused: 'Recusadas (4xx)',
    failed: 'Falhas do serviço (5xx)',
  } satisfies Record<StatusClass, string>,
  filters: {
    id: 'ID da requisição',
    find: 'Buscar',
    status: 'Status',
    allStatuses: 'Todos',
    operation: 'Operação',
    allOperations: 'Todas',
    key: 'Chave',
    allKeys: 'Todas',
    from: 'De',
    to: 'Até',
  },
  one: {
    title: 'Requisição',
    back: 'Requisições',
    request: 'Chamada',
    operation: 'Operação',
    status: 'Status',
    error: 'Código do erro',
    meaning: 'O que aconteceu',
    advice: 'O que fazer',
    copyId: 'o ID da requisição',
    callerId: 'X-Request-Id enviado',
    noBody: 'O corpo da requisição e o da resposta não são guardados.',
    reference: 'Ver na documentação',
  },
  unknownKey: 'Chave desconhecida',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Requests',
  about:
    'The API calls of the last 7 days. Bodies of requests and data of payers are not kept here. The ID of each is in the header X-Request-Id of its answer.',
  caption: 'Requests, newest first',
  empty: 'Calls that your keys send to the API are shown here.',
  emptyFiltered: 'No request matches these filters.',
  searchOn: 'Nothing was found so far. The search is not at its end yet: see older ones.',
  searchedUntil: 'Searched back to',
  notFound: 'No request of the last 7 days has this ID.',
  columns: {
    operation: 'Operation',
    status: 'Status',
    time: 'Duration',
    key: 'Key',
    at: 'When',
    id: 'Request ID',
  },
  statuses: {
    ok: 'Success (2xx)',
    refused: 'Refused (4xx)',
    failed: 'Faults of the service (5xx)',
  },
  filters: {
    id: 'Request ID',
    find: 'Search',
    status: 'Status',
    allStatuses: 'All',
    operation: 'Operation',
    allOperations: 'All',
    key: 'Key',
    allKeys: 'All',
    from: 'From',
    to: 'To',
  },
  one: {
    title: 'Request',
    back: 'Requests',
    request: 'Call',
    operation: 'Operation',
    status: 'Status',
    error: 'Error code',
    meaning: 'What happened',
    advice: 'What to do',
    copyId: 'the request ID',
    callerId: 'X-Request-Id as sent',
    noBody: 'The bodies of the request and of the answer are not kept.',
    reference: 'See the documentation',
  },
  unknownKey: 'Unknown key',
}

const REQUESTS: Record<Language, Texts> = { pt, en }
