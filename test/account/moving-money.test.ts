import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayMoveMoney } from '../../src/core/people/second-factors.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { givePassword, PASSWORD } from '../support/people.ts'

const api = await startApi()
const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
const sandbox = await api.client()
const ROUTES_OF_MONEY = ROUTES.filter(({ movesMoney }) => movesMoney)

const ask = ({ get, post }: Member, { method, path }: (typeof ROUTES)[number]) => {
  const url = path.replace(/:\w+/g, suffixOf(newId()))
  return method === 'GET' ? get(url) : post(url)
}

const REFUSAL = /Ative a verificação em duas etapas/

test('real money is moved only in a session with a second factor', () => {
  const now = new Date()
  const later = new Date(now.getTime() + 1)
  const may = (mode: 'live' | 'sandbox', hasSecondFactor: boolean, factorCountsAt: Date | null) =>
    mayMoveMoney({ mode }, { hasSecondFactor }, { factorCountsAt }, now)
  assert.equal(may('live', false, null), false)
  assert.equal(may('live', true, null), true)
  assert.equal(may('live', true, later), false)
  assert.equal(may('live', true, now), true)
  assert.equal(may('sandbox', false, later), true)
})

/** Pages that change who can reach a company, or how its programs are answered. */
const ACCESS = ROUTES.filter(
  ({ path, method, confirmed }) =>
    /^\/(settings\/(members|version)|developers\/keys)/.test(path) &&
    (method === 'POST' || confirmed),
)

test('members, keys and pins of a live company are changed only with a second factor', async () => {
  assert.ok(ACCESS.length >= 15, `only ${ACCESS.length} pages`)
  const without = await signIn(api, live.company)
  await givePassword(api, without.person)
  const sure = await without.post('//account/confirm', { password: PASSWORD })
  assert.equal(sure.status, 303, sure.text)
  const withFactor = await signIn(api, live.company, { hasSecondFactor: true })
  const playing = await signIn(api, sandbox.company)
  for (const route of ACCESS) {
    const name = `${route.method} ${route.path}`
    const refused = await ask(without, route)
    assert.equal(refused.status, 403, name)
    assert.match(refused.text, REFUSAL, name)
    for (const member of [withFactor, playing]) {
      assert.doesNotMatch((await ask(member, route)).text, REFUSAL, name)
    }
  }
})

test('keys of a suspended company are still revoked, and people still removed', async () => {
  const { company } = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const owner = await signIn(api, company, { hasSecondFactor: true })
  const member = await signIn(api, company, { role: 'developer' })
  const [key] = await api.rows<{ id: string }>('select id from api_keys where company_id = $1', [
    company.id,
  ])
  await api.rows('update companies set suspended_at = now() where id = $1', [company.id])
  const revoked = await owner.post(`/developers/keys/${suffixOf(key!.id)}/revoke`)
  assert.match(revoked.location!, /done=revoked/)
  const removed = await owner.post(`/settings/members/${suffixOf(member.person.id)}/remove`)
  assert.match(removed.location!, /done=removed/)
})

test('every page that moves money asks people of a live company for a second factor', async () => {
  assert.ok(ROUTES_OF_MONEY.length > 0)
  for (const role of ['owner', 'finance'] as const) {
    const without = await signIn(api, live.company, { role })
    const withFactor = await signIn(api, live.company, { role, hasSecondFactor: true })
    const playing = await signIn(api, sandbox.company, { role })
    for (const route of ROUTES_OF_MONEY) {
      const name = `${route.method} ${route.path} as ${role}`
      const refused = await ask(without, route)
      assert.equal(refused.status, 403, name)
      const isTheirs = typeof route.needs === 'string' || route.needs.includes(role)
      if (isTheirs) assert.match(refused.text, REFUSAL, name)
      assert.doesNotMatch((await ask(withFactor, route)).text, REFUSAL, name)
      assert.doesNotMatch((await ask(playing, route)).text, REFUSAL, name)
    }
  }
})

test('no page moves money of a suspended company, and all of them can be read', async () => {
  for (const mode of ['live', 'sandbox'] as const) {
    const { company } = await api.client({ mode, pixKey: 'dona@example.com' })
    const owner = await signIn(api, company, { hasSecondFactor: true })
    await api.rows('update companies set suspended_at = now() where id = $1', [company.id])
    for (const route of ROUTES_OF_MONEY) {
      const name = `${mode} ${route.method} ${route.path}`
      const { status, text } = await ask(owner, route)
      if (route.method === 'GET') {
        assert.notEqual(status, 403, name)
        continue
      }
      assert.equal(status, 403, name)
      assert.match(text, /A empresa está suspensa: é possível consultar/, name)
    }
  }
})

test('the page leads to where a factor is set up', async () => {
  const owner = await signIn(api, live.company, { language: 'en' })
  const page = await ask(owner, ROUTES_OF_MONEY[0]!)
  assert.match(page.text, /Set up two-step verification/)
  assert.match(page.text, /href="\/account\/security"/)
})

test('who confirms with a password keeps the second factor of the session, and moves money', async () => {
  const owner = await signIn(api, live.company, { hasSecondFactor: true, isConfirmed: false })
  await givePassword(api, owner.person)
  const [route] = ROUTES_OF_MONEY.filter(({ method, confirmed }) => method === 'POST' && confirmed)
  assert.match((await ask(owner, route!)).location!, /^\/account\/confirm/)
  const confirmed = await owner.post('//account/confirm', { password: PASSWORD, next: owner.home })
  assert.equal(confirmed.location, owner.home)
  const { status, text } = await ask(owner, route!)
  assert.doesNotMatch(text, REFUSAL)
  assert.notEqual(status, 403)
})
