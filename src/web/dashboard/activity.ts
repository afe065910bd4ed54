import type { FastifyReply } from 'fastify'
import type { Author, AuthorKind, Entry, RecordType } from '../../core/activity/rules.ts'
import { type ActivityFilter, listAuthors, listEntries } from '../../core/activity/store.ts'
import { emailsOf } from '../../core/people/store.ts'
import type { Database } from '../../db/database.ts'
import { type Column as CsvColumn, csvWriter } from '../../lib/csv.ts'
import { idOfSuffix, isUuid, lowestIdAt, suffixOf, type Uuid } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais } from '../../lib/money.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { endOfPeriod, formatMoment, isLocalDate, startOfPeriod } from '../../pix/local-time.ts'
import { type Html, html } from '../html.ts'
import { type ActionWords, actionText, wordsOf } from './action-texts.ts'
import { sendCsv } from './csv.ts'
import { dayFilter, type Filtered, filterHead, selectFilter } from './filters.ts'
import { fileLink, givenOf } from './finance-parts.ts'
import { listCard } from './list-parts.ts'
import { type Column, moment, notFound, nothing, pager, table } from './parts.ts'
import { sendSettings } from './settings.ts'
import { DASHBOARD } from './texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const PATH = '/settings/activity'
const PAGE_SIZE = 50
/** So many entries of a file are written before other requests are served. */
const SLICE = 200

/** Whose entries are shown if nobody is chosen. Keys and we ourselves would hide what people do. */
type Everybody = 'people' | 'all'
/** Chosen to see those of keys and of ourselves too. */
const ALL = 'all'

/** The filters of the URL. What is not understood is not used. */
function filterOf({ query }: Pick<Visit, 'query'>, everybody: Everybody): ActivityFilter {
  const { author = '', action, from = '', to = '' } = query
  const end = isLocalDate(to) ? lowestIdAt(endOfPeriod(to)) : null
  const after = idOfSuffix(query.after ?? '')
  return {
    author: readAuthor(author) ?? (everybody === 'people' && author !== ALL ? 'people' : null),
    action: action || null,
    from: isLocalDate(from) ? lowestIdAt(startOfPeriod(from)) : null,
    // A cursor is before the end of the period already.
    before: after ?? end,
  }
}

/** Authors in a URL: the kind, and the id if there is one. */
const authorName = ({ kind, id }: Pick<Author, 'kind' | 'id'>): string =>
  id === null ? kind : `${kind}:${id}`

function readAuthor(text: string): ActivityFilter['author'] {
  const [kind, id = null] = text.split(':')
  if (kind === 'person' || kind === 'key') return id && isUuid(id) ? { kind, id } : null
  return kind === 'command-line' || kind === 'service' ? { kind, id: null } : null
}

/** A page that shows a log: that of a company, or that of the installation. */
type LogVisit = Filtered & Pick<Visit, 'url'>

/** Whose log it is, and the actions that it has. */
type Log = {
  db: Database
  id: Uuid
  words: ActionWords
  actions: readonly string[]
  everybody: Everybody
}

/** Entries of a log, with filters and pages. */
export async function entriesOf(visit: LogVisit, log: Log): Promise<Html> {
  const { db, id, words, everybody } = log
  const { language, query } = visit
  const texts = ACTIVITY[language]
  const filter = filterOf(visit, everybody)
  const [found, authors] = await Promise.all([
    // One more than the page holds shows whether there is a next page.
    listEntries(db, id, filter, PAGE_SIZE + 1),
    listAuthors(db, id),
  ])
  const entries = found.slice(0, PAGE_SIZE)
  const next = found.length > PAGE_SIZE ? suffixOf(entries.at(-1)!.id) : null
  const people = entries.flatMap(({ record }) => (record?.type === 'person' ? [record.id] : []))
  const emails = await emailsOf(db.control, people)
  const { author, action, from, to } = query
  const isFiltered = Boolean(author || action || from || to)
  const list = table(
    texts.caption,
    columnsOf(visit, emails, words),
    entries,
    isFiltered ? notFound(texts.emptyFiltered) : nothing(language, texts.empty),
  )
  const more = filter.author === 'people' && allLink(visit)
  return html`${filtersOf(visit, authors, log)}
${listCard(html`${more}${list}${pager(visit, next)}`)}`
}

