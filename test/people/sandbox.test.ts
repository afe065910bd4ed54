import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setMembership } from '../../src/core/people/store.ts'
import { openSandbox, resetSandbox } from '../../src/sandbox.ts'
import { ask } from '../browser/local.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { cookieOf, getPage, postForm } from '../support/people.ts'

const api = await startApi()
const sandbox = await openSandbox(api.app)
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

test('in local mode one click on the front page opens the dashboard of the sandbox', async () => {
  const front = await getPage(api, '/')
  assert.match(front.text, /action="\/sandbox\/dashboard"><button class="button">Abrir o painel/)
  const done = await postForm(api, '/sandbox/dashboard')
  assert.equal(done.location, '/dashboard')
  const cookie = cookieOf(done)
  const { location } = await getPage(api, '/dashboard', { cookie })
  assert.equal((await getPage(api, location!, { cookie })).status, 200)
  const [ana] = await api.peopleRows(`select is_operator, email from people`)
  assert.deepEqual(ana, { is_operator: true, email: 'ana@example.com' })
})

test('no other site and no other name opens it, and a server does not have it', async () => {
  const post = (headers: Record<string, string>) =>
    ask(api, 'POST', '/sandbox/dashboard', { ...FORM, ...headers })
  assert.equal((await post({ 'sec-fetch-site': 'cross-site' })).status, 400)
  assert.equal((await post({ origin: 'null' })).status, 400)
  assert.equal((await post({ host: 'evil.example' })).status, 404)
  const elsewhere = await ask(api, 'GET', '/', { host: 'evil.example' })
  assert.doesNotMatch(elsewhere.text, /sandbox\/dashboard/)
  assert.match(elsewhere.text, /href="\/dashboard"/)
  const served = await startApi({}, { local: false })
  assert.equal((await postForm(served, '/sandbox/dashboard')).status, 404)
})

test('after a reset its people and sessions work with the new company', async () => {
  const cookie = cookieOf(await postForm(api, '/sandbox/dashboard'))
  const viewer = await signIn(api, { id: sandbox.companyId }, { role: 'viewer' })
  const { companyId } = await resetSandbox(api.app)
  const moved = await api.peopleRows(
    'select role from memberships where company_id = $1 order by role',
    [companyId],
  )
  assert.deepEqual(moved, [{ role: 'owner' }, { role: 'viewer' }])
  assert.equal((await viewer.get('')).status, 404, 'the former company is closed to them')
  const { location } = await getPage(api, '/dashboard', { cookie })
  assert.equal((await getPage(api, location!, { cookie })).status, 200)
})

test('a start adds the owner again, and changes no role of theirs', async () => {
  const { companyId } = await openSandbox(api.app)
  const [ana] = await api.peopleRows<{ id: string }>(`select id from people where is_operator`)
  const { id } = ana!
  await setMembership(api.app.db.control, companyId, id, 'support', api.clock.now())
  await openSandbox(api.app)
  const [row] = await api.peopleRows('select role from memberships where person_id = $1', [id])
  assert.deepEqual(row, { role: 'support' })
  await api.peopleRows('delete from memberships where person_id = $1', [id])
  await openSandbox(api.app)
  const [again] = await api.peopleRows('select role from memberships where person_id = $1', [id])
  assert.deepEqual(again, { role: 'owner' })
})
