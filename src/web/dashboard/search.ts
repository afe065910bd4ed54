import type { FastifyReply } from 'fastify'
import { type Charge, asOf as chargeAsOf } from '../../core/charges/rules.ts'
import { findCharges, meaningsOf } from '../../core/charges/search.ts'
import { findStaticCodes } from '../../core/charges/static.ts'
import { digitParts, nameParts } from '../../core/customers/parts.ts'
import { foldedWords } from '../../core/customers/rules.ts'
import { openPerson } from '../../core/customers/sealing.ts'
import { find as findDelivery } from '../../core/deliveries/log-store.ts'
import { readDeliveryId } from '../../core/deliveries/view.ts'
import { MAX_SLUG } from '../../core/links/rules.ts'
import { findBySlug, list as listLinks } from '../../core/links/store.ts'
import type { Payment } from '../../core/payments/rules.ts'
import { openPayer } from '../../core/payments/sealing.ts'
import { findUnmatched, listUnmatched } from '../../core/payments/store.ts'
import { type Needs, ROLES } from '../../core/people/rules.ts'
import { type FoundId, findByIdEnd, findByPublicId } from '../../core/records.ts'
import { type Recurrence, asOf as subscriptionAsOf } from '../../core/recurrences/rules.ts'
import { search as searchRecurrences } from '../../core/recurrences/store.ts'
import { find as findRefund } from '../../core/refunds/store.ts'
import { find as findWebhook } from '../../core/webhooks/store.ts'
import { findByText } from '../../core/withdrawals/store.ts'
import { showWithdrawal } from '../../core/withdrawals/view.ts'
import {
  fromPublic,
  isUuid,
  type Prefix,
  suffixOf,
  toPublic,
  type Uuid,
  unpackPair,
} from '../../lib/ids.ts'
import { maskBankTaxId, maskPhone } from '../../pix/masks.ts'
import { plainTaxId } from '../../pix/tax-id.ts'
import { cleanTyped } from '../../pix/written.ts'
import { chargeTxid, namedBy } from '../../provider/txid.ts'
import { type Html, html, type Shown } from '../html.ts'
import { icon } from '../layout.ts'
import { searching } from './charge-filters.ts'
import { stateOf } from './charges.ts'
import { CHARGES } from './charges-texts.ts'
import { type ShownCustomer, searchCustomers } from './customers.ts'
import { card, heading, listedTaxId, moment, money, notFound, wholeEmail } from './parts.ts'
import { findPages } from './search-pages.ts'
import { SEARCH } from './search-texts.ts'
import { subscriptionPill } from './states.ts'
import { UNMATCHED } from './unmatched-texts.ts'
import type { DashboardRoute, Visit } from './visit.ts'
import { statePill } from './withdrawal.ts'

/** So many of each kind are shown. */
const SHOWN = 5
/** Subscriptions are found by so many customers. */
const MAX_PEOPLE = 20
/** So many of the newest payments that wait for a decision are compared with the text. */
const MAX_UNMATCHED = 200
/** So many of the newest links are compared with the text. */
const MAX_LINKS = 200
/** So many characters may be the beginning of the scheme's id of a payment. */
const MIN_START = 5

/** A record that was found: where it leads, its name, what tells it from others. */
type Found = { path: string; title: Shown; about?: Shown; side?: Shown }

/** What a kind has found: the first of them, and where all are if there are more. */
type FoundKind = { found: Found[]; all?: string | null }

type Sought = { text: string; people: ShownCustomer[]; hasMorePeople: boolean }

type GroupName = keyof (typeof SEARCH)['pt']['groups']

/** A kind of records in the order of the page. A new kind is one entry here, and its texts. */
type Group = {
  name: GroupName
  needs: Needs
  find(visit: Visit, sought: Sought): FoundKind | Promise<FoundKind>
}

