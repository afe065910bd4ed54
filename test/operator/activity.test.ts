import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INSTALLATION } from '../../src/core/activity/rules.ts'
import { invite } from '../../src/core/people/invitations.ts'
import { recordWrongSignIns } from '../../src/core/people/sign-in.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { sendDueMails } from '../../src/worker/mail.ts'
import { startApi } from '../support/api.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { givePassword, PASSWORD, pathIn, postForm } from '../support/people.ts'
import { temporaryFolder } from '../support/process.ts'
import { startSmtp } from '../support/smtp.ts'
import { addApp, codeOf } from '../support/totp.ts'

const smtp = await startSmtp()
const api = await startApi({ SMTP_URL: smtp.url, MAIL_FROM: 'Vintém <oi@vintem.test>' })
const client = await api.client()
const operator = await signIn(api, client.company, {
  role: null,
  isOperator: true,
  hasSecondFactor: true,
  name: 'Olga',
})
const home = temporaryFolder()
const vintem = (...args: string[]) =>
  hostedVintemIn(home)(args, {
    ...api.databases,
    SECRET_KEY: api.app.config.secretKey.toString('base64'),
    PUBLIC_URL: 'http://vintem.test',
    DATA_DIR: home,
  })

type Logged = { action: string; author_kind: string; record_id: string | null; details: object }

/** The entries of the installation since the last time. */
let seen = INSTALLATION as string
async function logged(): Promise<Logged[]> {
  const rows = await api.peopleRows<Logged & { id: string }>(
    'select * from activity where company_id = $1 and id > $2 order by id',
    [INSTALLATION, seen],
  )
  seen = rows.at(-1)?.id ?? seen
  return rows
}

const actions = (entries: Logged[]) => entries.map(({ action }) => action)
const mailsTo = async ({ person }: Member) =>
  (await lettersOf(api, person.id)).filter(({ kind }) => kind === 'access-changed')

/** Ends the hour, in which what is wrong is counted. */
async function nextHour(): Promise<void> {
  api.clock.advance(3600)
  await recordWrongSignIns(api.app)
}

test('inviting, making and removing an operator is logged and mailed to the other operators', async () => {
  const email = 'nova-operadora@example.com'
  await logged()
  const invited = await vintem('person', 'invite', '--email', email, '--operator', '--json')
  assert.equal(invited.code, 0, invited.stderr)
  const accepted = await postForm(api, new URL(JSON.parse(invited.stdout).url).pathname, {
    name: 'Nina',
    password: PASSWORD,
  })
  assert.equal(accepted.location, '/operator')
  const removed = await vintem('person', 'remove', '--email', email, '--operator')
  assert.equal(removed.code, 0, removed.stderr)
  const entries = (await logged()).filter(({ action }) => action.startsWith('operator.'))
  assert.deepEqual(
    entries.map(({ action, author_kind }) => [action, author_kind]),
    [
      ['operator.invite', 'command-line'],
      ['operator.join', 'person'],
      ['operator.remove', 'command-line'],
    ],
  )
  const { text: page } = await operator.get('//operator/activity?action=operator.remove')
  assert.match(page, new RegExp(`Pessoa</span><span class="soft small breakable">${email}<`))
  const mails = await mailsTo(operator)
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    [
      'Uma pessoa foi convidada para operar o serviço',
      'O serviço tem uma nova pessoa na operação',
      'Uma pessoa deixou a operação do serviço',
    ],
  )
  assert.ok(
    mails.every(({ text }) => !text.includes(email)),
    'addresses are masked',
  )
  const [about] = await api.peopleRows<{ mails: number }>(
    `select count(*) as mails from mails m join people p on p.id = m.company_id
     where p.email = $1 and m.kind = 'access-changed'`,
    [email],
  )
  assert.equal(about!.mails, 0, 'not to the person it is about')
  assert.equal((await vintem('person', 'remove', '--email', email, '--operator')).code, 1)
})

