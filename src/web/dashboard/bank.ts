import type { FastifyReply } from 'fastify'
import { findLastAudit } from '../../core/audits/store.ts'
import { renewalHorizon } from '../../core/banks/certificates.ts'
import { askForPage, type BankCheck, checkBank, type State } from '../../core/banks/check.ts'
import { type BankRecord, findBank } from '../../core/banks/store.ts'
import { findAskedUntil } from '../../core/reconciliation-schedule.ts'
import type { Language } from '../../lib/language.ts'
import { findProfile } from '../../provider/bacen/profiles.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { BANK_CHANGES } from './bank-change-texts.ts'
import { BANK_CHECK, saidOf } from './bank-check-texts.ts'
import { bankConnectRoutes } from './bank-connect.ts'
import { backLink } from './form-parts.ts'
import { card, moment, notice, pill, type Tone } from './parts.ts'
import { BANK_ROLES, sendSettings } from './settings.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const DAY_MS = 24 * 3600 * 1000

async function show(visit: Visit) {
  const { app, company, language } = visit
  const texts = BANK[language]
  const [bank, askedUntil, audit] = await Promise.all([
    findBank(app.db, company.id),
    findAskedUntil(app.db, company.id),
    findLastAudit(app.db, company.id),
  ])
  const or = (at: Date | null) => (at ? moment(at) : texts.never)
  const checks = facts([
    company.mode === 'live' && [texts.reconciled, bank ? or(askedUntil) : texts.never],
    [texts.audited, or(audit?.auditedAt ?? null)],
    company.mode === 'live' && [texts.checkedUntil, or(audit?.bankCheckedUntil ?? null)],
    [
      texts.audit,
      audit?.difference ? pill(texts.differs, 'bad') : pill(texts.fine, audit ? 'good' : 'calm'),
    ],
  ])
  const isLive = company.mode === 'live'
  const body = html`${visit.query.done === 'running' && notice(BANK_CHANGES[language].running, 'warn')}
${audit?.difference && notice(texts.differsText, 'bad')}
<div class="columns settings">
<div class="stack">${card(texts.state, bank ? connection(visit, bank) : without(visit))}${card(texts.audit, checks)}</div>
${isLive && card(BANK_CHANGES[language].change, changes(visit, bank))}
</div>`
  return sendSettings(visit, '/bank', {
    title: texts.title,
    done: BANK_CHANGES[language].done,
    body,
  })
}

function without({ company, language }: Visit): Html {
  const texts = BANK[language]
  const isLive = company.mode === 'live'
  return html`${isLive ? pill(texts.none, 'warn') : pill(texts.simulated, 'calm')}<p>${isLive ? texts.noneText : texts.simulatedText}</p>`
}

function connection({ app, language }: Visit, bank: BankRecord): Html {
  const texts = BANK[language]
  const now = app.systemClock.now()
  const { certificateEndsAt: endsAt } = bank
  const days = Math.floor((endsAt.getTime() - now.getTime()) / DAY_MS)
  const isSoon = endsAt < renewalHorizon(now)
  const certificate = endsAt <= now ? texts.ended : texts.days(days)
  return html`${isSoon && notice(texts.soon, endsAt <= now ? 'bad' : 'warn')}${facts([
    [texts.state, pill(texts.connected, 'good')],
    [texts.bank, findProfile(bank.profile)?.title ?? bank.profile],
    [texts.since, moment(bank.connectedAt)],
    [texts.certificate, pill(certificate, endsAt <= now ? 'bad' : isSoon ? 'warn' : 'good')],
    [texts.endsOn, moment(endsAt)],
    [texts.payouts, texts.payoutsBy[bank.payouts]],
    bank.payoutKey !== null && [texts.payoutKey, html`<code>${bank.payoutKey}</code>`],
  ])}`
}

/** What an owner can do. Others see how it is. */
function changes(visit: Visit, bank: BankRecord | null): Html {
  const texts = BANK_CHANGES[visit.language]
  if (!visit.can(['owner'])) return html`<p class="soft">${texts.onlyOwners}</p>`
  const link = (path: string, label: string, kind: string) =>
    html`<a class="button ${kind} slim" href="${visit.url(`/settings/bank/${path}`)}">${label}</a>`
  const elsewhere = html`<p class="soft small">${texts.elsewhere}</p>`
  if (!bank) {
    return html`<p>${BANK[visit.language].noneText}</p><div class="actions">${link('connect', texts.connectTitle, '')}</div>${elsewhere}`
  }
  return html`<p>${texts.checkText}</p><div class="actions">${checkForm(visit, texts.check)}</div>
<div class="actions">${link('renew', texts.renew, 'quiet')}${link('connect', texts.other, 'quiet')}${link('disconnect', texts.disconnect, 'quiet')}</div>${elsewhere}`
}

const PATH = '/settings/bank'
const CHECK = `${PATH}/check`
const TONES: Record<State, Tone> = { ok: 'good', warning: 'warn', failed: 'bad' }