const GROUPS: Group[] = [
  { name: 'pages', needs: ROLES, find: pagesOf },
  { name: 'ids', needs: ROLES, find: idsOf },
  { name: 'customers', needs: 'payments:read', find: customersOf },
  { name: 'charges', needs: 'payments:read', find: chargesOf },
  { name: 'links', needs: 'payments:read', find: linksOf },
  { name: 'subscriptions', needs: 'payments:read', find: subscriptionsOf },
  { name: 'unmatched', needs: 'payments:read', find: unmatchedOf },
  { name: 'withdrawals', needs: 'balance:read', find: withdrawalsOf },
]

async function show(visit: Visit): Promise<FastifyReply> {
  const { language, query } = visit
  const texts = SEARCH[language]
  const text = cleanTyped(query.q ?? '')
  if (text === '') {
    const body = html`${heading(texts.title)}${card(null, html`<p>${texts.hint}</p><p class="soft">${texts.keys}</p>`)}`
    return visit.send({ title: texts.title, here: null, body })
  }
  const path = await exactPage(visit, text)
  if (path !== null) return visit.redirect(path)
  const title = texts.titleFor(text)
  const groups = await findAll(visit, text)
  const none = card(null, notFound(texts.nothing(text), html`${texts.nothingHint} ${texts.hint}`))
  const body = html`${heading(title)}${groups.length > 0 ? groups.map((one) => groupCard(visit, one)) : none}`
  return visit.send({ title, here: null, body })
}

type FoundGroup = FoundKind & { name: GroupName }

/** What each kind finds that the person may see. Kinds that find nothing are left out. */
async function findAll(visit: Visit, text: string): Promise<FoundGroup[]> {
  const people = await searchCustomers(visit, text, { limit: MAX_PEOPLE })
  const sought = { text, people: people.data, hasMorePeople: people.isCut ?? false }
  const groups: FoundGroup[] = []
  for (const { name, find } of GROUPS.filter(({ needs }) => visit.can(needs))) {
    const kind = await find(visit, sought)
    if (kind.found.length > 0) groups.push({ name, ...kind })
  }
  return groups
}

function groupCard({ language, url }: Visit, { name, found, all }: FoundGroup): Html {
  const texts = SEARCH[language]
  const row = ({ path, title, about, side }: Found) =>
    html`<li><a class="row" href="${path.startsWith('//') ? path.slice(1) : url(path)}"><span><strong>${title}</strong>${about && html`<span class="soft small">${about}</span>`}</span>${side && html`<span class="found-side">${side}</span>`}</a></li>`
  const more =
    all &&
    html`<p class="found-all"><a href="${url(all)}">${texts.all}<span class="hide">: ${texts.groups[name]}</span></a></p>`
  return card(
    texts.groups[name],
    html`<ul class="rows">${found.slice(0, SHOWN).map(row)}</ul>${more}`,
    'found',
  )
}

const joined = (parts: (string | null | undefined | false)[]): string =>
  parts.filter(Boolean).join(' · ')

function pagesOf(visit: Visit, { text }: Sought): FoundKind {
  const pages = findPages(visit, text)
  return {
    found: pages.map(({ path, title }) => ({
      path,
      title: title[visit.language],
      side: icon('next'),
    })),
  }
}

function customersOf(visit: Visit, { text, people, hasMorePeople }: Sought): FoundKind {
  const found = people.map(({ id, name, taxId, email, phone }) => ({
    path: `/customers/${id}`,
    title: name,
    about: joined([
      listedTaxId(plainTaxId(taxId)),
      phone && maskPhone(phone),
      email && wholeEmail(visit, email),
    ]),
  }))
  const isMore = hasMorePeople || people.length > SHOWN
  return { found, all: isMore ? `/customers?${new URLSearchParams({ q: text })}` : null }
}

async function chargesOf(visit: Visit, { text }: Sought): Promise<FoundKind> {
  const page = { limit: SHOWN + 1, after: null }
  const where = searching(visit)
  const { meaning, charges } = await findCharges(where, { text }, {}, page)
  if (meaning === null) return { found: [] }
  const search = new URLSearchParams({ q: text, as: meaning.kind })
  return {
    found: charges.map((charge) => chargeFound(visit, chargeAsOf(charge, where.now))),
    all: charges.length > SHOWN ? `/charges?${search}` : null,
  }
}