async function show(visit: Visit): Promise<FastifyReply> {
  const { app, company } = visit
  const { title, about } = ACTIVITY[visit.language]
  const words = wordsOf(visit.site.operations)
  const actions = Object.keys(words)
  const log = { db: app.db, id: company.id, words, actions, everybody: 'people' } as const
  const entries = await entriesOf(visit, log)
  const body = html`<p class="soft">${about}</p>
${entries}`
  return sendSettings(visit, '/activity', { title, actions: linkToFile(visit), body })
}

function linkToFile(visit: Visit): Html {
  const given = givenOf(visit, ['author', 'action', 'from', 'to'])
  return fileLink(visit, `${PATH}.csv`, given, ACTIVITY[visit.language].csv)
}

/** Shows the entries of keys and of ourselves too, with the other filters as they are. */
function allLink({ request, query, language }: LogVisit): Html {
  const { after: _, ...filters } = query
  const search = new URLSearchParams({ ...(filters as Record<string, string>), author: ALL })
  const path = request.url.split('?')[0]!
  return html`<p class="soft small">${ACTIVITY[language].onlyPeople} <a href="${`${path}?${search}`}">${ACTIVITY[language].showAll}</a></p>`
}

function filtersOf(
  visit: LogVisit,
  authors: Omit<Author, 'address'>[],
  { words, actions: names, everybody }: Log,
): Html {
  const { language } = visit
  const { filters, kinds } = ACTIVITY[language]
  const [all, choices] =
    everybody === 'people'
      ? [filters.people, [{ value: ALL, label: filters.everything }]]
      : [filters.anybody, []]
  const people = authors.map((one) => ({
    value: authorName(one),
    label: one.kind === 'key' ? `${kinds.key}: ${one.name}` : one.name,
  }))
  const machines = (['command-line', 'service'] as const).map((kind) => ({
    value: kind as string,
    label: kinds[kind],
  }))
  const actions = names.map((name) => ({ value: name, label: actionText(words, name, language) }))
  actions.sort((a, b) => a.label.localeCompare(b.label, language))
  const controls = [
    selectFilter(visit, 'author', filters.author, all, [...choices, ...people, ...machines]),
    selectFilter(visit, 'action', filters.action, filters.anything, actions),
    dayFilter(visit, 'from', filters.from),
    dayFilter(visit, 'to', filters.to),
  ]
  return filterHead(visit, controls)
}

function columnsOf(
  visit: LogVisit,
  emails: Map<Uuid, string>,
  words: ActionWords,
): Column<Entry>[] {
  const { language } = visit
  const { columns, kinds } = ACTIVITY[language]
  return [
    {
      title: columns.what,
      kind: 'main',
      of: (entry) =>
        html`${actionText(words, entry.action, language)}<span class="soft small below">${detailsText(visit, entry)}</span>`,
    },
    {
      title: columns.who,
      of: ({ author: { kind, name } }) =>
        html`<span class="pair"><span class="breakable">${name}</span><span class="soft small">${kinds[kind]}</span></span>`,
    },
    { title: columns.record, of: (entry) => recordOf(visit, entry, emails) },
    { title: columns.from, of: ({ author: { address } }) => address ?? '–' },
    { title: columns.at, of: ({ at }) => moment(at) },
  ]
}

/** Amounts of money among the details, by their names in the API. */
const AMOUNTS = ['amount', 'value', 'total', 'price', 'above']

/** What is known beside the record: changed fields, amounts, a role. */
function detailsText({ language }: LogVisit, { details }: Entry): string {
  const { fields, filtered, files, lines, replayed, withdrawn, tries, since, role } =
    ACTIVITY[language]
  const words = Object.entries(details ?? {}).map(([name, value]) => {
    if (Array.isArray(value)) {
      const known = { fields, filters: filtered }
      const title = known[name as keyof typeof known] ?? name
      return value.length > 0 ? `${title}: ${value.join(', ')}` : ''
    }
    if (typeof value === 'number' && AMOUNTS.includes(name)) return formatReais(value)
    if (typeof value === 'number' && name === 'replayed') return replayed(value)
    if (typeof value === 'number' && name === 'withdrawn') return withdrawn(value)
    if (typeof value === 'number' && name === 'tries') return tries(value)
    if (typeof value === 'number' && name === 'lines') return lines(value)
    if (name === 'file') return files[value as keyof typeof files] ?? String(value)
    if (name === 'hour') return since(formatMoment(new Date(String(value))))
    if (name === 'role') return `${role}: ${roleText(language, String(value))}`
    return `${name}: ${value}`
  })
  return words.filter(Boolean).join(' · ')
}

