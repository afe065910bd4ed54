import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRole } from '../../src/core/people/store.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { getPage, PASSWORD, pathIn, postForm } from '../support/people.ts'

const api = await startApi()
const { db } = api.app
const ALL = '/settings/members'

const pathOf = ({ person }: Member) => `${ALL}/${suffixOf(person.id)}`
const activity = (companyId: string) =>
  api.rows('select action, details from activity where company_id = $1 order by id', [companyId])

test('an owner sees who belongs to the company, and when they were last there', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { name: 'Ana' })
  await signIn(api, client.company, { role: 'finance', name: '<b>Bia</b>' })
  const { text } = await owner.get(ALL)
  assert.match(text, /<strong>Ana<\/strong> <span class="soft small">\(você\)<\/span>/)
  assert.match(text, /&lt;b&gt;Bia&lt;\/b&gt;[\s\S]*Financeiro[\s\S]*<time/)
  assert.doesNotMatch(text, /Convites pendentes/)
})

test('an owner invites, sends again and withdraws; the company’s log has it all', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { name: 'Ana Dona' })
  const done = await owner.post(`${ALL}/invite`, { email: 'Bia@Example.com', role: 'support' })
  assert.equal(done.location, `${owner.home}${ALL}?done=invited`)
  const list = await owner.get(`${ALL}?done=invited`)
  assert.match(list.text, /Convite enviado\.[\s\S]*bia@example\.com[\s\S]*Atendimento/)
  const link = () => /settings\/members\/invitations\/([\w-]{43})"/
  const first = link().exec(list.text)![1]
  const resent = await owner.post(`${ALL}/invitations/${first}/resend`)
  assert.equal(resent.location, `${owner.home}${ALL}?done=resent`)
  const letters = await lettersOf(api, client.company.id)
  assert.equal(letters.length, 2)
  assert.match(letters[0]!.text, /Ana Dona convidou você/)
  const paths = letters.map(pathIn)
  assert.equal((await getPage(api, paths[0]!)).status, 410, 'the former link has ended')
  assert.equal((await getPage(api, paths[1]!)).status, 200)
  assert.equal((await owner.post(`${ALL}/invitations/${first}/resend`)).status, 404)
  const second = link().exec((await owner.get(ALL)).text)![1]
  assert.equal((await owner.get(`${ALL}/invitations/${second}`)).status, 200)
  assert.equal((await owner.post(`${ALL}/invitations/${second}/withdraw`)).status, 303)
  const late = await postForm(api, paths[1]!, { name: 'Bia', password: PASSWORD })
  assert.equal(late.status, 410)
  assert.deepEqual(await activity(client.company.id), [
    { action: 'member.invite', details: { role: 'support' } },
    { action: 'invitation.resend', details: { role: 'support' } },
    { action: 'invitation.cancel', details: { role: 'support' } },
  ])
})

test('a wrong e-mail and somebody who belongs to the company are refused, with what was typed', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { language: 'en' })
  const wrong = await owner.post(`${ALL}/invite`, { email: 'not an email', role: 'developer' })
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /value="not an email"/)
  assert.match(wrong.text, /value="developer" checked/)
  assert.match(wrong.text, /Enter a valid email address/)
  const own = await owner.post(`${ALL}/invite`, { email: owner.person.email, role: 'viewer' })
  assert.match(own.text, /already belongs to the company/)
  const strange = await owner.post(`${ALL}/invite`, { email: 'x@example.com', role: 'emperor' })
  assert.equal(strange.location, `${owner.home}${ALL}?done=invited`)
  assert.match((await owner.get(ALL)).text, /Viewer/, 'an unknown role is the weakest')
})

test('a company sends at most 50 invitations an hour', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  for (let count = 0; count < 50; count++) {
    const email = `person-${count}@example.com`
    await api.rows(
      `insert into mails (company_id, id, kind, sealed, next_attempt_at, created_at)
       values ($1, gen_random_uuid(), 'invitation', $2, $3, $3)`,
      [client.company.id, Buffer.from(email), api.clock.now()],
    )
  }
  const refused = await owner.post(`${ALL}/invite`, { email: 'x@example.com', role: 'viewer' })
  assert.equal(refused.status, 429)
  assert.match(refused.text, /Muitas tentativas/)
})

