import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { isAllowed, ROLES, type Role } from '../../src/core/people/rules.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import type { Language } from '../../src/lib/language.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import type { DashboardRoute } from '../../src/web/dashboard/visit.ts'
import { OPERATOR_ROUTES } from '../../src/web/operator/routes.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn, useSessionIn } from '../support/dashboard.ts'
import { ACTIONS, type Scene } from '../support/dashboard-actions.ts'
import { isLong } from '../support/long.ts'
import { browsing, fitsTheWindow, isAccessible, type Visit } from './support.ts'

const api = await startApi()
const browser = browsing()

/** As who, and how: what `npm run test:pages` walks, or these parts of it. */
const { DASHBOARD_ROLES = ROLES.join(), DASHBOARD_LOOKS, DASHBOARD_FORMS } = process.env
const WALKED = ROLES.filter((role) => DASHBOARD_ROLES.split(',').includes(role))

type Walk = { name: string; language: Language; visit: Visit }
const PHONE = { phone: true, size: { width: 390, height: 844 } }
const DESKTOP = { size: { width: 1280, height: 800 }, dark: true }
const LOOKS: Walk[] = [
  { name: 'pt-390', language: 'pt', visit: PHONE },
  { name: 'pt-1280', language: 'pt', visit: DESKTOP },
  { name: 'en-390', language: 'en', visit: PHONE },
  { name: 'en-1280', language: 'en', visit: DESKTOP },
  { name: 'without-scripts', language: 'pt', visit: { ...PHONE, javaScript: false } },
]
const WALKS = LOOKS.filter(({ name }) => DASHBOARD_LOOKS?.split(',').includes(name) ?? true)

const isForm = ({ method }: { method: string }) => method === 'POST'
/** What needs charges that are ticked, or a view of the same person: dashboard-lists.test.ts. */
const ELSEWHERE = ['/charges/picked/cancel', '/charges/picked/mail', '/views', '/views/:id/delete']
const forms = ROUTES.filter(isForm).filter(({ path }) => !ELSEWHERE.includes(path))
const walkedForms = forms.filter(({ path }) => DASHBOARD_FORMS?.split(',').includes(path) ?? true)
const OPERATOR_FORMS = ['/companies/:company/suspend', '/companies/:company/resume']
/** Those about several companies: test/operator/pages.test.ts. */
const OPERATOR_ELSEWHERE = [
  '/companies/new',
  '/companies/picked/suspend',
  '/companies/picked/resume',
  '/companies/picked/keys',
  '/companies/:company/keys/revoke',
]

test('the walk knows every form of the dashboard and of the operator', () => {
  assert.deepEqual(new Set(forms.map(({ path }) => path)), new Set(Object.keys(ACTIONS)))
  const paths = OPERATOR_ROUTES.filter(isForm).map(({ path }) => path)
  assert.deepEqual(new Set(paths), new Set([...OPERATOR_FORMS, ...OPERATOR_ELSEWHERE]))
})

/** The form of a route for one record, and the page that offers it. */
type Place = {
  scene: Scene
  at: string
  path: string
  /** The page with the form, if it is another one. */
  page: DashboardRoute | undefined
}

async function openScene({ path }: DashboardRoute): Promise<Scene> {
  const client = (await ACTIONS[path]!.open?.(api)) ?? (await api.client())
  return { api, client }
}

async function placeOf({ path }: DashboardRoute, scene: Scene): Promise<Place> {
  const action = ACTIONS[path]!
  const ids = String(await action.make?.(scene)).split('/')
  const record = /^.*:\w+/.exec(path)?.[0]
  const above = record ?? path.slice(0, path.lastIndexOf('/'))
  const withId = (text: string) => {
    let at = 0
    return text.replaceAll(/:\w+/g, () => ids[at++]!)
  }
  const page = ROUTES.find((other) => other.method === 'GET' && other.path === path)
  return { scene, at: withId(action.at ?? above), path: withId(path), page }
}

const linkTo = (page: Page, url: string) => page.locator(`a[href="${url}"], a[href^="${url}?"]`)
const formTo = (page: Page, url: string) =>
  page.locator(`form[method=post][action="${url}"], form[method=post][action^="${url}?"]`)

/** A link that a narrow window does not show is behind the last entry of its bar. */
async function follow(page: Page, url: string): Promise<void> {
  const links = linkTo(page, url)
  await links.first().waitFor({ state: 'attached' })
  const seen = links.filter({ visible: true })
  if ((await seen.count()) === 0) await page.locator('.bottom-bar summary').click()
  await seen.first().click()
}

async function openAs(context: BrowserContext, member: Member, path: string): Promise<Page> {
  await useSessionIn(context, api, member)
  const page = await context.newPage()
  await page.goto(`${api.url}${member.home}${path}`)
  return page
}