test('factors of an operator are logged and mailed to the others, those of others only logged', async () => {
  const other = await signIn(api, client.company, { role: null, isOperator: true, language: 'en' })
  await givePassword(api, other.person)
  await logged()
  const before = (await mailsTo(operator)).length
  await addApp(api, other)
  await other.post('//account/security/app/remove')
  assert.deepEqual(actions(await logged()), ['two-factor.enable', 'two-factor.disable'])
  const mails = (await mailsTo(operator)).slice(before)
  assert.deepEqual(
    mails.map(({ subject }) => subject),
    [
      'Verificação em duas etapas: uma pessoa da operação adicionou uma forma',
      'Verificação em duas etapas: uma pessoa da operação removeu uma forma',
    ],
  )
  assert.equal((await mailsTo(other)).length, 0, 'they get a letter of their own')
  const owner = await signIn(api, client.company)
  await addApp(api, owner)
  assert.deepEqual(actions(await logged()), ['two-factor.enable'])
  assert.equal((await mailsTo(operator)).length, before + 2)
})

test('the mails to operators are sent', async () => {
  const other = await signIn(api, client.company, { role: null, isOperator: true })
  for (const app of appsOf(api.app)) await sendDueMails(app)
  smtp.received.length = 0
  await addApp(api, other)
  for (const app of appsOf(api.app)) await sendDueMails(app)
  const subjects = smtp.received.filter(({ to }) => to[0] === operator.person.email)
  assert.deepEqual(
    subjects.map(({ mail: { subject } }) => subject),
    ['Verificação em duas etapas: uma pessoa da operação adicionou uma forma'],
  )
})

test('an operator’s way in and out is logged although they have no company', async () => {
  const other = await signIn(api, client.company, { role: null, isOperator: true })
  await givePassword(api, other.person)
  await logged()
  const typed = { email: other.person.email, password: PASSWORD }
  assert.equal((await postForm(api, '/sign-in', typed)).status, 303)
  assert.deepEqual(actions(await logged()), ['session.start'])
})

test('wrong passwords and codes of an hour are one entry each, for the person’s companies too', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  await givePassword(api, owner.person)
  const { secret } = await addApp(api, owner)
  await nextHour()
  await logged()
  const before = await api.rows('select id from activity where company_id = $1', [company.id])
  const { email } = owner.person
  for (let i = 0; i < 7; i++) await postForm(api, '/sign-in', { email, password: `errada-${i}` })
  const asked = await postForm(api, '/sign-in', { email, password: PASSWORD })
  const pending = /name="pending" value="([^"]+)"/.exec(asked.text)![1]!
  const wrong = String((Number(codeOf(api, secret)) + 1) % 1_000_000).padStart(6, '0')
  for (const form of [{ code: wrong }, { recovery: 'abcde-fghjk' }]) {
    await postForm(api, '/sign-in/second-factor', { pending, ...form } as Record<string, string>)
  }
  await recordWrongSignIns(api.app)
  assert.deepEqual(await logged(), [], 'the hour is not over')
  await nextHour()
  const entries = await logged()
  const short = (all: Logged[]) =>
    all.map(({ action, details }) => [action, (details as { tries: number }).tries]).sort()
  const expected = [
    ['sign-in.wrong-code', 2],
    ['sign-in.wrong-password', 7],
  ]
  assert.deepEqual(short(entries), expected)
  assert.ok(entries.every(({ record_id }) => record_id === owner.person.id))
  const own = await api.rows<Logged>(
    `select * from activity where company_id = $1 order by id offset $2`,
    [company.id, before.length],
  )
  assert.deepEqual(short(own), expected)
  assert.doesNotMatch(JSON.stringify([entries, own]), /errada|abcde/)
  const { text } = await owner.get('/settings/activity')
  assert.match(text, /Senha errada ao entrar[\s\S]*7 tentativas/)
  await nextHour()
  assert.deepEqual(await logged(), [], 'once')
})

test('wrong passwords when somebody confirms who they are count too', async () => {
  const owner = await signIn(api, client.company)
  await givePassword(api, owner.person)
  await nextHour()
  await logged()
  await owner.post('//account/confirm', { password: 'errada' })
  await nextHour()
  assert.deepEqual(actions(await logged()), ['sign-in.wrong-password'])
})

