import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { isAllowed, ROLES, type Role } from '../../src/core/people/rules.ts'
import type { Language } from '../../src/lib/language.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import type { DashboardRoute } from '../../src/web/dashboard/visit.ts'
import { startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { makeRecords, pathOf } from '../support/dashboard-records.ts'
import { isLong } from '../support/long.ts'
import { breaksNoWord, browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const browser = browsing()
const client = await api.client()
const records = await makeRecords(api, client)

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1280, height: 800 }
type Walk = { role: Role; language: Language; visit: Visit }

const walkOf = (role: Role, language: Language, isPhone: boolean, dark = false): Walk => ({
  role,
  language,
  visit: { phone: isPhone, size: isPhone ? PHONE : DESKTOP, language, dark },
})

/**
 * Each role in each language and size, or, unless it is `npm run test:pages`, one walk of an owner.
 * `DASHBOARD_ROLES=owner,finance` walks as these only.
 */
const { DASHBOARD_ROLES = ROLES.join() } = process.env
const WALKS: Walk[] = isLong
  ? ROLES.filter((role) => DASHBOARD_ROLES.split(',').includes(role)).flatMap((role) =>
      (['pt', 'en'] as const).flatMap((language) =>
        [true, false].map((isPhone) => walkOf(role, language, isPhone, language === 'en')),
      ),
    )
  : [walkOf('owner', 'pt', true)]

/** Ids, addresses, and names without a place to break. */
const OTHERS_WORDS = /[@_]|.{30}/

/** What a browser saves instead of showing it. */
const isFile = (path: string) => /\.(csv|ofx)$/.test(path) || path.includes('/files/')

/** Unless it is `npm run test:pages`, those of the menu only. */
const pages = ROUTES.filter(
  ({ method, path }) =>
    method === 'GET' && !isFile(path) && (isLong || path.split('/').length <= 2),
)

const routeOf = new Map(
  ROUTES.map((route) => [
    route,
    new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+').replaceAll('.', '\\.')}$`),
  ]),
)

/**
 * What these records are not in the state for, and what a script loads. The files of each noun have
 * records in those states.
 */
const ELSEWHERE = [
  'GET /now',
  'POST /views',
  'POST /views/:id/delete',
  'GET /charges/picked/cancel',
  'POST /charges/picked/cancel',
  'GET /charges/picked/mail',
  'POST /charges/picked/mail',
  'GET /charges/:id/refund',
  'POST /charges/:id/notes/:note/delete',
  'POST /customers/:id/notes/:note/delete',
  'GET /disputes/:id/defend',
  'POST /disputes/:id/defend',
  'POST /new/batch',
  'POST /recipients/:id/payout',
  'GET /settings/reminders/letter',
  'GET /counter/:id',
  'POST /counter/:id/cancel',
  'POST /charges/:id/refund',
  'POST /charges/:id/simulate',
  'POST /balance/withdraw',
  'GET /balance/withdrawals/:id/charges',
  'GET /balance/withdrawals/:id/charges.csv',
  'GET /balance/withdrawals/:id/receipt',
  'POST /balance/withdrawals/:id/approve',
  'POST /balance/withdrawals/:id/reject',
  'POST /developers/webhooks/:id/activate',
  'POST /developers/webhooks/:id/replay',
  'POST /settings/approvals/remove',
  'POST /settings/logo/remove',
  'POST /unmatched/:id/settle',
  'GET /settings/bank/connect',
  'POST /settings/bank/connect',
  'POST /settings/bank/check',
  'GET /settings/bank/renew',
  'POST /settings/bank/renew',
  'GET /settings/bank/disconnect',
  'POST /settings/bank/disconnect',
  'POST /settings/members/:person/reset-factors',
]
const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path}`

/** Routes of the company that a page leads to, by a link or by a form. */
async function offeredOn(page: Page, home: string): Promise<DashboardRoute[]> {
  const found: [method: string, url: string][] = await page.evaluate(
    `[...document.querySelectorAll('a[href], form')].map((one) => one.href
       ? ['GET', one.href]
       : [one.method.toUpperCase(), one.getAttribute('action') ?? location.href])`,
  )
  return found.flatMap(([method, url]) => {
    const { pathname } = new URL(url, api.url)
    if (pathname !== home && !pathname.startsWith(`${home}/`)) return []
    const path = pathname.slice(home.length)
    const matching = ROUTES.filter(
      (route) => route.method === method && routeOf.get(route)!.test(path),
    )
    // A path without a parameter is meant where both fit.
    const [route] = matching.sort((a, b) => a.path.split(':').length - b.path.split(':').length)
    assert.ok(route, `${page.url()} leads to ${method} ${path}, which there is not`)
    return [route]
  })
}

for (const { role, language, visit } of WALKS) {
  const size = `${visit.size!.width} px`
  test(`every page can be used: ${role}, ${language}, ${size}`, async () => {
    const { context } = await browser.visitor(visit)
    const member = await signIn(api, client.company, { role, language, hasSecondFactor: true })
    await useSessionIn(context, api, member)
    const page = await context.newPage()
    const offered = new Set<DashboardRoute>()
    for (const route of pages.filter(({ needs }) => isAllowed(role, needs))) {
      const reply = await page.goto(`${api.url}${member.home}${pathOf(route, records)}`)
      assert.equal(reply!.status(), 200, `${route.path} as ${role}`)
      // A part of a page, which a script loads, has no head.
      if (!(await page.title())) continue
      // The content of a mail is for a frame, in which no script runs, nor does axe.
      if (/sandbox/.test(reply!.headers()['content-security-policy']!)) continue
      assert.equal(await page.locator('img[src=x]').count(), 0, route.path)
      for (const other of await offeredOn(page, member.home)) {
        const what = `${route.path} offers ${other.method} ${other.path} to ${role}`
        assert.ok(isAllowed(role, other.needs), what)
        offered.add(other)
      }
      await isAccessible(page)
      await fitsTheWindow(page)
      await breaksNoWord(page, OTHERS_WORDS)
    }
    if (!isLong) return
    const missing = ROUTES.filter((route) => isAllowed(role, route.needs) && !offered.has(route))
    assert.deepEqual(new Set(missing.map(nameOf)).difference(new Set(ELSEWHERE)), new Set())
  })
}
