import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ANY_CHARGE, search as searchCharges } from '../core/charges/search-store.ts'
import { listStaticCodes } from '../core/charges/static.ts'
import {
  moveClock,
  oneMoveAtATime,
  readClock,
  type ShownClock,
  untilAdvanced,
} from '../core/clocks/commands.ts'
import type { Move } from '../core/clocks/rules.ts'
import { waitUntilApplied } from '../core/companies/announce.ts'
import { nowOf, withCompanyClock } from '../core/companies/clock.ts'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { Dispute } from '../core/disputes/rules.ts'
import type { FullApp } from '../core/full-app.ts'
import { recordUnnamed, sendUnnamed } from '../core/payments/commands.ts'
import { hasAnySandbox } from '../core/places/across.ts'
import { asOf } from '../core/recurrences/rules.ts'
import { list as listRecurrences } from '../core/recurrences/store.ts'
import { decideAgreement } from '../core/simulated-bank/agreements.ts'
import { payCode } from '../core/simulated-bank/payments.ts'
import { latestOfPayers, type Transfer } from '../core/simulated-bank/records.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { Language } from '../lib/language.ts'
import { type Cents, formatReais } from '../lib/money.ts'
import { Problem, problem } from '../lib/problems.ts'
import { MAX_AMOUNT } from '../pix/amounts.ts'
import { addMonths, daysBetween, formatMoment, localDateOf } from '../pix/local-time.ts'
import { isTaxIdShape, plainTaxId } from '../pix/tax-id.ts'
import { type CodeContent, findMadePayments, readCode } from './bank-code.ts'
import { actOnDispute, disputeForm, newestDisputes } from './bank-disputes.ts'
import { BANK, type BankTexts } from './bank-texts.ts'
import {
  codeAddress,
  codeCard,
  type Decide,
  type Entry,
  type Field,
  faultLine,
  keyForm,
  languageField,
  pasteForm,
  receipts,
} from './bank-view.ts'
import { isLocalHost, sendDeveloperPage } from './developer.ts'
import { type Html, html } from './html.ts'
import { chosenLanguage } from './language.ts'
import { icon, inLanguage, languageOf } from './layout.ts'
import type { Form, Site } from './site.ts'

type Query = { code?: unknown; done?: unknown }

/**
 * The bank of the payer, for developers. It needs no key, because a code is enough to pay it. It
 * lists the codes of the company that local mode creates.
 */
export function registerBank(scope: FastifyInstance, site: Site): void {
  const { app } = site
  scope.register(async (bank) => {
    bank.addHook('onRequest', async () => {
      const isOpen = app.config.local || (await hasAnySandbox(app))
      if (!isOpen) throw problem('route_not_found')
    })
    bank.get('/bank', (request, reply) => {
      const { code, done } = request.query as Query
      const ids = typeof done === 'string' ? done.split('.').slice(0, 2) : []
      const text = typeof code === 'string' ? code.replaceAll('\0', '').trim() : null
      return show(site, request, reply, { code: text ?? '' }, ids, text === '')
    })
    // If a form is refused, the browser shows this path, so a reload of it must give a page.
    for (const path of ['/bank/pay', '/bank/key', '/bank/decide', '/bank/clock', '/bank/dispute']) {
      bank.get(path, (request, reply) =>
        reply.redirect(inLanguage('/bank', languageOf(request)), 303),
      )
    }
    bank.post('/bank/pay', (request, reply) => pay(site, request, reply))
    bank.post('/bank/key', (request, reply) => payToKey(site, request, reply))
    bank.post('/bank/decide', (request, reply) => decide(site, request, reply))
    bank.post('/bank/clock', (request, reply) => advance(site, request, reply))
    bank.post('/bank/dispute', (request, reply) => dispute(site, request, reply))
  })
}

/** The company whose codes are listed and whose clock can be moved. */
async function ownCompany(site: Site, request: FastifyRequest): Promise<Company | null> {
  const sandbox = isLocalHost(site, request) ? site.sandbox() : null
  return sandbox && findCompany(site.app.db, sandbox.companyId)
}

