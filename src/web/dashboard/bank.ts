import { findLastAudit } from '../../core/audits/store.ts'
import { renewalHorizon } from '../../core/banks/certificates.ts'
import { type BankRecord, findBank } from '../../core/banks/store.ts'
import { findAskedUntil } from '../../core/reconciliation-schedule.ts'
import { findProfile } from '../../provider/bacen/profiles.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { BANK_CHANGES } from './bank-change-texts.ts'
import { bankCheckRoutes, checkForm } from './bank-check.ts'
import { bankConnectRoutes } from './bank-connect.ts'
import { BANK } from './bank-texts.ts'
import { card, moment, notice, pill } from './parts.ts'
import { BANK_ROLES, sendSettings } from './settings-tabs.ts'
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

export const bankRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings/bank', needs: BANK_ROLES, handle: show },
  ...bankCheckRoutes,
  ...bankConnectRoutes,
]
