import { findLastAudit } from '../../core/audits/store.ts'
import { renewalHorizon } from '../../core/banks/certificates.ts'
import { type BankRecord, findBank } from '../../core/banks/store.ts'
import { findAskedUntil } from '../../core/reconciliation-schedule.ts'
import { localDateOf } from '../../pix/local-time.ts'
import { findProfile } from '../../provider/bacen/profiles.ts'
import { type Html, html } from '../html.ts'
import { facts } from '../parts.ts'
import { BANK } from './bank-texts.ts'
import { copyable } from './developers.ts'
import { card, heading, moment, notice, pill } from './parts.ts'
import { BANK_ROLES, sendSettings, settingsTabs } from './settings-tabs.ts'
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
  const body = html`${heading(texts.title)}${settingsTabs(visit, '/bank')}
${audit?.difference && notice(texts.differsText, 'bad')}
<div class="columns settings">
<div class="stack">${card(texts.state, bank ? connection(visit, bank) : without(visit))}${card(texts.audit, checks)}</div>
${isLive && card(texts.change, commands(visit, bank))}
</div>`
  return sendSettings(visit, { title: texts.title, body })
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

/**
 * The commands that change the connection. There is no form for it: the private key of the
 * company's certificate would go through a browser, and the command tries the connection as well.
 */
function commands(visit: Visit, bank: BankRecord | null): Html {
  const texts = BANK[visit.language]
  const { id } = visit.company
  const today = localDateOf(visit.app.systemClock.now())
  const connect = `vintem bank connect --company ${id} --profile ${bank?.profile ?? 'efi'} --client-id ID --client-secret-file SECRET --certificate FILE.p12`
  const shown: [title: string, command: string][] = [
    [bank ? texts.commands.renew : texts.commands.connect, connect],
    [texts.commands.check, `vintem bank check --company ${id}`],
    [
      texts.commands.reconcile,
      `vintem bank reconcile --company ${id} --from ${today} --to ${today}`,
    ],
    [texts.commands.disconnect, `vintem bank disconnect --company ${id}`],
  ]
  const listed = bank ? shown : shown.slice(0, 2)
  return html`<p>${texts.changeText}</p>${listed.map(([title, command]) => html`<h3>${title}</h3>${copyable(command, texts.copy, visit)}`)}<p class="soft small">${texts.why}</p>`
}

export const bankRoutes: DashboardRoute[] = [
  { method: 'GET', path: '/settings/bank', needs: BANK_ROLES, handle: show },
]