async function show(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
  done: string[] = [],
  isEmpty = false,
): Promise<FastifyReply> {
  const { app } = site
  const language = asked(request)
  const texts = BANK[language]
  const seen = entry.code === '' ? null : await readCode(app, entry.code)
  const fault = isEmpty ? texts.faults.empty : faultOf(seen, language)
  const checked: Entry = fault ? { ...entry, fault: { field: 'code', text: fault } } : entry
  const found = seen?.kind === 'fault' ? null : seen
  const own = await ownCompany(site, request)
  const lists = own && (await readLists(app, own, language))
  const made = found ?? (own && { app, company: own })
  const payments =
    made && done.length > 0 ? await findMadePayments(made.app, made.company, done) : []
  const body = html`<section class="card all">
<h1>${texts.title}</h1>
<p class="soft">${texts.intro}</p>
</section>
<div class="column">
${receipts(payments, language)}
${found && codeCard(found, checked, own?.id === found.company.id, language)}
<div class="card">${pasteForm(checked, language)}</div>
</div>
<div class="column">${own && keyForm(checked, own.pixKey, language)}${lists && listCards(lists, checked, language)}</div>`
  return sendDeveloperPage(site, request, reply, 'bank', {
    title: texts.title,
    language,
    body,
    kind: lists ? 'wide' : 'narrow',
    refresh_s: lists?.clock.target ? 3 : null,
    status: checked.fault ? 422 : 200,
  })
}

/** A form has its language in a field. */
const asked = (request: FastifyRequest): Language =>
  chosenLanguage(request.body) ?? languageOf(request)

function faultOf(seen: CodeContent | null, language: Language): string | null {
  if (seen?.kind !== 'fault') return null
  const { unknown, code } = BANK[language].faults
  return seen.reason === 'unknown' ? unknown : code[seen.reason]
}

const formOf = ({ body }: FastifyRequest): Form => (body ?? {}) as Form

/** Shows the form again, with what is wrong. */
function refuse(
  site: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  field: Field,
  text: string,
): Promise<FastifyReply> {
  const { code = '', amount } = formOf(request)
  return show(site, request, reply, {
    code,
    fault: { field, text },
    ...(amount === undefined ? {} : { amount }),
  })
}

async function pay(site: Site, request: FastifyRequest, reply: FastifyReply) {
  const { app } = site
  const language = asked(request)
  const { code: text = '', amount: typed = '', how = 'once' } = formOf(request)
  const code = text.trim()
  const seen = code === '' ? null : await readCode(app, code)
  if (seen?.kind !== 'payment') return reply.redirect(codeAddress(code, language), 303)
  const amount = readReais(typed)
  if (amount === null) {
    return refuse(site, request, reply, 'amount', BANK[language].faults.amount)
  }
  const own = await ownCompany(site, request)
  if (how === 'late' && seen.charge && own?.id === seen.company.id) {
    const now = new Date(seen.charge.expiresAt.getTime() + 1000)
    const isMoved = now <= nowOf(app, own) || (await move(app, own, { now: now.toISOString() }))
    if (!isMoved) return refuse(site, request, reply, 'clock', BANK[language].faults.clock)
  }
  const done: string[] = []
  for (let left = how === 'twice' ? 2 : 1; left > 0; left--) {
    const { endToEndId } = await payCode(app, { brCode: code, amount })
    done.push(endToEndId)
  }
  return reply.redirect(codeAddress(code, language, done), 303)
}

/** Sends a Pix to the key of the company, as somebody who types the key and pays no code. */
async function payToKey(site: Site, request: FastifyRequest, reply: FastifyReply) {
  const language = asked(request)
  const own = await ownCompany(site, request)
  if (!own) throw problem('sandbox_only')
  const { amount: typed = '', name = '', taxId = '' } = formOf(request)
  const amount = readReais(typed)
  const plain = plainTaxId(taxId)
  const { faults } = BANK[language]
  const fault =
    amount === null
      ? { field: 'keyAmount' as const, text: faults.amount }
      : plain !== '' && !isTaxIdShape(plain)
        ? { field: 'keyTaxId' as const, text: faults.taxId }
        : null
  if (amount === null || fault) {
    const key = { amount: typed, name, taxId }
    return show(site, request, reply, { code: '', key, ...(fault ? { fault } : {}) })
  }
  const payer = {
    ...(name.trim() ? { name: name.trim().slice(0, 255) } : {}),
    ...(plain ? { taxId: plain } : {}),
  }
  const app = withCompanyClock(site.app, own)
  const pix = await sendUnnamed(app, own, { amount, payer }, `page_${newId()}`)
  await app.db.transaction((tx) => recordUnnamed(tx, app, own, pix))
  return reply.redirect(inLanguage(`/bank?done=${pix.endToEndId}`, language), 303)
}

