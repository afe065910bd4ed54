import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeRole, removeMember } from '../../src/core/people/commands.ts'
import { invite, type NewInvitation } from '../../src/core/people/invitations.ts'
import { removeOperator } from '../../src/core/people/operators.ts'
import { findPersonByEmail, findRole } from '../../src/core/people/store.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { cookieOf, getPage, givePassword, PASSWORD, pathIn, postForm } from '../support/people.ts'
import { until } from '../support/until.ts'

const api = await startApi()
const { db } = api.app
const client = await api.client()
const home = (await signIn(api, client.company)).home

async function pathOf(fields: Partial<NewInvitation> = {}): Promise<string> {
  const invitation = {
    email: `guest-${newId()}@example.com`,
    company: client.company,
    role: 'viewer' as const,
    makesOperator: false,
    language: 'pt' as const,
    by: 'Ana Souza',
    invitedBy: null,
    ...fields,
  }
  const made = await db.transaction((tx, control) =>
    invite(tx, control, api.app, invitation, api.clock.now()),
  )
  return new URL(made.url).pathname
}

test('somebody new accepts with a name and a password, once', async () => {
  const path = await pathOf({ email: 'Bia@Example.com' })
  const [letter] = await lettersOf(api, client.company.id)
  assert.equal(letter!.to, 'bia@example.com')
  assert.equal(letter!.subject, 'Convite para o painel de Padaria São João')
  assert.match(letter!.text, /Ana Souza convidou você[\s\S]*Sua função: Somente leitura/)
  assert.equal(pathIn(letter!), path)
  const page = await getPage(api, path)
  assert.match(page.text, /Convite para Padaria São João/)
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  for (const typed of [
    { name: ' ', password: PASSWORD },
    { name: 'Bia', password: 'curta' },
    { name: 'Bia', password: 'padariasaojoao1' },
    { name: 'x'.repeat(256), password: PASSWORD },
  ]) {
    assert.equal((await postForm(api, path, typed)).status, 400, JSON.stringify(typed))
  }
  const done = await postForm(api, path, { name: 'Bia', password: PASSWORD })
  assert.equal(done.location, home)
  assert.equal((await getPage(api, home, { cookie: cookieOf(done) })).status, 200)
  const person = (await findPersonByEmail(db.control, 'bia@example.com'))!
  assert.deepEqual([person.name, person.isOperator], ['Bia', false])
  assert.equal(await findRole(db.control, client.company.id, person.id), 'viewer')
  const again = await postForm(api, path, { name: 'Eva', password: PASSWORD })
  assert.equal(again.status, 410)
})

test('somebody who is known signs in, and then accepts', async () => {
  const other = await api.client()
  const { person, cookie } = await signIn(api, other.company)
  await givePassword(api, person)
  const path = await pathOf({ email: person.email, role: 'finance' })
  assert.match((await getPage(api, path)).text, /Você já tem uma conta/)
  const taken = await postForm(api, path, { name: 'Eva', password: 'outra-senha-do-invasor' })
  assert.equal(taken.location, '/sign-in?next=%2Faccount%2Finvitations')
  const done = await postForm(api, '/sign-in', {
    email: person.email,
    password: PASSWORD,
    next: '/account/invitations',
  })
  assert.equal(done.location, '/account/invitations')
  const list = await getPage(api, '/account/invitations', { cookie: cookieOf(done) })
  assert.match(list.text, /Padaria São João[\s\S]*Financeiro/)
  assert.equal(await findRole(db.control, client.company.id, person.id), null)
  const accepted = await postForm(api, path, {}, { cookie })
  assert.equal(accepted.location, home)
  assert.equal(await findRole(db.control, client.company.id, person.id), 'finance')
})

test('an invitation is accepted from the list of whoever is invited, and by nobody else', async () => {
  const [guest, stranger] = [
    await signIn(api, (await api.client()).company),
    await signIn(api, (await api.client()).company),
  ]
  await pathOf({ email: guest.person.email })
  assert.match((await guest.get('//dashboard')).text, /href="\/account\/invitations"/)
  const list = (await guest.get('//account/invitations')).text
  const invitation = /name="invitation" value="([\w-]+)"/.exec(list)![1]!
  const refused = await stranger.post('//account/invitations', { invitation })
  assert.equal(refused.status, 200)
  assert.equal(await findRole(db.control, client.company.id, stranger.person.id), null)
  const done = await guest.post('//account/invitations', { invitation })
  assert.equal(done.location, home)
  assert.equal(await findRole(db.control, client.company.id, guest.person.id), 'viewer')
  assert.doesNotMatch((await guest.get('//dashboard')).text, /account\/invitations/)
})

