import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { isLong } from '../support/long.ts'
import { addApp, codeOf, codesOn, prepareApp } from '../support/totp.ts'

const api = await startApi()
const client = await api.client()

test('an app counts once a code of it was given, and shows ten recovery codes', async () => {
  const owner = await signIn(api, client.company)
  const secret = await prepareApp(owner)
  assert.equal(secret.length, 32)
  const wrong = await owner.post('//account/security/app/code', { code: '000000' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /O código não confere/)
  assert.match((await owner.get('//account/security')).text, /Inativo/)
  const right = await owner.post('//account/security/app/code', { code: codeOf(api, secret) })
  assert.equal(codesOn(right.text).length, 10)
  const page = await owner.get('//account/security')
  assert.match(page.text, /Restam 10 códigos/)
  assert.doesNotMatch(page.text, new RegExp(codesOn(right.text)[0]!))
  assert.equal((await owner.get('//account/security/app')).location, '/account/security')
})

test('neither the secret nor the codes can be read in the database', async () => {
  const owner = await signIn(api, client.company)
  const { secret, recoveryCodes } = await addApp(api, owner)
  const [row] = await api.peopleRows<{ found: string }>(
    `select (select row_to_json(p) from people p where id = $1)::text
       || (select json_agg(r) from recovery_codes r where person_id = $1)::text as found`,
    [owner.person.id],
  )
  for (const text of [secret, ...recoveryCodes]) {
    const bytes = Buffer.from(text).toString('hex')
    assert.ok(!row!.found.includes(text) && !row!.found.includes(bytes))
  }
})

test('setting up and removing need a confirmed session', async () => {
  const owner = await signIn(api, client.company, { isConfirmed: false })
  const page = await owner.get('//account/security')
  assert.match(page.text, /confirme antes que é você/)
  assert.doesNotMatch(page.text, /account\/security\/app"/)
  for (const path of ['app', 'app/code', 'app/remove', 'passkeys', 'passkeys/remove']) {
    const sent = await owner.post(`//account/security/${path}`)
    assert.equal(sent.location, '/account/confirm?next=/account/security', path)
  }
})

test('who has no password confirms by a code, and each code works once', async () => {
  const owner = await signIn(api, client.company)
  const { secret } = await addApp(api, owner)
  const reused = await owner.post('//account/confirm', { code: codeOf(api, secret) })
  assert.equal(reused.status, 422, 'the code that set it up')
  api.clock.advance(30)
  const code = codeOf(api, secret)
  const sent = await Promise.all([
    owner.post('//account/confirm', { code }),
    owner.post('//account/confirm', { code }),
  ])
  assert.deepEqual(sent.map(({ status }) => status).sort(), [303, 422])
  const older = await owner.post('//account/confirm', { code: codeOf(api, secret, -30) })
  assert.equal(older.status, 422)
})

const GUESSES = isLong ? 1_000 : 50

test(`of ${GUESSES} guesses five are checked`, async () => {
  const owner = await signIn(api, client.company)
  const { secret } = await addApp(api, owner)
  api.clock.advance(30)
  const right = codeOf(api, secret)
  const statuses = new Map<number, number>()
  for (let i = 0; i < GUESSES; i++) {
    const code = String((Number(right) + 1 + i) % 1_000_000).padStart(6, '0')
    const { status } = await owner.post('//account/confirm', { code })
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  // One was used to set the app up.
  assert.deepEqual(Object.fromEntries(statuses), { 422: 4, 429: GUESSES - 4 })
  const late = await owner.post('//account/confirm', { code: right })
  assert.equal(late.status, 429)
  assert.match(late.text, /Muitas tentativas/)
})

test('new recovery codes replace the old ones, and go with the last factor', async () => {
  const owner = await signIn(api, client.company)
  const { recoveryCodes } = await addApp(api, owner)
  const renewed = codesOn((await owner.post('//account/security/recovery-codes')).text)
  assert.equal(renewed.length, 10)
  assert.ok(renewed.every((code) => !recoveryCodes.includes(code)))
  const removed = await owner.post('//account/security/app/remove')
  assert.equal(removed.location, '/account/security?done=app-removed')
  const sql = 'select count(*) from recovery_codes where person_id = $1'
  assert.deepEqual(await api.peopleRows(sql, [owner.person.id]), [{ count: 0 }])
  const none = await owner.post('//account/security/recovery-codes')
  assert.equal(none.location, '/account/security')
})

test('the first factor ends other sessions, and the last one leaves none with a factor', async () => {
  const owner = await signIn(api, client.company)
  await api.peopleRows(
    `insert into sessions select gen_random_uuid(), person_id, '\\x01', created_at, last_seen_at,
       confirmed_at, false, address, device from sessions where id = $1`,
    [owner.session.id],
  )
  const sql = 'select has_second_factor from sessions where person_id = $1'
  assert.equal((await api.peopleRows(sql, [owner.person.id])).length, 2)
  await addApp(api, owner)
  assert.deepEqual(await api.peopleRows(sql, [owner.person.id]), [{ has_second_factor: true }])
  await owner.post('//account/security/app/remove')
  assert.deepEqual(await api.peopleRows(sql, [owner.person.id]), [{ has_second_factor: false }])
})

test('the activity log of their companies has what people change', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  await addApp(api, owner)
  await owner.post('//account/security/recovery-codes')
  await owner.post('//account/security/app/remove')
  await owner.post('//account/security/app/remove')
  const entries = await api.rows<{ action: string }>(
    'select action from activity where company_id = $1 order by id',
    [company.id],
  )
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['two-factor.enable', 'recovery-codes.create', 'two-factor.disable'],
  )
})
