import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suffixOf } from '../../src/lib/ids.ts'
import { OPERATOR_ROUTES } from '../../src/web/operator/routes.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { givePassword, PASSWORD } from '../support/people.ts'
import { addApp } from '../support/totp.ts'

const api = await startApi()
const client = await api.client()
const pathOf = (path: string) =>
  `//operator${path.replace(':company', suffixOf(client.company.id))}`
const REFUSAL = /Ative a verificação em duas etapas/

const ask = ({ get, post }: Member, { method, path }: (typeof OPERATOR_ROUTES)[number]) =>
  method === 'GET' ? get(pathOf(path)) : post(pathOf(path))

const isSuspended = async () => {
  const sql = 'select suspended_at from companies where id = $1'
  const [row] = await api.rows<{ suspended_at: Date | null }>(sql, [client.company.id])
  return row!.suspended_at !== null
}

test('an operator without a second factor only reads, whatever the page', async () => {
  const operator = await signIn(api, client.company, { role: null, isOperator: true })
  await givePassword(api, operator.person)
  const sure = await operator.post('//account/confirm', { password: PASSWORD })
  assert.equal(sure.status, 303)
  const changing = OPERATOR_ROUTES.filter(({ method }) => method === 'POST')
  assert.ok(changing.length > 0)
  for (const route of changing) {
    const refused = await ask(operator, route)
    assert.equal(refused.status, 403, route.path)
    assert.match(refused.text, REFUSAL, route.path)
    assert.match(refused.text, /href="\/account\/security"/)
  }
  assert.equal(await isSuspended(), false)
  // A page that asks before something is changed says it before anybody has typed.
  const asking = OPERATOR_ROUTES.filter(({ method, confirmed }) => method === 'GET' && confirmed)
  for (const route of asking) assert.equal((await ask(operator, route)).status, 403, route.path)
  const reading = OPERATOR_ROUTES.filter(({ method, confirmed }) => method === 'GET' && !confirmed)
  for (const route of reading) assert.equal((await ask(operator, route)).status, 200, route.path)
})

test('the first operator signs in, sets a factor up after a link from us, and operates', async () => {
  const operator = await signIn(api, client.company, {
    role: null,
    isOperator: true,
    byLink: true,
  })
  assert.match((await operator.post(pathOf('/companies/:company/suspend'))).text, REFUSAL)
  await addApp(api, operator)
  const suspended = await operator.post(pathOf('/companies/:company/suspend'))
  assert.match(suspended.location!, /done=suspend/, suspended.text)
  assert.equal(await isSuspended(), true)
})

test('a factor that an operator sets up with a password alone counts after a day', async () => {
  const operator = await signIn(api, client.company, { role: null, isOperator: true })
  await addApp(api, operator)
  const resume = pathOf('/companies/:company/resume')
  const refused = await operator.post(resume)
  assert.equal(refused.status, 403)
  assert.match(refused.text, /action="\/account\/security\/link"/)
  assert.equal(await isSuspended(), true)
})