test('whoever is signed in as somebody else does not accept for them', async () => {
  const guest = await signIn(api, (await api.client()).company)
  const other = await signIn(api, (await api.client()).company)
  const path = await pathOf({ email: guest.person.email })
  assert.match((await getPage(api, path, other)).text, /Você está usando a conta/)
  const asked = await postForm(api, path, {}, other)
  assert.equal(asked.location, '/sign-in/other?next=%2Faccount%2Finvitations')
  assert.equal((await getPage(api, asked.location, other)).status, 200)
  assert.equal(await findRole(db.control, client.company.id, other.person.id), null)
})

test('an invitation ends after 7 days, and when the same e-mail is invited again', async () => {
  const email = 'carla@example.com'
  const [first, second] = [await pathOf({ email }), await pathOf({ email, role: 'support' })]
  assert.equal((await getPage(api, first)).status, 410)
  assert.match((await getPage(api, second)).text, /Atendimento/)
  api.clock.advance(7 * 24 * 3600)
  const late = await postForm(api, second, { name: 'Carla', password: PASSWORD })
  assert.equal(late.status, 410)
})

test('whoever belongs to the company, or has no e-mail address, is not invited', async () => {
  const { person } = await signIn(api, client.company)
  await assert.rejects(pathOf({ email: person.email }), /email: belongs to the company already/)
  await assert.rejects(pathOf({ email: 'nobody' }), /email: must be an e-mail address/)
})

test('at most 100 invitations of a company wait', async () => {
  const { company } = await api.client()
  for (let count = 0; count < 100; count++) {
    if (count === 50) api.clock.advance(3601)
    await pathOf({ company })
  }
  await assert.rejects(pathOf({ company }), /at most 100 invitations wait/)
})

test('an operator is invited to the installation, with a company or without', async () => {
  const alone = await pathOf({ company: null, role: null, makesOperator: true })
  assert.match((await getPage(api, alone)).text, /Operação do serviço/)
  const done = await postForm(api, alone, { name: 'Otávia', password: PASSWORD })
  assert.equal(done.location, '/operator')
  const known = await signIn(api, (await api.client()).company)
  const both = await pathOf({ email: known.person.email, makesOperator: true })
  assert.equal((await postForm(api, both, {}, known)).location, home)
  assert.equal((await findPersonByEmail(db.control, known.person.email))!.isOperator, true)
})

/** Two owners, and the paths of an invitation by each. */
async function twoOwners() {
  const { company } = await api.client()
  const [first, second] = [await signIn(api, company), await signIn(api, company)]
  const inviteAs = (owner: Member, email: string) =>
    pathOf({ company, email, role: 'owner', invitedBy: owner.person.id })
  return {
    company,
    first,
    second,
    kept: await inviteAs(first, `kept-${newId()}@example.com`),
    ended: await inviteAs(second, `ended-${newId()}@example.com`),
  }
}

const join = (path: string) => postForm(api, path, { name: 'Bia', password: PASSWORD })
const pageOf = ({ person }: Member) => `/settings/members/${suffixOf(person.id)}`

test('what somebody has invited ends when they are removed or lose the right to invite', async () => {
  for (const [path, form] of [
    ['role', { role: 'finance' }],
    ['remove', {}],
  ] as const) {
    const { company, first, second, kept, ended } = await twoOwners()
    const elsewhere = await pathOf({ invitedBy: second.person.id, company: client.company })
    assert.equal((await getPage(api, ended)).status, 200)
    const done = await first.post(`${pageOf(second)}/${path}`, form)
    assert.equal(done.status, 303, path)
    assert.equal((await getPage(api, ended)).status, 410, path)
    assert.equal((await join(ended)).status, 410, path)
    assert.equal((await getPage(api, kept)).status, 200, path)
    assert.equal((await getPage(api, elsewhere)).status, 200, 'of another company')
    const log = await api.rows<{ details: { withdrawn?: number } }>(
      `select details from activity where company_id = $1 and action like 'member.%'
       order by id desc limit 1`,
      [company.id],
    )
    assert.equal(log[0]!.details.withdrawn, 1, 'the log says how many')
    const stays = await api.client()
    const promoted = await signIn(api, stays.company, { role: 'viewer' })
    const owner = await signIn(api, stays.company)
    const own = await pathOf({ company: stays.company, invitedBy: owner.person.id })
    assert.equal((await owner.post(`${pageOf(promoted)}/role`, { role: 'owner' })).status, 303)
    assert.equal((await getPage(api, own)).status, 200, 'nobody has lost the right to invite')
  }
})

