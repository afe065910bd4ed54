import type { FastifyReply } from 'fastify'
import { askForPage, type BankCheck, checkBank, type State } from '../../core/banks/check.ts'
import { type Html, html } from '../html.ts'
import { BANK_CHANGES } from './bank-change-texts.ts'
import { BANK_CHECK, saidOf } from './bank-check-texts.ts'
import { backLink } from './form-parts.ts'
import { card, notice, pill, type Tone } from './parts.ts'
import { sendSettings } from './settings-tabs.ts'
import type { DashboardRoute, Visit } from './visit.ts'

const BANK = '/settings/bank'
const CHECK = `${BANK}/check`
const TONES: Record<State, Tone> = { ok: 'good', warning: 'warn', failed: 'bad' }

/** The form that checks the connection. */
export const checkForm = (visit: Visit, label: string, kind = 'button slim'): Html =>
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
  if (!checks) return visit.redirect(BANK)
  return send(visit, html`${summary(visit, checks)}${card(null, results(visit, checks))}`, 200)
}

function send(visit: Visit, found: Html, status: number): FastifyReply {
  const texts = BANK_CHECK[visit.language]
  return sendSettings(visit, '/bank', {
    title: texts.title,
    back: backLink(visit, BANK, BANK_CHANGES[visit.language].back),
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

export const bankCheckRoutes: DashboardRoute[] = [
  { method: 'POST', path: CHECK, needs: ['owner'], handle: check },
]