function chargeFound(visit: Visit, charge: Charge): Found {
  const { payer, companyId, externalId, description, kind } = charge
  const taxId = payer && listedTaxId(openPerson(visit.app.vault, companyId, payer).taxId)
  return {
    path: `/charges/${toPublic('charge', charge.id)}`,
    title: payer?.name ?? SEARCH[visit.language].noPayer,
    about: joined([taxId, CHARGES[visit.language].kinds[kind], externalId, description]),
    side: html`${money(charge.amount)}${stateOf(visit, charge)}<span class="soft small">${moment(charge.paymentDate ?? charge.createdAt)}</span>`,
  }
}

async function subscriptionsOf(visit: Visit, { people }: Sought): Promise<FoundKind> {
  if (people.length === 0) return { found: [] }
  const { app, company, language } = visit
  const now = app.clock.now()
  const customerIds = people.map(({ id }) => fromPublic('clnt', id)!)
  const filter = { isTemplate: false, authStatus: null, customerId: null, customerIds }
  const page = { limit: SHOWN + 1, after: null }
  const all = await searchRecurrences(app.db, company.id, filter, page, now)
  const shown = all.map((one) => subscriptionAsOf(one, now))
  const found = shown.map((one: Recurrence) => ({
    path: `/subscriptions/${toPublic('rec', one.id)}`,
    title: one.payer?.name ?? '',
    about: one.productName,
    side: html`${money(one.value)}${subscriptionPill(one, language)}`,
  }))
  // The page of a customer has all of theirs.
  const owners = new Set(all.map(({ customerId }) => customerId))
  const whole = owners.size === 1 ? `/customers/${people[0]!.id}` : '/subscriptions'
  return { found, all: all.length > SHOWN ? whole : null }
}

/** Payments that wait for a decision are few. Their payers are in no index. */
async function unmatchedOf(visit: Visit, { text }: Sought): Promise<FoundKind> {
  const { app, company, language } = visit
  const filter = { limit: MAX_UNMATCHED, after: null, status: 'UNMATCHED' } as const
  const waiting = await listUnmatched(app.db, company.id, filter)
  const isSought = comparedWith(text)
  const found = waiting.flatMap((payment): Found[] => {
    const payer = payment.payer && openPayer(app.vault, payment, payment.payer)
    if (!isSought(payment, payer)) return []
    const title = payer?.name ?? UNMATCHED[language].unknownPayer
    const taxId = payer?.taxId && maskBankTaxId(payer.taxId)
    return [
      {
        path: `/unmatched/${payment.endToEndId}`,
        title,
        about: joined([taxId, UNMATCHED[language].reasons[payment.reason!].short]),
        side: html`${money(payment.amount)}<span class="soft small">${moment(payment.receivedAt)}</span>`,
      },
    ]
  })
  return { found, all: found.length > SHOWN ? '/unmatched' : null }
}

type NamedPayer = { name?: string; taxId?: string } | null

/** Compares payments with a text: by amount, name, tax id, or the beginning of the scheme's id. */
function comparedWith(text: string): (payment: Payment, payer: NamedPayer) => boolean {
  const amount = meaningsOf(text).find(({ kind }) => kind === 'amount')?.value
  const [name, digits, whole] = [nameParts(text), digitParts(text), plainTaxId(text)]
  const start = text.length >= MIN_START ? text.toUpperCase() : null
  return ({ amount: paid, endToEndId }, payer) => {
    if (paid === amount) return true
    if (start !== null && endToEndId.toUpperCase().startsWith(start)) return true
    if (!payer) return false
    const person = { name: payer.name ?? '', taxId: plainTaxId(payer.taxId ?? '') }
    return person.taxId === whole || name?.isOf(person) || digits?.isOf(person) || false
  }
}