/** Finds the form from the page that offers it, fills it in, sends it, and reads what is said. */
async function act(
  context: BrowserContext,
  route: DashboardRoute,
  role: Role,
  { language, visit }: Walk,
): Promise<void> {
  const { client } = await openScene(route)
  const member = await signIn(api, client.company, { role, language, hasSecondFactor: true })
  const { scene, at, path, page: own } = await placeOf(route, { api, client, member })
  const { first, fill, says } = ACTIONS[route.path]!
  const url = `${member.home}${path}`
  const page = await openAs(context, member, at)
  const isFine = async () => {
    if (visit.javaScript === false) return
    await isAccessible(page)
    await fitsTheWindow(page)
  }
  if (own) await follow(page, url)
  await first?.(page)
  const form = formTo(page, url)
  await form.waitFor()
  await isFine()
  await fill?.(page, scene)
  await form.locator('button:is(:not([name]), [value=save]):visible').last().click()
  await page.locator('main').getByText(says[language]).first().waitFor()
  await isFine()
  await page.close()
}

/** The form is nowhere on the page that offers it to others, or the page is not theirs. */
async function isNotOffered(
  context: BrowserContext,
  { scene, at, path, page: own }: Place,
  role: Role,
): Promise<void> {
  const member = await signIn(api, scene.client.company, { role, hasSecondFactor: true })
  const page = await openAs(context, member, at)
  const url = `${member.home}${path}`
  // Some pages show to everybody what only some can change.
  if (own && isAllowed(role, own.needs)) await page.goto(api.url + url)
  else assert.equal(await linkTo(page, url).count(), 0, `${at} leads ${role} to ${path}`)
  assert.equal(await formTo(page, url).count(), 0, `${at} offers ${path} to ${role}`)
  await page.close()
}

/** Sends what a page with a name in it loads from the service's public name to the service. */
async function visitorOf(visit: Visit): Promise<BrowserContext> {
  const { context } = await browser.visitor(visit)
  await context.route(`${api.app.publicUrl}/**`, async (route) => {
    const { pathname } = new URL(route.request().url())
    await route.fulfill({ response: await route.fetch({ url: api.url + pathname }) })
  })
  return context
}

/** What the last page shows, for whoever must find out why it is not what was expected. */
async function shownIn(context: BrowserContext): Promise<string> {
  const page = context.pages().at(-1)
  if (!page) return 'no page'
  const text = await page.locator('body').innerText({ timeout: 5_000 }).catch(String)
  await page.close()
  return `${page.url()} shows: ${text}`
}

/** Suspends a company and lets it go on, and sees both said. */
async function operate({ language, visit }: Walk): Promise<void> {
  const { company } = await api.client({ name: 'Loja da Esquina' })
  const member = await signIn(api, company, {
    role: null,
    isOperator: true,
    hasSecondFactor: true,
    language,
  })
  const context = await visitorOf({ ...visit, language })
  await useSessionIn(context, api, member)
  const page = await context.newPage()
  const home = `/operator/companies/${suffixOf(company.id)}`
  await page.goto(api.url + home)
  for (const [path, said] of [
    ['suspend', { pt: 'A empresa está suspensa.', en: 'The company is suspended.' }],
    ['resume', { pt: 'A empresa está ativa de novo.', en: 'The company is active again.' }],
  ] as const) {
    await page.locator(`a[href="${home}/${path}"]`).click()
    await page.locator(`form[action="${home}/${path}"] button`).click()
    await page.getByText(said[language]).waitFor()
    if (visit.javaScript !== false) await isAccessible(page)
    if (visit.javaScript !== false) await fitsTheWindow(page)
  }
}

if (isLong) {
  for (const walk of WALKS) {
    test(`an operator suspends and resumes: ${walk.name}`, () => operate(walk))
    for (const role of WALKED) {
      const allowed = walkedForms.filter(({ needs }) => isAllowed(role, needs))
      if (allowed.length === 0) continue
      test(`every action that is theirs is done: ${role}, ${walk.name}`, async (t) => {
        const context = await visitorOf({ ...walk.visit, language: walk.language })
        const faults: string[] = []
        for (const route of allowed) {
          await act(context, route, role, walk).catch(async (error: Error) => {
            faults.push(`${route.path}: ${error.message}\n${await shownIn(context)}`)
            // The others take minutes.
            t.diagnostic(faults.at(-1)!)
          })
        }
        assert.deepEqual(faults, [])
      })
    }
  }
  test('nobody is offered what their role may not do', async () => {
    const context = await visitorOf(DESKTOP)
    for (const route of forms) {
      const others = WALKED.filter((role) => !isAllowed(role, route.needs))
      const place = others.length > 0 ? await placeOf(route, await openScene(route)) : null
      for (const role of others) await isNotOffered(context, place!, role)
    }
  })
}
