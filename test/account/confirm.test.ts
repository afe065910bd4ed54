import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONFIRMED_MS } from '../../src/core/people/rules.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'

const api = await startApi()
const client = await api.client()
const confirmedAt = async (sessionId: string) => {
  const sql = 'select confirmed_at from sessions where id = $1'
  const [row] = await api.rows<{ confirmed_at: Date | null }>(sql, [sessionId])
  return row!.confirmed_at
}

test('in local mode somebody without a password confirms by a click', async () => {
  const owner = await signIn(api, client.company, { isConfirmed: false })
  const page = await owner.get(`//account/confirm?next=${owner.home}/settings`)
  assert.equal(page.status, 200, page.text)
  assert.match(page.text, /Confirme que é você/)
  const sent = await owner.post('//account/confirm', { next: `${owner.home}/settings` })
  assert.equal(sent.location, `${owner.home}/settings`)
  assert.deepEqual(await confirmedAt(owner.session.id), api.clock.now())
  assert.equal(CONFIRMED_MS, 300_000)
})

test('only pages of ours follow', async () => {
  const owner = await signIn(api, client.company, { isConfirmed: false })
  for (const next of ['https://evil.test/', '//evil.test', '/\\evil.test', 'javascript:alert(1)']) {
    assert.equal((await owner.post('//account/confirm', { next })).location, '/dashboard', next)
  }
})

test('a form without the token of the session confirms nothing', async () => {
  const owner = await signIn(api, client.company, { isConfirmed: false })
  const forged = await owner.post('//account/confirm', { token: 'x'.repeat(22) })
  assert.equal(forged.status, 400)
  assert.equal(await confirmedAt(owner.session.id), null)
})

test('outside local mode a click is not enough', async () => {
  const live = await startApi({}, { local: false })
  const owner = await signIn(live, (await live.client()).company, { isConfirmed: false })
  const page = await owner.get('//account/confirm')
  assert.match(page.text, /link ao seu e-mail/)
  assert.equal((await owner.post('//account/confirm')).status, 422)
})