/** The form that checks the connection. */
const checkForm = (visit: Visit, label: string, kind = 'button slim'): Html =>
  visit.formOf(visit.url(CHECK), html`<button class="${kind}">${label}</button>`)

/** Asks the bank, and shows what was found. Nothing is stored, so a reload asks again. */
async function check(visit: Visit): Promise<FastifyReply> {
  const { app, company, language } = visit
  const texts = BANK_CHECK[language]
  const asked = await askForPage(app, company, () => checkBank(app, company))
  const failed = asked === 'running' ? BANK_CHANGES[language].running : texts.late
  if (asked === 'running' || asked === 'late') {
    return send(visit, notice(failed, 'warn'), asked === 'running' ? 409 : 503)
  }
  const checks = asked.answer
  if (!checks) return visit.redirect(PATH)
  return send(visit, html`${summary(visit, checks)}${card(null, results(visit, checks))}`, 200)
}

function send(visit: Visit, found: Html, status: number): FastifyReply {
  const texts = BANK_CHECK[visit.language]
  return sendSettings(visit, '/bank', {
    title: texts.title,
    back: backLink(visit, PATH, BANK_CHANGES[visit.language].back),
    actions: checkForm(visit, texts.again, 'button quiet slim'),
    body: found,
    status,
  })
}

function summary({ language }: Visit, checks: BankCheck[]): Html {
  const texts = BANK_CHECK[language]
  const has = (state: State) => checks.some((check) => check.state === state)
  if (has('failed')) return notice(texts.broken, 'bad')
  return has('warning') ? notice(texts.warned, 'warn') : notice(texts.fine)
}

function results({ language }: Visit, checks: BankCheck[]): Html {
  const texts = BANK_CHECK[language]
  const row = (check: BankCheck) => {
    const describe = texts.of[check.name] as (check: BankCheck) => string
    const said = saidOf(check)
    return html`<li><p class="check-name"><strong>${texts.names[check.name]}</strong>${pill(texts.states[check.state], TONES[check.state])}</p><p>${describe(check)}</p>${said && html`<p class="soft small">${texts.said}: <span lang="en">${said}</span></p>`}</li>`
  }
  return html`<ul class="bank-checks" aria-label="${texts.caption}">${checks.map(row)}</ul>`
}

export const bankRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings/bank', needs: BANK_ROLES, handle: show },
  { method: 'POST', path: CHECK, needs: ['owner'], handle: check },
  ...bankConnectRoutes,
]

const pt = {
  title: 'Conexão com o banco',
  state: 'Situação',
  connected: 'Conectado',
  none: 'Sem banco',
  simulated: 'Banco simulado',
  noneText: 'Esta empresa ainda não tem um banco conectado e não pode receber por Pix.',
  simulatedText:
    'No ambiente de testes as cobranças são pagas no banco simulado. Nada precisa ser conectado.',
  bank: 'Banco',
  since: 'Conectado desde',
  certificate: 'Certificado',
  days: (count: number) => (count === 1 ? 'Termina em 1 dia' : `Termina em ${count} dias`),
  ended: 'Já terminou',
  endsOn: 'Válido até',
  soon: 'Peça um novo certificado ao banco agora: alguns bancos levam dias para emitir.',
  payouts: 'Quem envia os saques',
  payoutsBy: { manual: 'Quem opera a instalação, manualmente', bank: 'O banco, automaticamente' },
  payoutKey: 'Chave Pix que recebe os saques',
  reconciled: 'Pagamentos conferidos com o banco até',
  audited: 'Última auditoria',
  checkedUntil: 'Auditado com o banco até',
  never: 'Ainda não',
  audit: 'Auditoria',
  fine: 'Sem diferenças',
  differs: 'Há uma diferença',
  differsText:
    'Enquanto houver diferença, nenhum dinheiro sai da empresa. Fale com quem opera a instalação.',
}

type Texts = typeof pt

const en: Texts = {
  title: 'Connection to the bank',
  state: 'Status',
  connected: 'Connected',
  none: 'No bank',
  simulated: 'Simulated bank',
  noneText: 'This company has no bank yet and cannot be paid by Pix.',
  simulatedText:
    'In the sandbox, charges are paid in the simulated bank. Nothing has to be connected.',
  bank: 'Bank',
  since: 'Connected since',
  certificate: 'Certificate',
  days: (count) => (count === 1 ? 'Ends in 1 day' : `Ends in ${count} days`),
  ended: 'Has ended',
  endsOn: 'Valid until',
  soon: 'Ask the bank for a new certificate now: some banks take days to issue one.',
  payouts: 'Who sends withdrawals',
  payoutsBy: { manual: 'Whoever operates the installation, by hand', bank: 'The bank, by itself' },
  payoutKey: 'Pix key that withdrawals go to',
  reconciled: 'Payments compared with the bank until',
  audited: 'Last audit',
  checkedUntil: 'Audited with the bank until',
  never: 'Not yet',
  audit: 'Audit',
  fine: 'No differences',
  differs: 'There is a difference',
  differsText:
    'While there is a difference, no money leaves the company. Ask whoever operates the installation.',
}

const BANK: Record<Language, Texts> = { pt, en }