test('an owner who demotes themselves ends their own invitations', async () => {
  const { second, ended } = await twoOwners()
  assert.equal((await second.post(`${pageOf(second)}/role`, { role: 'viewer' })).status, 303)
  assert.equal((await join(ended)).status, 410)
})

test('an invitation that is sent again is of whoever sends it', async () => {
  const { company, first, second, ended } = await twoOwners()
  const { text } = await first.get('/settings/members')
  const ids = [...text.matchAll(/invitations\/([\w-]{43})"/g)].map(([, id]) => id!)
  for (const id of ids) await first.post(`/settings/members/invitations/${id}/resend`)
  assert.equal((await getPage(api, ended)).status, 410, 'the former link')
  assert.equal((await first.post(`${pageOf(second)}/remove`)).status, 303)
  const letters = await lettersOf(api, company.id)
  for (const letter of letters.slice(-2)) {
    assert.equal((await getPage(api, pathIn(letter))).status, 200)
  }
})

test('who accepts while the author is demoted or removed is refused, as somebody new or known', async () => {
  for (const change of ['demote', 'remove'] as const) {
    for (const isKnown of [false, true]) {
      const { company, second, first } = await twoOwners()
      const guest = isKnown ? await signIn(api, client.company) : null
      const email = guest?.person.email ?? `guest-${newId()}@example.com`
      const path = await pathOf({ company, email, invitedBy: second.person.id })
      const accepting = Promise.withResolvers<unknown>()
      const changing = db.transaction(async (tx, control) => {
        const now = api.clock.now()
        if (change === 'remove') await removeMember(control, company.id, second.person.id)
        else await changeRole(tx, control, api.app, company, second.person.id, 'viewer', null, now)
        // The link is read before this commits, and waits for it.
        const answer = guest ? postForm(api, path, {}, guest) : join(path)
        answer.then(accepting.resolve, accepting.reject)
        await untilSomebodyWaits()
      })
      const [answer] = await Promise.all([accepting.promise, changing])
      const name = `${change} ${isKnown ? 'known' : 'new'}`
      assert.equal((answer as { status: number }).status, 410, name)
      const person = await findPersonByEmail(db.control, email)
      assert.equal(person ? await findRole(db.control, company.id, person.id) : null, null, name)
      assert.equal(await findRole(db.control, company.id, first.person.id), 'owner')
    }
  }
})

/** Until a transaction waits for a lock of another. */
const untilSomebodyWaits = () =>
  until('somebody waits', async () => {
    const [row] = await api.peopleRows<{ waiting: number }>(
      `select count(*) as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return row!.waiting > 0
  })

test('what an operator has invited ends when they are no operator any more', async () => {
  const { company } = await api.client()
  const operator = await signIn(api, company, { isOperator: true })
  const other = await signIn(api, company, { role: null, isOperator: true })
  const operating = { company: null, role: null, makesOperator: true } as const
  const ended = await pathOf({ ...operating, invitedBy: operator.person.id })
  const kept = await pathOf({ ...operating, invitedBy: other.person.id })
  const asOwner = await pathOf({ company, invitedBy: operator.person.id })
  const again = await pathOf({ ...operating, email: operator.person.email })
  const author = { kind: 'command-line', id: null, name: 'root', address: null } as const
  await db.control.transaction((tx) => removeOperator(tx, api.app, operator.person, author))
  assert.equal((await findPersonByEmail(db.control, operator.person.email))!.isOperator, false)
  assert.equal((await operator.get('')).status, 303, 'their sessions have ended')
  assert.equal((await join(ended)).status, 410)
  assert.equal((await getPage(api, again)).status, 410, 'nor do they come back by an older one')
  assert.equal((await getPage(api, kept)).status, 200)
  assert.equal((await getPage(api, asOwner)).status, 200, 'they still own the company')
})

test('an invitation of somebody who has no right to invite is refused when it is accepted', async () => {
  const { company } = await api.client()
  const viewer = await signIn(api, company, { role: 'viewer' })
  const invitedBy = viewer.person.id
  assert.equal((await join(await pathOf({ company, invitedBy }))).status, 410)
  const operating = await pathOf({ company: null, role: null, makesOperator: true, invitedBy })
  assert.equal((await join(operating)).status, 410)
})