async function withdrawalsOf(visit: Visit, { text }: Sought): Promise<FoundKind> {
  const { app, company } = visit
  const value = meaningsOf(text).find(({ kind }) => kind === 'amount')?.value
  const endToEndId = /^E\d{4,}/i.test(text) ? text.replace(/^e/, 'E') : null
  if (typeof value !== 'number' && endToEndId === null) return { found: [] }
  const sought = { value: typeof value === 'number' ? value : null, endToEndId }
  const all = await findByText(app.db, company.id, sought, SHOWN + 1)
  const now = app.clock.now()
  const found = all
    .map((one) => showWithdrawal(one, now))
    .map((one) => ({
      path: `/balance/withdrawals/${one.id}`,
      title: money(one.value),
      about: one.destination,
      side: html`${statePill(visit, one)}<span class="soft small">${moment(one.createdAt)}</span>`,
    }))
  return { found, all: all.length > SHOWN ? '/balance/withdrawals' : null }
}

/**
 * The link of an address, and those whose title and address have all words of the text. For words
 * only the newest are looked through.
 */
async function linksOf({ app, company }: Visit, { text }: Sought): Promise<FoundKind> {
  const words = foldedWords(text)
  if (words.length === 0) return { found: [] }
  const slug = text.toLowerCase().replace(/^\//, '')
  const named = slug.length <= MAX_SLUG ? await findBySlug(app.db, company.id, slug) : null
  const links = await listLinks(app.db, company.id, { limit: MAX_LINKS, after: null })
  const others = links.filter(({ id, title, slug }) => {
    const folded = [...foldedWords(title), slug].join(' ')
    return id !== named?.id && words.every((word) => folded.includes(word))
  })
  const found = named ? [named, ...others] : others
  return {
    found: found.slice(0, SHOWN).map(({ id, title, slug }) => ({
      path: `/links/${toPublic('link', id)}`,
      title,
      about: slug,
      side: icon('next'),
    })),
    all: found.length > SHOWN ? '/links' : null,
  }
}

/** Where the page of a record is, and what it needs. A refund is on the page of what it returns. */
const RECORDS: Record<Exclude<Prefix, 'rfnd'>, { path: string; needs: Needs }> = {
  charge: { path: '/charges', needs: 'payments:read' },
  clnt: { path: '/customers', needs: 'payments:read' },
  dispute: { path: '/disputes', needs: 'payments:read' },
  evt: { path: '/developers/events', needs: 'webhooks:read' },
  link: { path: '/links', needs: 'payments:read' },
  plan: { path: '/plans', needs: 'payments:read' },
  prod: { path: '/products', needs: 'catalog:read' },
  qrs: { path: '/new/code', needs: 'payments:read' },
  rcpt: { path: '/recipients', needs: 'balance:read' },
  rec: { path: '/subscriptions', needs: 'payments:read' },
  wd: { path: '/balance/withdrawals', needs: 'balance:read' },
}

/** Records by their ids, or by the beginning or end of these, which people see cut. */
async function idsOf(visit: Visit, { text }: Sought): Promise<FoundKind> {
  const { app, company } = visit
  const begun = await findByPublicId(app.db, company.id, text, SHOWN)
  const ids = begun.length > 0 ? begun : await findByIdEnd(app.db, company.id, text, SHOWN)
  const pages = await Promise.all(ids.map((id) => pageOf(visit, id)))
  const found = ids.flatMap((one, i): Found[] => {
    const path = pages[i]
    if (!path) return []
    return [{ path, title: SEARCH[visit.language].records[one.prefix], about: one.text }]
  })
  return { found }
}

async function pageOf(visit: Visit, { prefix, id, text }: FoundId): Promise<string | null> {
  if (prefix === 'rfnd') return visit.can('payments:read') ? pageOfRefund(visit, id) : null
  const { path, needs } = RECORDS[prefix]
  return visit.can(needs) ? `${path}/${text}` : null
}

async function pageOfRefund({ app, company }: Visit, id: Uuid): Promise<string | null> {
  const refund = await findRefund(app.db, company.id, id)
  if (!refund) return null
  const { chargeId, endToEndId } = refund
  return chargeId ? `/charges/${toPublic('charge', chargeId)}` : `/unmatched/${endToEndId}`
}

/** What may be on a page whose address has a token. */
const PAYERS_PAGES = ['charge', 'rec', 'plan'] as const

/** The page of the only record that has this whole id. Null if the text is none. */
async function exactPage(visit: Visit, text: string): Promise<string | null> {
  const isWhole = /^[a-z]+_[0-9a-z]{26}$/i.test(text)
  const [own] = isWhole ? await findByPublicId(visit.app.db, visit.company.id, text, 1) : []
  if (own) return pageOf(visit, own)
  const path = await pageOfAddress(visit, text)
  if (path !== null) return path
  const record = visit.can('webhooks:read') ? await pageForDevelopers(visit, text) : null
  if (record !== null) return record
  return visit.can('payments:read') ? pageOfPayment(visit, text) : null
}

/** By an address of ours: of a link, of a payer's page, or of a page of the dashboard. */
async function pageOfAddress(visit: Visit, text: string): Promise<string | null> {
  const { app, company } = visit
  const path = /^https?:\/\/[^/]+(\/[^?#\s]*)/i.exec(text)?.[1]
  if (!path) return null
  const [, owner, slug] = /^\/l\/([^/]+)\/([^/]+)/.exec(path) ?? []
  if (slug) {
    const isOwn = owner === suffixOf(company.id) && visit.can('payments:read')
    const link = isOwn ? await findBySlug(app.db, company.id, slug) : null
    return link && `/links/${toPublic('link', link.id)}`
  }
  const token = /^\/(?:pay|plan)\/([\w-]{43})/.exec(path)?.[1]
  const pair = token === undefined ? null : unpackPair(token)
  const id = /[a-z]+_[0-9a-z]{26}/.exec(path)?.[0]
  const ids = pair ? PAYERS_PAGES.map((prefix) => toPublic(prefix, pair.id)) : id ? [id] : []
  for (const one of ids) {
    const [found] = await findByPublicId(app.db, company.id, one, 1)
    if (found) return pageOf(visit, found)
  }
  return null
}

async function pageForDevelopers({ app, company }: Visit, text: string): Promise<string | null> {
  if (isUuid(text.toLowerCase())) {
    const webhook = await findWebhook(app.db, company.id, text.toLowerCase())
    return webhook && `/developers/webhooks/${webhook.id}`
  }
  const pair = readDeliveryId(text)
  const delivery = pair && (await findDelivery(app.db, { companyId: company.id, ...pair }))
  return delivery && `/developers/deliveries/${text}`
}

/** By the address of a charge's page, a txid, or the scheme's id of a payment. */
async function pageOfPayment(visit: Visit, text: string): Promise<string | null> {
  const [meaning] = meaningsOf(text)
  if (!meaning || !['charge', 'txid', 'endToEndId'].includes(meaning.kind)) return null
  const { app, company } = visit
  const value = String(meaning.value)
  const txid = meaning.kind === 'charge' ? chargeTxid(value) : value
  const named = meaning.kind === 'endToEndId' ? null : namedBy(txid)
  if (named && 'charge' in named) {
    const charge = await app.charges.find({ companyId: company.id, id: named.charge })
    return charge && `/charges/${toPublic('charge', charge.id)}`
  }
  if (named) {
    const [code] = await findStaticCodes(app.db, company.id, [named.code])
    return code ? `/new/code/${toPublic('qrs', code.id)}` : null
  }
  return pageOfTransfer(visit, value)
}

async function pageOfTransfer(visit: Visit, endToEndId: string): Promise<string | null> {
  const { app, company } = visit
  const page = { limit: 2, after: null }
  const { charges } = await findCharges(
    searching(visit),
    { text: endToEndId, as: 'endToEndId' },
    {},
    page,
  )
  const [unmatched] = await findUnmatched(app.db, company.id, [endToEndId])
  const paths = [
    ...charges.map(({ id }) => `/charges/${toPublic('charge', id)}`),
    ...(unmatched ? [`/unmatched/${endToEndId}`] : []),
  ]
  return paths.length === 1 ? paths[0]! : null
}

export const searchRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/search', needs: ROLES, handle: show },
]
