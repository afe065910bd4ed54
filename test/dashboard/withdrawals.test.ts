import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lastCode } from '../support/mail.ts'
import { balanceOf, wrong } from '../support/withdrawals.ts'

const api = await startApi()

/** A company with a withdrawal of its owner that waits for its code. */
async function waiting(amount = '50,00') {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const started = await owner.post('/balance/withdraw', { amount })
  assert.equal(started.status, 303, started.text)
  const page = started.location!.slice(owner.home.length).split('?')[0]!
  return { client, owner, page, code: await lastCode(api, client.company.id) }
}

test('money is withdrawn with the code from the mail, and the page says what happens', async () => {
  const { client, owner, page, code } = await waiting()
  const asked = await owner.get(`${page}?done=started`)
  for (const text of ['Saque solicitado', 'd***@example.com', 'Restam 5 tentativas', '/mailbox']) {
    assert.ok(asked.text.includes(text), text)
  }
  assert.match((await owner.get('/balance')).text, /Já existe um saque em andamento/)
  assert.match((await owner.get('/balance/withdraw')).text, /Já existe um saque em andamento/)
  const spaced = `${code.slice(0, 3)} ${code.slice(3)}`
  const done = await owner.post(`${page}/confirm`, { code: spaced })
  assert.equal(done.location, `${owner.home}${page}?done=confirmed`, done.text)
  assert.match((await owner.get(page)).text, /Em andamento/)
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 5000 })
  const list = await owner.get('/balance/withdrawals')
  assert.match(list.text, /R\$ 50,00.*?Em andamento/s)
})

test('a wrong code says how many tries are left, and the fifth cancels', async () => {
  const { client, owner, page, code } = await waiting()
  for (const left of [4, 3, 2]) {
    const answer = await owner.post(`${page}/confirm`, { code: wrong(code) })
    assert.equal(answer.status, 400)
    assert.ok(answer.text.includes(`Restam ${left} tentativas`), answer.text)
  }
  assert.match(
    (await owner.post(`${page}/confirm`, { code: wrong(code) })).text,
    /Resta 1 tentativa/,
  )
  const last = await owner.post(`${page}/confirm`, { code: wrong(code) })
  assert.match(last.text, /errado cinco vezes/)
  assert.deepEqual(await balanceOf(api, client), { available: 100_000, held: 0 })
  const late = await owner.post(`${page}/confirm`, { code })
  assert.equal(late.status, 409)
  assert.match(late.text, /não aguarda mais um código/)
})

test('what is no code is not a try', async () => {
  const { owner, page } = await waiting()
  for (const code of ['', '12345', 'abcdef', '1234567']) {
    const answer = await owner.post(`${page}/confirm`, { code })
    assert.equal(answer.status, 400)
    assert.match(answer.text, /Digite os 6 números/)
    assert.match(answer.text, /Restam 5 tentativas/)
  }
})

test('a code is sent again, a withdrawal canceled, and one that nobody confirms expires', async () => {
  const { client, owner, page, code } = await waiting()
  const resent = await owner.post(`${page}/resend`)
  assert.equal(resent.location, `${owner.home}${page}?done=resent`)
  const next = await lastCode(api, client.company.id)
  if (next !== code) assert.equal((await owner.post(`${page}/confirm`, { code })).status, 400)
  const canceled = await owner.post(`${page}/cancel`)
  assert.equal(canceled.location, `${owner.home}${page}?done=canceled`)
  assert.match((await owner.get(page)).text, /O saque foi cancelado/)
  assert.equal((await owner.post(`${page}/confirm`, { code: next })).status, 409)
  const other = await waiting()
  api.clock.advance(601)
  assert.match((await other.owner.get(other.page)).text, /O prazo para confirmar terminou/)
})

test('what cannot be withdrawn is explained at the amount, which is not lost', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company, { language: 'en' })
  for (const amount of ['', 'abc', '0', '-5']) {
    const answer = await owner.post('/balance/withdraw', { amount })
    assert.equal(answer.status, 400, amount)
    assert.match(answer.text, /Enter an amount in reais/)
  }
  const more = await owner.post('/balance/withdraw', { amount: '1.000,01' })
  assert.equal(more.status, 422)
  assert.match(more.text, /more than the available balance, R\$ 1\.000,00/)
  assert.match(more.text, /value="1\.000,01"/)
  const all = await owner.post('/balance/withdraw', { all: '100000', amount: '' })
  assert.equal(all.status, 303)
  assert.deepEqual(await balanceOf(api, client), { available: 0, held: 100_000 })
  const again = await owner.post('/balance/withdraw', { amount: '1' })
  assert.equal(again.status, 409)
  assert.match(again.text, /View the withdrawal/)
})

test('a form that is sent twice starts one withdrawal', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const form = { amount: '10', once: 'the-same-form' }
  const [first, second] = [
    await owner.post('/balance/withdraw', form),
    await owner.post('/balance/withdraw', form),
  ]
  assert.equal(first.location, second.location)
  assert.equal((await balanceOf(api, client)).held, 1000)
})

test('whoever may not move money sees withdrawals, and moves none', async () => {
  const { client, page, code } = await waiting()
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  const shown = await viewer.get(page)
  assert.equal(shown.status, 200)
  assert.doesNotMatch(shown.text, /Confirmar saque/)
  assert.doesNotMatch((await viewer.get('/balance')).text, /balance\/withdraw"/)
  for (const path of ['/balance/withdraw', `${page}/confirm`, `${page}/resend`, `${page}/cancel`]) {
    assert.equal((await viewer.post(path, { code, amount: '1' })).status, 403, path)
  }
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.get(page)).status, 404)
  assert.equal((await stranger.post(`${page}/confirm`, { code })).status, 404)
  assert.equal((await balanceOf(api, client)).held, 5000)
})

test('whoever has not just proved who they are does so before a withdrawal and its code', async () => {
  const { client, page, code } = await waiting()
  const finance = await signIn(api, client.company, { role: 'finance', isConfirmed: false })
  const start = await finance.get('/balance/withdraw')
  assert.match(start.location!, /^\/account\/confirm\?next=.*balance%2Fwithdraw$/)
  const shown = await finance.get(page)
  assert.match(shown.text, /Confirmar identidade/)
  assert.doesNotMatch(shown.text, /name="code"/)
  const posted = await finance.post(`${page}/confirm`, { code })
  assert.match(posted.location!, /^\/account\/confirm/)
  assert.match((await finance.get(page)).text, /Aguardando código/)
})
