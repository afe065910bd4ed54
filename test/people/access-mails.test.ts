import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { guardBankChange } from '../../src/core/banks/commands.ts'
import { MONEY_SCOPES } from '../../src/core/companies/rules.ts'
import { findCompany } from '../../src/core/companies/store.ts'
import { invite } from '../../src/core/people/invitations.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { suffixOf } from '../../src/lib/ids.ts'
import { sendDueMails } from '../../src/worker/mail.ts'
import { type Client, startApi } from '../support/api.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lettersOf } from '../support/mail.ts'
import { givePassword, PASSWORD, postForm } from '../support/people.ts'
import { temporaryFolder } from '../support/process.ts'
import { startSmtp } from '../support/smtp.ts'
import { addApp } from '../support/totp.ts'

const smtp = await startSmtp()
const api = await startApi({ SMTP_URL: smtp.url, MAIL_FROM: 'Vintém <oi@vintem.test>' })

beforeEach(() => {
  smtp.received.length = 0
})

type Mailed = { to: string; subject: string; text: string }

/** What the mail server has taken since the last time, by recipient. */
async function mailed(): Promise<Mailed[]> {
  await sendDueMails(api.app)
  const mails = smtp.received.splice(0).map(({ to: [to], mail: { subject, text } }) => ({
    to: to!,
    subject: subject!,
    text: text!,
  }))
  return mails.sort((a, b) => (a.to < b.to ? -1 : 1))
}

const recipients = (mails: Mailed[]) => new Set(mails.map(({ to }) => to))
const emailsOf = (...members: Member[]) => members.map(({ person }) => person.email)

/** A company with an owner who reads Portuguese, one who reads English, and a finance person. */
async function openShop(email: string) {
  const client = await api.client({ email })
  const [olga, bob, finance] = [
    await signIn(api, client.company, { name: 'Olga' }),
    await signIn(api, client.company, { name: 'Bob', language: 'en' }),
    await signIn(api, client.company, { name: 'Fábio', role: 'finance' }),
  ]
  return { client, olga, bob, finance }
}

async function changeBank({ company }: Client, { person }: Member): Promise<void> {
  const by = person.name
  const { app } = api
  const fresh = (await findCompany(app.db, company.id))!
  const keys = { pixKey: 'ladrao@example.com', payoutKey: null }
  const change = { bank: 'Efí', keys, by, waitHours: 24 }
  await app.db.transaction((tx, control) =>
    guardBankChange(tx, control, app.vault, fresh, change, person.id, api.clock.now()),
  )
}

test('who changes the company’s address first hides no change of the bank', async () => {
  const { client, olga, bob } = await openShop('dona@example.com')
  const form = { name: 'Padaria', email: 'ladrao@example.com', city: 'Sao Paulo', color: '#0f766e' }
  assert.equal((await bob.post('/settings', form)).status, 303)
  const [first, second] = await mailed()
  assert.equal(first!.to, 'dona@example.com')
  assert.match(first!.text, /foi alterado/)
  assert.equal(second!.to, 'ladrao@example.com')

  await changeBank(client, bob)
  const letters = await mailed()
  assert.deepEqual(
    recipients(letters),
    new Set(['dona@example.com', 'ladrao@example.com', ...emailsOf(olga, bob)]),
  )
  assert.equal(letters.length, 4, 'one each')
  const english = letters.find(({ to }) => to === bob.person.email)!
  assert.match(english.text, /A bank was connected[\s\S]*Changed by: Bob/)
  assert.match(letters.find(({ to }) => to === olga.person.email)!.text, /Um banco foi conectado/)

  api.clock.advance(25 * 3600)
  await changeBank(client, bob)
  assert.deepEqual(
    recipients(await mailed()),
    new Set(['ladrao@example.com', ...emailsOf(olga, bob)]),
  )
})

test('the company and its owners learn when the approval of withdrawals changes', async () => {
  const { olga, bob } = await openShop('limite@example.com')
  const everybody = new Set(['limite@example.com', ...emailsOf(olga, bob)])
  assert.equal((await olga.post('/settings/approvals', { amount: '500,00' })).status, 303)
  const set = await mailed()
  assert.deepEqual(recipients(set), everybody)
  const letter = set.find(({ to }) => to === 'limite@example.com')!
  assert.match(letter.text, /acima de R\$ 500,00 precisam[\s\S]*Antes: Sem aprovação/)
  assert.match(letter.text, /Alterado por: Olga/)
  assert.equal((await olga.post('/settings/approvals', { amount: '500,00' })).status, 303)
  assert.deepEqual(await mailed(), [], 'nothing was changed')
  assert.equal((await bob.post('/settings/approvals/remove')).status, 303)
  const removed = await mailed()
  assert.deepEqual(recipients(removed), everybody)
  const english = removed.find(({ to }) => to === bob.person.email)!
  assert.match(english.text, /no longer need the approval[\s\S]*Before: > R\$ 500,00/)
})