const roleText = (language: Visit['language'], role: string): string =>
  DASHBOARD[language].roles[role as keyof (typeof DASHBOARD)['pt']['roles']] ?? role

/** Where a record of each type is shown. */
const PAGES: Partial<Record<NonNullable<Entry['record']>['type'], string>> = {
  charge: '/charges',
  customer: '/customers',
  dispute: '/disputes',
  link: '/links',
  payment: '/unmatched',
  plan: '/plans',
  product: '/products',
  recipient: '/recipients',
  'static-code': '/new/code',
  subscription: '/subscriptions',
  'subscription-link': '/subscriptions',
  webhook: '/developers/webhooks',
  withdrawal: '/balance/withdrawals',
}

function recordOf(
  visit: LogVisit,
  { record, action }: Entry,
  emails: Map<Uuid, string>,
): Html | null {
  if (!record) return null
  const { type, id } = record
  const page = PAGES[type]
  // A record that was deleted has no page any more.
  const name =
    page && !action.startsWith('delete')
      ? html`<a class="id-link" title="${id}" href="${visit.url(`${page}/${id}`)}">${id}</a>`
      : (emails.get(id) ?? id)
  return html`<span class="pair"><span>${ACTIVITY[visit.language].records[type]}</span><span class="soft small breakable">${name}</span></span>`
}

/** Stable columns: programs read them too. */
const csvColumns = (words: ActionWords): CsvColumn<Entry>[] => [
  { name: 'at', title: 'Quando', of: ({ at }) => at },
  { name: 'author', title: 'Quem', of: ({ author }) => author.name },
  { name: 'authorKind', title: 'Tipo de autor', of: ({ author }) => author.kind },
  { name: 'authorId', title: 'ID do autor', of: ({ author }) => author.id },
  { name: 'address', title: 'Endereço', of: ({ author }) => author.address },
  { name: 'action', title: 'Ação', of: ({ action }) => action },
  { name: 'words', title: 'Descrição', of: ({ action }) => actionText(words, action, 'pt') },
  { name: 'recordType', title: 'Tipo de registro', of: ({ record }) => record?.type ?? null },
  { name: 'recordId', title: 'Registro', of: ({ record }) => record?.id ?? null },
  {
    name: 'details',
    title: 'Detalhes',
    of: ({ details }) => details && JSON.stringify(details),
  },
]

/** All entries that match, the newest first. */
async function* fileOf(visit: Visit): AsyncGenerator<string> {
  const { app, company } = visit
  const { heading, line } = csvWriter(csvColumns(wordsOf(visit.site.operations)), BRAZILIAN)
  const filter = filterOf(visit, 'people')
  yield heading
  for (;;) {
    const entries = await listEntries(app.db, company.id, filter, SLICE)
    yield entries.map(line).join('')
    if (entries.length < SLICE) return
    filter.before = entries.at(-1)!.id
  }
}

export const activityRoutes: DashboardRoute[] = [
  { method: 'GET', path: PATH, needs: ['owner'], handle: show },
  {
    method: 'GET',
    path: `${PATH}.csv`,
    needs: ['owner'],
    handle: (visit) => sendCsv(visit, 'atividades.csv', fileOf(visit)),
  },
]

