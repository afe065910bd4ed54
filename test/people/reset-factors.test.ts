import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setMembership } from '../../src/core/people/store.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { startApi } from '../support/api.ts'
import { createAuthenticator, questionOf } from '../support/authenticator.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { type Member, type MemberOptions, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, getPage, givePassword, PASSWORD, postForm } from '../support/people.ts'
import { temporaryFolder } from '../support/process.ts'
import { addApp } from '../support/totp.ts'

const api = await startApi()
const home = temporaryFolder()
const vintem = hostedVintemIn(home)
const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })

const reset = ({ person }: Pick<Member, 'person'>) =>
  vintem(['person', 'reset-factors', '--email', person.email.toUpperCase()], {
    ...api.databases,
    SECRET_KEY: api.app.config.secretKey.toString('base64'),
    PUBLIC_URL: 'https://pix.example.com',
    DATA_DIR: home,
  })

/** Somebody with a password, an app that makes codes, recovery codes and a passkey. */
async function withFactors(options: MemberOptions) {
  const member = await signIn(api, live.company, options)
  await givePassword(api, member.person)
  await addApp(api, member)
  const device = createAuthenticator('http://vintem.test')
  const { options: asked, state } = questionOf((await member.get('//account/security')).text)
  const form = { name: 'Celular', state, response: device.create(asked) }
  assert.equal((await member.post('//account/security/passkeys', form)).status, 303)
  return { member, device }
}

/** What is left of how the person proves who they are. */
const leftOf = async ({ person: { id } }: Member) =>
  (
    await api.peopleRows<{ left: number }>(
      `select (select count(*) from people where id = $1 and totp_secret is not null)
         + (select count(*) from passkeys where person_id = $1)
         + (select count(*) from recovery_codes where person_id = $1)
         + (select count(*) from sessions where person_id = $1) as left`,
      [id],
    )
  )[0]!.left

const actionsOf = async (companyId: string) =>
  (
    await api.rows<{ action: string; author_kind: string }>(
      `select action, author_kind from activity where company_id = $1
         and action like 'two-factor.reset' order by id`,
      [companyId],
    )
  ).map(({ action, author_kind }) => `${author_kind} ${action}`)

const pathOf = ({ person }: Member) => `/settings/members/${suffixOf(person.id)}`

test('the operator resets the factors of somebody who has lost them, with an entry in each company', async () => {
  const elsewhere = await api.client()
  const { member, device } = await withFactors({ role: 'finance' })
  const { person } = member
  await setMembership(
    api.app.db.control,
    elsewhere.company.id,
    person.id,
    'viewer',
    api.clock.now(),
  )
  const link = await vintem(['person', 'link', '--email', person.email, '--json'], {
    ...api.databases,
    SECRET_KEY: api.app.config.secretKey.toString('base64'),
    PUBLIC_URL: api.url,
    DATA_DIR: home,
  })
  const done = await reset(member)
  assert.deepEqual([done.code, done.stderr], [0, ''])
  assert.match(done.stdout, /signed out everywhere/)
  assert.equal(await leftOf(member), 0)
  for (const { id } of [live.company, elsewhere.company]) {
    assert.deepEqual(await actionsOf(id), ['command-line two-factor.reset'])
  }
  const letter = (await lettersOf(api, person.id)).at(-1)!
  assert.equal(letter.to, person.email)
  assert.match(letter.text, /Quem opera a instalação removeu/)
  assert.match(letter.text, /não poderá sacar/)
  assert.equal((await member.get('')).location?.startsWith('/sign-in'), true)
  const { url } = JSON.parse(link.stdout)
  assert.equal((await postForm(api, new URL(url).pathname)).status, 410, 'links from us have ended')
  const again = await reset(member)
  assert.equal(again.code, 1)
  assert.match(again.stderr, /has no second factor: the password is enough/)

  const asked = questionOf(
    (await postForm(api, '/sign-in/passkey', { state: 'x', response: '{}' })).text,
  )
  const response = device.get(asked.options)
  const byKey = await postForm(api, '/sign-in/passkey', { state: asked.state, response })
  assert.equal(byKey.status, 401, 'the lost passkey opens nothing')
  const byPassword = { email: person.email, password: PASSWORD }
  const signedIn = await postForm(api, '/sign-in', byPassword)
  const cookie = cookieOf(signedIn)
  const money = await getPage(api, `${member.home}/balance/withdraw`, { cookie })
  assert.equal(money.status, 403)
  assert.match(money.text, /Ative a verificação em duas etapas/)
})