test('owners learn of a new owner, by a role or by an invitation, and of no other role', async () => {
  const { client, olga, bob, finance } = await openShop('novo@example.com')
  const role = (name: string) =>
    olga.post(`/settings/members/${suffixOf(finance.person.id)}/role`, { role: name })
  assert.equal((await role('support')).status, 303)
  assert.deepEqual(await mailed(), [])
  assert.equal((await role('owner')).status, 303)
  const letters = await mailed()
  assert.deepEqual(recipients(letters), new Set(['novo@example.com', ...emailsOf(olga, bob)]))
  const letter = letters.find(({ to }) => to === olga.person.email)!
  assert.match(letter.subject, /tem um novo responsável/)
  assert.match(letter.text, /Pessoa: Fábio \(p[^)]*@[^)]*\)[\s\S]*Alterado por: Olga/)
  assert.ok(!letter.text.includes(finance.person.email), 'addresses are masked')

  const invitation = { company: client.company, role: 'owner', makesOperator: false } as const
  const guest = {
    email: 'nova-dona@example.com',
    language: 'pt',
    by: 'Olga',
    invitedBy: null,
  } as const
  const { url } = await api.app.db.transaction((tx, control) =>
    invite(tx, control, api.app, { ...invitation, ...guest }, api.clock.now()),
  )
  assert.deepEqual(recipients(await mailed()), new Set([guest.email]))
  const accept = { name: 'Nina', password: PASSWORD }
  assert.equal((await postForm(api, new URL(url).pathname, accept)).status, 303)
  assert.deepEqual(
    recipients(await mailed()),
    new Set(['novo@example.com', ...emailsOf(olga, bob, finance)]),
  )
})

test('owners learn when the second factors of somebody are removed', async () => {
  const { olga, bob, finance } = await openShop('fator@example.com')
  await givePassword(api, finance.person)
  await addApp(api, finance)
  await mailed()
  const path = `/settings/members/${suffixOf(finance.person.id)}/reset-factors`
  assert.equal((await olga.post(path)).status, 303)
  const letters = await mailed()
  const everybody = new Set(['fator@example.com', ...emailsOf(olga, bob, finance)])
  assert.deepEqual(recipients(letters), everybody)
  const english = letters.find(({ to }) => to === bob.person.email)!
  assert.match(english.text, /Two-step verification was removed[\s\S]*Person: Fábio/)
})

test('a key that can do what moves money is mailed to all owners, whoever makes it', async () => {
  const client = await api.client({
    email: 'chaves@example.com',
    mode: 'live',
    pixKey: 'dona@example.com',
  })
  const [olga, bob] = [
    await signIn(api, client.company, { name: 'Olga', hasSecondFactor: true }),
    await signIn(api, client.company, { name: 'Bob', language: 'en' }),
  ]
  const everybody = new Set(['chaves@example.com', ...emailsOf(olga, bob)])
  const make = (name: string, ...scopes: string[]) =>
    olga.post('/developers/keys/new', {
      name,
      ...Object.fromEntries(scopes.map((scope) => [scope, '1'])),
    })
  assert.equal((await make('leitura', 'payments:read', 'catalog:write')).status, 200)
  assert.deepEqual(await mailed(), [], 'it moves no money')
  for (const scope of MONEY_SCOPES) {
    assert.equal((await make('caixa', scope)).status, 200)
    const letters = await mailed()
    assert.deepEqual(recipients(letters), everybody, scope)
    const letter = letters.find(({ to }) => to === olga.person.email)!
    assert.match(letter.text, /Chave: caixa[\s\S]*Alterado por: Olga/)
    assert.doesNotMatch(letter.text, /vk_live/)
  }
  const keys = await api.rows<{ id: string }>(
    `select id from api_keys where company_id = $1 and name = 'caixa' order by id`,
    [client.company.id],
  )
  assert.equal((await olga.post(`/developers/keys/${suffixOf(keys[0]!.id)}/rotate`)).status, 200)
  const rotated = await mailed()
  assert.deepEqual(recipients(rotated), everybody)
  const home = temporaryFolder()
  const made = await hostedVintemIn(home)(['key', 'create', '--company', client.company.id], {
    ...api.databases,
    SECRET_KEY: api.app.config.secretKey.toString('base64'),
    PUBLIC_URL: 'https://pix.example.com',
    DATA_DIR: home,
  })
  assert.equal(made.code, 0, made.stderr)
  const waiting = await lettersOf(api, client.company.id)
  assert.deepEqual(new Set(waiting.map(({ to }) => to)), everybody)
  const english = waiting.find(({ to }) => to === bob.person.email)!
  assert.match(english.text, /Key: cli[\s\S]*Changed by: Whoever operates this service/)
})

test('a key of play money is mailed to nobody', async () => {
  const { olga } = await openShop('sandbox@example.com')
  const form = { name: 'caixa', 'balance:write': '1' }
  assert.equal((await olga.post('/developers/keys/new', form)).status, 200)
  assert.deepEqual(await mailed(), [])
})

test('every operation that sends money away needs a scope of which owners are told', () => {
  const moving = ['refundCharge', 'refundPayment', 'acceptPayment', 'startWithdrawal']
  for (const id of [...moving, 'confirmWithdrawal']) {
    const { scope } = ROUTES.find(({ operationId }) => operationId === id)!
    assert.ok(MONEY_SCOPES.includes(scope!), `${id} needs ${scope}`)
  }
})