/** Reads an amount as people write it, in cents: 1.234,56, or 1234.56, or 1234. */
export function readReais(text: string): number | null {
  const plain = text.replace(/^\s*R\$/, '').trim()
  const brazilian = /^(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{1,2}))?$/.exec(plain)
  const other = /^(\d+)\.(\d{1,2})$/.exec(plain)
  const [, reais, cents = ''] = brazilian ?? other ?? []
  if (reais === undefined) return null
  const amount = Number(`${reais.replaceAll('.', '')}${cents.padEnd(2, '0')}`)
  return amount >= 1 && amount <= MAX_AMOUNT ? amount : null
}

const DECISIONS = {
  approve: { decision: 'approve' },
  empty: { decision: 'approve', funds: false },
  drain: { decision: 'approve', funds: false },
  fill: { decision: 'approve', funds: true },
  reject: { decision: 'reject' },
  cancel: { decision: 'cancel' },
} as const satisfies Record<Decide, { decision: string; funds?: boolean }>

async function decide(site: Site, request: FastifyRequest, reply: FastifyReply) {
  const language = asked(request)
  const { code = '', decide: name = '' } = formOf(request)
  const order = Object.hasOwn(DECISIONS, name) ? DECISIONS[name as Decide] : null
  if (!order) throw problem('invalid_value')
  try {
    await decideAgreement(site.app, { emv: code, ...order })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { undecided } = BANK[language].faults
    const isLate = error.code === 'recurrence_not_decidable'
    if (isLate) return refuse(site, request, reply, 'decide', undecided)
  }
  return reply.redirect(codeAddress(code.trim(), language), 303)
}

const STEPS = { hour: 3600, day: 86_400, week: 604_800 } as const

/** A month ends on the same day of the next month. */
function advanceOf(by: string, now: Date): Move | null {
  if (Object.hasOwn(STEPS, by)) return { advance: STEPS[by as keyof typeof STEPS] }
  const today = localDateOf(now)
  return by === 'month' ? { advance: daysBetween(today, addMonths(today, 1)) * 86_400 } : null
}

async function advance(site: Site, request: FastifyRequest, reply: FastifyReply) {
  const { app } = site
  const language = asked(request)
  const { code = '', by = '' } = formOf(request)
  const own = await ownCompany(site, request)
  const order = own && advanceOf(by, nowOf(app, own))
  if (!own || !order) throw problem('clock_not_found')
  if (!(await move(app, own, order))) {
    return refuse(site, request, reply, 'clock', BANK[language].faults.clock)
  }
  const address = code === '' ? inLanguage('/bank', language) : codeAddress(code, language)
  return reply.redirect(address, 303)
}

/** Only the local sandbox has its payments listed, so only they are disputed here. */
async function dispute(site: Site, request: FastifyRequest, reply: FastifyReply) {
  const own = await ownCompany(site, request)
  if (!own) throw problem('route_not_found')
  try {
    await actOnDispute(withCompanyClock(site.app, own), own, formOf(request))
  } catch (error) {
    // Somebody has decided it meanwhile: the page shows how.
    if (!(error instanceof Problem) || error.code !== 'dispute_not_open') throw error
  }
  return reply.redirect(inLanguage('/bank', asked(request)), 303)
}

/** Moves a company's clock and waits for the work that falls due. False if it moves already. */
async function move(app: FullApp, company: Company, order: Move): Promise<boolean> {
  try {
    const act = () => app.db.transaction((tx) => moveClock(tx, app, company, order))
    await oneMoveAtATime(app, company.id, act)
  } catch (error) {
    if (error instanceof Problem && error.code === 'clock_advancing') return false
    throw error
  }
  await untilAdvanced(app, company.id, app.config.clockWaitSeconds * 1000)
  await oneMoveAtATime(app, company.id, () => waitUntilApplied(app.db))
  return true
}

const MAX_CODES = 12
const MAX_TRANSFERS = 20

/** A code that can be paid or agreed to, and how it is described in the list. */
type OpenCode = { id: Uuid; code: string; amount: Cents; name: string | null; note: string }

/** The open codes of the local sandbox company, and the payments that were made. */
type Lists = { open: OpenCode[]; history: Transfer[]; disputes: Dispute[]; clock: ShownClock }