test('an unknown e-mail is refused in one sentence', async () => {
  const nobody = { person: { email: 'x@example.com' } } as Member
  const { code, stderr } = await reset(nobody)
  assert.equal(code, 1)
  assert.match(stderr, /^Nobody has the e-mail X@EXAMPLE\.COM/)
})

test('an owner resets the factors of a member who belongs to no other company', async () => {
  const owner = await signIn(api, live.company, { hasSecondFactor: true, name: 'Ana Dona' })
  const { member } = await withFactors({ role: 'support', language: 'en', name: 'Bia' })
  const path = pathOf(member)
  const page = await owner.get(path)
  assert.match(page.text, /Verificação em duas etapas[\s\S]*Ativa[\s\S]*reset-factors"/)
  const before = await actionsOf(live.company.id)
  const done = await owner.post(`${path}/reset-factors`)
  assert.equal(done.location, `${owner.home}/settings/members?done=reset`)
  assert.match((await owner.get('/settings/members?done=reset')).text, /foi removida/)
  assert.equal(await leftOf(member), 0)
  assert.deepEqual(await actionsOf(live.company.id), [...before, 'person two-factor.reset'])
  assert.match((await lettersOf(api, member.person.id)).at(-1)!.text, /^Ana Dona removed your/m)
  const after = await owner.get(path)
  assert.match(after.text, /Não configurada/)
  assert.doesNotMatch(after.text, /reset-factors"/)
  const twice = await owner.post(`${path}/reset-factors`)
  assert.equal(twice.status, 409)
  assert.match(twice.text, /já não tem verificação/)
  assert.deepEqual(await actionsOf(live.company.id), [...before, 'person two-factor.reset'])
})

test('factors of others are not an owner’s to reset, nor without a second factor of their own', async () => {
  const owner = await signIn(api, live.company, { hasSecondFactor: true })
  const elsewhere = await api.client()
  const { member: shared } = await withFactors({ role: 'viewer' })
  await setMembership(
    api.app.db.control,
    elsewhere.company.id,
    shared.person.id,
    'viewer',
    new Date(),
  )
  const { member: operator } = await withFactors({ role: 'viewer', isOperator: true })
  for (const member of [shared, operator]) {
    const page = await owner.get(pathOf(member))
    assert.match(page.text, /só quem opera a instalação/)
    assert.doesNotMatch(page.text, /reset-factors"/)
    const refused = await owner.post(`${pathOf(member)}/reset-factors`)
    assert.equal(refused.status, 409)
    assert.ok((await leftOf(member)) > 10)
  }
  const own = await owner.post(`${pathOf(owner)}/reset-factors`)
  assert.equal(own.location, '/account/security')
  const { member } = await withFactors({ role: 'viewer' })
  const path = `${pathOf(member)}/reset-factors`
  const weak = await signIn(api, live.company)
  assert.equal((await weak.post(path)).status, 403)
  const stale = await signIn(api, live.company, { hasSecondFactor: true, isConfirmed: false })
  assert.match((await stale.post(path)).location!, /^\/account\/confirm/)
  const finance = await signIn(api, live.company, { role: 'finance', hasSecondFactor: true })
  assert.equal((await finance.post(path)).status, 403)
  assert.ok((await leftOf(member)) > 10)
})