test('a role that changes ends the sessions of the person, everywhere', async () => {
  const [client, elsewhere] = [await api.client(), await api.client()]
  const owner = await signIn(api, client.company)
  const member = await signIn(api, client.company, { role: 'viewer' })
  const unchanged = await owner.post(`${pathOf(member)}/role`, { role: 'viewer' })
  assert.equal(unchanged.status, 303)
  assert.equal((await member.get('')).status, 200)
  const done = await owner.post(`${pathOf(member)}/role`, { role: 'finance' })
  assert.equal(done.location, `${owner.home}${ALL}?done=role`)
  assert.equal((await member.get('')).status, 303, 'the session has ended')
  assert.equal(await findRole(db.control, client.company.id, member.person.id), 'finance')
  assert.equal((await owner.get('')).status, 200)
  const stranger = await signIn(api, elsewhere.company)
  assert.equal((await stranger.post(`${pathOf(member)}/role`, { role: 'owner' })).status, 404)
  assert.deepEqual(await activity(client.company.id), [
    { action: 'member.change-role', details: { role: 'finance' } },
  ])
})

test('somebody who is removed loses the company and their sessions', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const member = await signIn(api, client.company, { role: 'developer' })
  const done = await owner.post(`${pathOf(member)}/remove`)
  assert.equal(done.location, `${owner.home}${ALL}?done=removed`)
  assert.equal((await member.get('')).status, 303)
  assert.equal(await findRole(db.control, client.company.id, member.person.id), null)
  assert.equal((await owner.post(`${pathOf(member)}/remove`)).status, 404)
})

test('the last owner is neither removed nor made something else, not even by two at once', async () => {
  const client = await api.client()
  const [one, other] = [await signIn(api, client.company), await signIn(api, client.company)]
  const both = await Promise.all([
    one.post(`${pathOf(other)}/role`, { role: 'viewer' }),
    other.post(`${pathOf(one)}/remove`),
  ])
  const statuses = both.map(({ status }) => status).sort()
  assert.ok(statuses.includes(303), 'one of them is done')
  const owners = await api.peopleRows<{ person_id: string }>(
    `select person_id from memberships where company_id = $1 and role = 'owner'`,
    [client.company.id],
  )
  assert.equal(owners.length, 1)
  const last = await signIn(api, client.company)
  await api.peopleRows(
    `delete from memberships where company_id = $1 and role = 'owner' and person_id <> $2`,
    [client.company.id, last.person.id],
  )
  for (const [path, form] of [
    ['role', { role: 'viewer' }],
    ['remove', {}],
  ] as const) {
    const refused = await last.post(`${pathOf(last)}/${path}`, form)
    assert.equal(refused.status, 400)
    assert.match(refused.text, /A empresa precisa de pelo menos um responsável/)
  }
  assert.equal(await findRole(db.control, client.company.id, last.person.id), 'owner')
})

test('an owner who has not just proved who they are changes nothing', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { isConfirmed: false })
  const member = await signIn(api, client.company, { role: 'viewer' })
  assert.equal((await owner.get(ALL)).status, 200)
  const shown = await owner.get(pathOf(member))
  assert.match(shown.location!, /^\/account\/confirm\?next=.*settings%2Fmembers/)
  for (const [path, form] of [
    [`${pathOf(member)}/role`, { role: 'owner' }],
    [`${pathOf(member)}/remove`, {}],
    [`${ALL}/invite`, { email: 'x@example.com', role: 'owner' }],
  ] as const) {
    assert.match((await owner.post(path, form)).location!, /^\/account\/confirm/)
  }
  assert.equal(await findRole(db.control, client.company.id, member.person.id), 'viewer')
  assert.deepEqual(await lettersOf(api, client.company.id), [])
})
