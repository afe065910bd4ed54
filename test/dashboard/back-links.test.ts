import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import { SECTIONS } from '../../src/web/dashboard/sections.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeRecords, pathOf } from '../support/dashboard-records.ts'

const api = await startApi()
const client = await api.client()
const records = await makeRecords(api, client)
const owner = await signIn(api, client.company, { hasSecondFactor: true })

/** Where the menu, the head and the tabs of a section lead. */
async function pathsOnTop(): Promise<Set<string>> {
  const paths = new Set<string>([...SECTIONS.map(({ path }) => path), '/search'])
  for (const section of ['/developers', '/settings']) {
    const { text } = await owner.get(section)
    const tabs = /<nav class="section-tabs".*?<\/nav>/s.exec(text)![0]
    for (const [, href] of tabs.matchAll(/href="([^"]+)"/g)) {
      paths.add(href!.slice(owner.home.length))
    }
  }
  return paths
}

/** What a button looks like, what scripts and programs read, and a screen that payers see. */
const NO_PAGES = /\.(csv|ofx|html)$|^\/now$|\/(sign|letter|sample|preview)\b|^\/counter\/:id$/

/** Second steps of a path, which its route does not show. */
const NEXT_STEPS = [`/unmatched/${records.unmatched}/settle?q=${records.charges}`]

function hasOneLinkBack(text: string, path: string): void {
  const main = text.slice(text.indexOf('<main'))
  assert.equal(main.split('class="back-link"').length - 1, 1, path)
  const before = main.slice(0, main.indexOf('class="back-link"'))
  assert.doesNotMatch(before, /<h1/, path)
  const after = main.slice(main.indexOf('</p>', before.length))
  const [, back] = /class="back-link"><a href="([^"]+)"/.exec(main)!
  assert.ok(!after.includes(`class="button quiet" href="${back}"`), path)
  assert.doesNotMatch(after, />(Voltar(?! ao padrão)[^<]*|Manter[^<]*)<\/(a|button)/, path)
}

test('every page below a list has one link back, on top and nowhere else', async () => {
  const onTop = await pathsOnTop()
  for (const route of ROUTES) {
    if (route.method !== 'GET' || onTop.has(route.path) || NO_PAGES.test(route.path)) continue
    const { status, text } = await owner.get(pathOf(route, records))
    if (status !== 200 || !text.includes('<main')) continue
    hasOneLinkBack(text, route.path)
  }
  for (const path of NEXT_STEPS) {
    const { status, text } = await owner.get(path)
    assert.equal(status, 200)
    assert.match(text, /Escolher outra cobrança/)
    hasOneLinkBack(text, path)
  }
})