const pt = {
  title: 'Registro de atividades',
  about:
    'Quem mudou o quê nesta empresa, pelo painel, por chave de API ou pela linha de comando. Nada aqui pode ser alterado ou apagado.',
  caption: 'Atividades, as mais recentes primeiro',
  csv: 'Baixar CSV',
  empty: 'As mudanças feitas na empresa aparecem aqui.',
  emptyFiltered: 'Nenhuma atividade com estes filtros.',
  onlyPeople: 'Só o que pessoas fizeram.',
  showAll: 'Mostrar também chaves de API e ações automáticas',
  columns: { what: 'O quê', who: 'Quem', record: 'Registro', at: 'Quando', from: 'IP' },
  kinds: {
    person: 'Pessoa',
    key: 'Chave de API',
    'command-line': 'Linha de comando',
    service: 'Automático',
  } satisfies Record<AuthorKind, string>,
  records: {
    bank: 'Banco',
    charge: 'Cobrança',
    clock: 'Relógio de testes',
    company: 'Empresa',
    customer: 'Cliente',
    delivery: 'Entrega',
    dispute: 'Disputa',
    invitation: 'Convite',
    key: 'Chave de API',
    payment: 'Pagamento',
    person: 'Pessoa',
    plan: 'Carnê',
    product: 'Produto',
    recipient: 'Recebedor',
    refund: 'Devolução',
    link: 'Link',
    'static-code': 'QR Code fixo',
    subscription: 'Assinatura',
    'subscription-link': 'Link de assinatura',
    webhook: 'Webhook',
    withdrawal: 'Saque',
  } satisfies Record<RecordType, string>,
  filters: {
    author: 'Quem',
    anybody: 'Todos',
    people: 'Pessoas',
    everything: 'Todos, com chaves e automáticas',
    action: 'O quê',
    anything: 'Tudo',
    from: 'De',
    to: 'Até',
  },
  fields: 'Campos',
  filtered: 'Filtros',
  files: { charges: 'Cobranças', customers: 'Clientes', subscriptions: 'Assinaturas' },
  lines: (count: number) => (count === 1 ? '1 linha' : `${count} linhas`),
  replayed: (count: number) => (count === 1 ? '1 entrega' : `${count} entregas`),
  withdrawn: (count: number) =>
    count === 1 ? '1 convite cancelado' : `${count} convites cancelados`,
  tries: (count: number) => (count === 1 ? '1 tentativa' : `${count} tentativas`),
  since: (hour: string) => `na hora a partir de ${hour}`,
  role: 'Função',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Activity log',
  about:
    'Who changed what in this company, by dashboard, API key or command line. Nothing here can be changed or deleted.',
  caption: 'Activities, newest first',
  csv: 'Download CSV',
  empty: 'Changes of the company are shown here.',
  emptyFiltered: 'No activity matches these filters.',
  onlyPeople: 'Only what people did.',
  showAll: 'Show API keys and automatic actions too',
  columns: { what: 'What', who: 'Who', record: 'Record', at: 'When', from: 'IP' },
  kinds: {
    person: 'Person',
    key: 'API key',
    'command-line': 'Command line',
    service: 'Automatic',
  },
  records: {
    bank: 'Bank',
    charge: 'Charge',
    clock: 'Test clock',
    company: 'Company',
    customer: 'Customer',
    delivery: 'Delivery',
    dispute: 'Dispute',
    invitation: 'Invitation',
    key: 'API key',
    payment: 'Payment',
    person: 'Person',
    plan: 'Plan',
    product: 'Product',
    recipient: 'Recipient',
    refund: 'Refund',
    link: 'Link',
    'static-code': 'Static QR code',
    subscription: 'Subscription',
    'subscription-link': 'Subscription link',
    webhook: 'Webhook',
    withdrawal: 'Withdrawal',
  },
  filters: {
    author: 'Who',
    anybody: 'Everybody',
    people: 'People',
    everything: 'Everybody, with keys and automatic ones',
    action: 'What',
    anything: 'Everything',
    from: 'From',
    to: 'To',
  },
  fields: 'Fields',
  filtered: 'Filters',
  files: { charges: 'Charges', customers: 'Customers', subscriptions: 'Subscriptions' },
  lines: (count) => (count === 1 ? '1 line' : `${count} lines`),
  replayed: (count) => (count === 1 ? '1 delivery' : `${count} deliveries`),
  withdrawn: (count) => (count === 1 ? '1 invitation withdrawn' : `${count} invitations withdrawn`),
  tries: (count) => (count === 1 ? '1 try' : `${count} tries`),
  since: (hour) => `in the hour from ${hour}`,
  role: 'Role',
}

export const ACTIVITY: Record<Language, Texts> = { pt, en }