async function readLists(app: FullApp, company: Company, language: Language): Promise<Lists> {
  const clock = await readClock(app.db, app, company)
  const texts = BANK[language].open
  const found = await Promise.all([
    openCharges(app, company, clock.now, texts),
    openAgreements(app, company, clock.now, texts),
    staticCodes(app, company, texts),
  ])
  const open = found.flat().sort((a, b) => (a.id < b.id ? 1 : -1))
  const history = await latestOfPayers(app.db, company.id, MAX_TRANSFERS)
  const disputes = await newestDisputes(app, company, MAX_TRANSFERS)
  return { open: open.slice(0, MAX_CODES), history, disputes, clock }
}

async function openCharges(
  { db }: FullApp,
  { id: companyId }: Company,
  now: Date,
  { until }: BankTexts['open'],
): Promise<OpenCode[]> {
  const filter = { ...ANY_CHARGE, status: 'OPEN' as const }
  const page = { limit: MAX_CODES, after: null }
  const charges = await searchCharges(db, companyId, filter, page, now)
  return charges.flatMap(({ id, brCode: code, amount, payer, expiresAt }) => {
    const note = until(formatMoment(expiresAt))
    return code === null ? [] : [{ id, code, amount, name: payer?.name ?? null, note }]
  })
}

async function openAgreements(
  { db }: FullApp,
  { id: companyId }: Company,
  now: Date,
  { monthly: note }: BankTexts['open'],
): Promise<OpenCode[]> {
  const recurrences = await listRecurrences(db, companyId, { limit: MAX_CODES, after: null })
  return recurrences.flatMap((recurrence) => {
    const { id, brCode: code, value: amount, productName: name } = recurrence
    const isOpen = asOf(recurrence, now).status === 'OPEN'
    return code !== null && isOpen ? [{ id, code, amount, name, note }] : []
  })
}

async function staticCodes(
  { db }: FullApp,
  { id: companyId }: Company,
  { fixed: note }: BankTexts['open'],
): Promise<OpenCode[]> {
  const codes = await listStaticCodes(db, companyId, MAX_CODES)
  return codes.map(({ id, brCode: code, amount }) => ({ id, code, amount, name: null, note }))
}

const listCards = (lists: Lists, entry: Entry, language: Language): Html =>
  html`${openCard(lists, language)}${clockCard(lists, entry, language)}${historyCard(lists, language)}`

function openCard({ open }: Lists, language: Language): Html {
  const texts = BANK[language].open
  return html`<section class="card" aria-labelledby="open">
<h2 id="open">${texts.title}</h2>
${
  open.length === 0
    ? html`<p class="soft">${texts.none}</p>`
    : html`<ul class="rows">${open.map(
        ({ code, amount, name, note }) =>
          html`<li><a class="row" href="${codeAddress(code, language)}"><span><strong>${formatReais(amount)}</strong><span class="soft small">${name !== null && `${name} · `}${note}</span></span>${icon('next')}</a></li>`,
      )}</ul>`
}
</section>`
}

function clockCard({ clock }: Lists, entry: Entry, language: Language): Html {
  const texts = BANK[language].clock
  const { now, target } = clock
  return html`<section class="card" aria-labelledby="clock">
<h2 id="clock">${texts.title}</h2>
<p class="now">${icon('clock')} <time datetime="${now.toISOString()}">${formatMoment(now)}</time></p>
${target && html`<p class="waiting" role="status">${texts.advancing(formatMoment(target))}</p>`}
${faultLine('clock', entry)}
<form class="steps-of-time" action="/bank/clock" method="post">
${languageField(language)}
<input type="hidden" name="code" value="${entry.code}">
${(['hour', 'day', 'week', 'month'] as const).map(
  (step) =>
    html`<button class="button quiet slim" name="by" value="${step}">${texts[step]}</button>`,
)}
</form>
<p class="hint">${texts.text}</p>
</section>`
}

function historyCard({ history, disputes }: Lists, language: Language): Html {
  const texts = BANK[language].history
  return html`<section class="card" aria-labelledby="history">
<h2 id="history">${texts.title}</h2>
${
  history.length === 0
    ? html`<p class="soft">${texts.none}</p>`
    : html`<ul class="rows">${history.map((transfer) => {
        const { direction, amount, at, endToEndId } = transfer
        const isBack = direction === 'returned'
        return html`<li class="row${isBack && ' back'}">${icon(isBack ? 'back' : 'check')}<span><strong>${isBack ? texts.back : texts.sent}</strong><span class="soft small">${formatMoment(at)}</span><code class="soft">${endToEndId}</code>${disputeForm(transfer, disputes, language)}</span><strong class="sum">${isBack ? '+' : '−'} ${formatReais(amount)}</strong></li>`
      })}</ul>`
}
</section>`
}