test('guesses for addresses that nobody has are one entry an hour, however many they are', async () => {
  await nextHour()
  await logged()
  for (let i = 0; i < 20; i++) {
    await postForm(api, '/sign-in', { email: `ninguem-${i}@example.com`, password: 'x' })
  }
  const open = await api.peopleRows('select * from wrong_sign_ins')
  assert.equal(open.length, 1)
  await nextHour()
  const [entry, ...others] = await logged()
  assert.equal(others.length, 0)
  assert.deepEqual([entry!.action, entry!.record_id], ['sign-in.unknown', null])
  assert.equal((entry!.details as { tries: number }).tries, 20)
  assert.deepEqual(await api.peopleRows('select * from wrong_sign_ins'), [])
})

test('two workers at once make one entry of an hour', async () => {
  await nextHour()
  await logged()
  for (let i = 0; i < 3; i++)
    await postForm(api, '/sign-in', { email: 'x@example.com', password: 'x' })
  api.clock.advance(3600)
  await Promise.all([recordWrongSignIns(api.app), recordWrongSignIns(api.app)])
  assert.deepEqual(actions(await logged()), ['sign-in.unknown'])
})

test('an account whose password no longer works has no more entries of its own', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  await givePassword(api, owner.person)
  await nextHour()
  await logged()
  await api.peopleRows('update people set wrong_passwords = 100 where id = $1', [owner.person.id])
  await postForm(api, '/sign-in', { email: owner.person.email, password: 'x' })
  await nextHour()
  assert.deepEqual(actions(await logged()), ['sign-in.unknown'])
  const own = await api.rows('select * from activity where company_id = $1', [company.id])
  assert.deepEqual(own, [])
})

test('operators see the log of the installation, and find what they look for', async () => {
  const page = await operator.get('//operator/activity')
  assert.equal(page.status, 200)
  assert.match(page.text, /Registro de atividades/)
  assert.match(page.text, /Senha errada ao entrar/)
  assert.match(page.text, /Pessoa convidada para operar/)
  const found = await operator.get('//operator/activity?action=operator.remove')
  assert.match(found.text, /<td[^>]*>[^<]*Pessoa removida da operação/)
  assert.doesNotMatch(found.text, /<td[^>]*>[^<]*Senha errada ao entrar/)
  const owner = await signIn(api, client.company)
  const own = await owner.get('/settings/activity')
  assert.doesNotMatch(own.text, /<td[^>]*>[^<]*Pessoa removida da operação/)
  const english = await signIn(api, client.company, { isOperator: true, language: 'en' })
  assert.match((await english.get('//operator/activity')).text, /Activity log/)
})

test('an invitation to a company that also makes an operator is in both logs', async () => {
  await logged()
  const guest = await signIn(api, (await api.client()).company)
  const invitation = {
    email: guest.person.email,
    company: client.company,
    role: 'viewer' as const,
    makesOperator: true,
    language: 'pt' as const,
    by: null,
    invitedBy: null,
  }
  const { app } = api
  const { link } = await app.db.transaction((tx, control) =>
    invite(tx, control, app, invitation, api.clock.now()),
  )
  assert.ok(link)
  const letter = (await lettersOf(api, client.company.id)).at(-1)!
  const done = await postForm(api, pathIn(letter), {}, guest)
  assert.equal(done.status, 303)
  assert.deepEqual(actions(await logged()), ['operator.join'])
  const joined = await api.rows(
    `select 1 from activity where company_id = $1 and action = 'member.join' and record_id = $2`,
    [client.company.id, guest.person.id],
  )
  assert.equal(joined.length, 1)
})

test('wrong passwords for an operator’s account are mailed to the other operators, once an hour', async () => {
  const other = await signIn(api, client.company, { role: null, isOperator: true })
  await givePassword(api, other.person)
  await nextHour()
  const isAbout = ({ subject }: { subject: string }) => subject.startsWith('Senhas erradas')
  const before = (await mailsTo(operator)).filter(isAbout).length
  const { email } = other.person
  for (let i = 0; i < 3; i++) await postForm(api, '/sign-in', { email, password: `errada-${i}` })
  await nextHour()
  await nextHour()
  const mails = (await mailsTo(operator)).filter(isAbout)
  assert.equal(mails.length, before + 1)
  assert.match(mails.at(-1)!.text, /Tentativas: 3/)
  assert.ok(!mails.at(-1)!.text.includes(email), 'the address is masked')
  assert.deepEqual((await mailsTo(other)).filter(isAbout), [])
})
