import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAllowed, ROLES, type Role } from '../../src/core/people/rules.ts'
import type { Language } from '../../src/lib/language.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import { startApi } from '../support/api.ts'
import { signIn, useSessionIn } from '../support/dashboard.ts'
import { makeRecords, pathOf } from '../support/dashboard-records.ts'
import { browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

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

/** Each role in each language and size, or, unless it is `npm run test:pages`, one walk of an owner. */
const WALKS: Walk[] =
  process.env.DASHBOARD_WALK === 'all'
    ? ROLES.flatMap((role) =>
        (['pt', 'en'] as const).flatMap((language) =>
          [true, false].map((isPhone) => walkOf(role, language, isPhone, language === 'en')),
        ),
      )
    : [walkOf('owner', 'pt', true)]

const pages = ROUTES.filter(({ method, path }) => method === 'GET' && !path.endsWith('.csv'))

for (const { role, language, visit } of WALKS) {
  const size = `${visit.size!.width} px`
  test(`every page can be used: ${role}, ${language}, ${size}`, async () => {
    const { context } = await browser.visitor(visit)
    const member = await signIn(api, client.company, { role, language, hasSecondFactor: true })
    await useSessionIn(context, api, member)
    const page = await context.newPage()
    for (const route of pages.filter(({ needs }) => isAllowed(role, needs))) {
      const reply = await page.goto(`${api.url}${member.home}${pathOf(route, records)}`)
      assert.equal(reply!.status(), 200, `${route.path} as ${role}`)
      // A part of a page, which a script loads, has no head.
      if (!(await page.title())) continue
      assert.equal(await page.locator('img[src=x]').count(), 0, route.path)
      await isAccessible(page)
      await fitsTheWindow(page)
    }
  })
}
