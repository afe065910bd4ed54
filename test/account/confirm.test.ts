import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONFIRMED_MS } from '../../src/core/people/rules.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { isLong } from '../support/long.ts'
import { lettersOf } from '../support/mail.ts'
import { givePassword, PASSWORD, pathIn } from '../support/people.ts'
import { addApp, codeOf } from '../support/totp.ts'

const api = await startApi()
const client = await api.client()
const confirmedAt = async (sessionId: string) => {
  const sql = 'select confirmed_at from sessions where id = $1'
  const [row] = await api.peopleRows<{ confirmed_at: Date | null }>(sql, [sessionId])
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

test('outside local mode a click is not enough: a password comes by mail', async () => {
  const live = await startApi({}, { local: false })
  const owner = await signIn(live, (await live.client()).company, { isConfirmed: false })
  const page = await owner.get('//account/confirm')
  assert.match(page.text, /link ao seu e-mail/)
  assert.equal((await owner.post('//account/confirm')).status, 422)
  const sent = await owner.post('//account/confirm', { mail: 'yes' })
  assert.equal(sent.status, 200)
  const [letter] = await lettersOf(live, owner.person.id)
  assert.match(pathIn(letter!), /^\/password\//)
  const [row] = await live.peopleRows('select confirmed_at from sessions where id = $1', [
    owner.session.id,
  ])
  assert.deepEqual(row, { confirmed_at: null })
})

test('a password confirms, and nothing else does for who has one', async () => {
  const owner = await signIn(api, client.company, { isConfirmed: false })
  await givePassword(api, owner.person)
  const page = await owner.get('//account/confirm')
  assert.match(page.text, /type="password"/)
  for (const form of [{}, { password: 'wrong' }, { code: '123456' }, { response: '{}' }]) {
    const refused = await owner.post('//account/confirm', form as Record<string, string>)
    assert.equal(refused.status, 422, JSON.stringify(form))
  }
  assert.equal(await confirmedAt(owner.session.id), null)
  const right = await owner.post('//account/confirm', { password: PASSWORD, next: owner.home })
  assert.equal(right.location, owner.home)
  assert.deepEqual(await confirmedAt(owner.session.id), api.clock.now())
})

test('who has a second factor confirms by it, and not by the password', async () => {
  const owner = await signIn(api, client.company)
  await givePassword(api, owner.person)
  const { secret, recoveryCodes } = await addApp(api, owner)
  api.clock.advance(300)
  const page = await owner.get('//account/confirm')
  assert.match(page.text, /name="code"/)
  assert.doesNotMatch(page.text, /type="password"/)
  const before = await confirmedAt(owner.session.id)
  const stolen = await owner.post('//account/confirm', { password: PASSWORD })
  assert.equal(stolen.status, 422)
  assert.match(stolen.text, /O código não confere/)
  assert.deepEqual(await confirmedAt(owner.session.id), before)
  const code = { code: codeOf(api, secret), next: owner.home }
  assert.equal((await owner.post('//account/confirm', code)).location, owner.home)
  assert.deepEqual(await confirmedAt(owner.session.id), api.clock.now())
  api.clock.advance(300)
  const recovery = { recovery: recoveryCodes[0]!, next: owner.home }
  assert.equal((await owner.post('//account/confirm', recovery)).location, owner.home)
  assert.equal((await owner.post('//account/confirm', recovery)).status, 422, 'it works once')
})

const GUESSES = isLong ? 1_000 : 50

test(`of ${GUESSES} guessed passwords ten are checked`, async () => {
  const owner = await signIn(api, client.company, { isConfirmed: false })
  await givePassword(api, owner.person)
  const statuses = new Map<number, number>()
  for (let i = 0; i < GUESSES; i++) {
    const { status } = await owner.post('//account/confirm', { password: `guess ${i}` })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  assert.deepEqual(Object.fromEntries(statuses), { 422: 10, 429: GUESSES - 10 })
  const right = await owner.post('//account/confirm', { password: PASSWORD })
  assert.equal(right.status, 429)
  assert.equal(await confirmedAt(owner.session.id), null)
})
