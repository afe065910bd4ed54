import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardBankChange } from '../../src/core/banks/commands.ts'
import { payOut } from '../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts } from '../../src/core/withdrawals/store.ts'
import { expireDueWithdrawals } from '../../src/worker/due.ts'
import { type Client, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lastCode, lettersOf } from '../support/mail.ts'
import { dueNow } from '../support/requests.ts'
import { balanceOf, confirm, OPENING, PATH, start } from '../support/withdrawals.ts'

const api = await startApi()
const HOUR_S = 3600

/** A company whose bank somebody has changed in the dashboard just now. */
async function changedCompany() {
  const client = await api.client()
  const since = new Date(api.clock.now().getTime() - 48 * HOUR_S * 1000)
  const owner = await signIn(api, client.company, { name: 'Olga Dona', since })
  const changer = await signIn(api, client.company, { name: 'Bob', since })
  await changeBank(client, changer, 'thief@example.com')
  return { client, owner, changer }
}

/** What the form for the bank does with the key. */
async function changeBank({ company }: Client, { person }: Member, pixKey: string) {
  const { app, clock } = api
  await app.db.transaction(async (tx, control) => {
    const [text, values] = ['update companies set pix_key = $2 where id = $1', [company.id, pixKey]]
    await tx.query({ text, values })
    const change = { bank: 'Efí', keys: { pixKey, payoutKey: null }, by: 'Bob', waitHours: 24 }
    await guardBankChange(tx, control, app.vault, company, change, person.id, clock.now())
  })
}

type Shop = Awaited<ReturnType<typeof changedCompany>>

/** A withdrawal of R$ 50,00 by API key, with its right code. */
async function withdraw({ client }: Shop): Promise<string> {
  const id = await start(client, 5000)
  assert.equal((await confirm(client, id, await lastCode(api, client.company.id))).status, 200)
  return id
}

async function work(): Promise<void> {
  await expireDueWithdrawals.run(api.app)
  for (const claim of await claimDuePayouts(api.app.db, dueNow(api.app, 100)))
    await payOut(api.app, claim)
}

const read = async ({ client }: Shop, id: string) => (await client.get(`${PATH}/${id}`)).body.data

test('after a change of the bank a withdrawal waits a day, and is then sent by itself', async () => {
  const shop = await changedCompany()
  const id = await withdraw(shop)
  await work()
  const held = await read(shop, id)
  assert.deepEqual([held.status, held.approval], ['PENDING_OTP', 'WAITING'])
  assert.equal(held.expiresAt, undefined)
  const until = new Date(held.heldUntil)
  assert.equal(until.getTime() - api.clock.now().getTime(), 24 * HOUR_S * 1000)
  const page = await shop.owner.get(`/balance/withdrawals/${id}`)
  assert.match(page.text, /A conexão com o banco foi alterada há pouco/)
  assert.match(page.text, /Sem aprovação, o saque é enviado em/)

  api.clock.advance(24 * HOUR_S - 1)
  await work()
  assert.equal((await read(shop, id)).status, 'PENDING_OTP')
  api.clock.advance(1)
  assert.equal((await read(shop, id)).status, 'PENDING_OTP', 'nobody sees it as expired')
  await work()
  const paid = await read(shop, id)
  assert.deepEqual([paid.status, paid.approval], ['COMPLETED', undefined])
  assert.deepEqual(await balanceOf(api, shop.client), { available: 95_000, held: 0 })

  const next = await withdraw(shop)
  assert.equal((await read(shop, next)).heldUntil, undefined, 'a day later nothing waits')
})

test('whoever has changed the bank cannot approve, also what an API key has started', async () => {
  const shop = await changedCompany()
  const page = `/balance/withdrawals/${await withdraw(shop)}`
  const asked = (await lettersOf(api, shop.client.company.id)).filter(
    ({ kind }) => kind === 'withdrawal-approval',
  )
  assert.deepEqual(
    asked.map(({ to }) => to),
    [shop.owner.person.email],
  )
  const shown = await shop.changer.get(page)
  assert.doesNotMatch(shown.text, /Aprovar saque/)
  assert.match(shown.text, /Podem aprovar: Olga Dona\./)
  assert.equal((await shop.changer.post(`${page}/approve`)).status, 409)
  assert.equal((await shop.owner.post(`${page}/approve`)).status, 303)
})

test('a second person can send it at once, or refuse it', async () => {
  const shop = await changedCompany()
  const id = await withdraw(shop)
  const asked = (await lettersOf(api, shop.client.company.id)).find(
    ({ kind }) => kind === 'withdrawal-approval',
  )
  assert.match(asked!.text, /foi alterada há pouco[\s\S]*Enviado sem aprovação em/)
  const page = `/balance/withdrawals/${id}`
  assert.equal((await shop.owner.post(`${page}/approve`)).status, 303)
  await work()
  assert.equal((await read(shop, id)).status, 'COMPLETED')

  const refused = await withdraw(shop)
  assert.equal((await shop.owner.post(`/balance/withdrawals/${refused}/reject`)).status, 303)
  api.clock.advance(25 * HOUR_S)
  await work()
  assert.equal((await read(shop, refused)).status, 'CANCELED')
  assert.deepEqual(await balanceOf(api, shop.client), { available: 95_000, held: 0 })
})

test('a limit does not let whoever has changed the bank approve what is held for it', async () => {
  const shop = await changedCompany()
  assert.equal((await shop.changer.post('/settings/approvals', { amount: '0,01' })).status, 303)
  const id = await withdraw(shop)
  assert.equal((await read(shop, id)).heldUntil, undefined, 'its approval must come')
  const page = `/balance/withdrawals/${id}`
  assert.doesNotMatch((await shop.changer.get(page)).text, /Aprovar saque/)
  assert.equal((await shop.changer.post(`${page}/approve`)).status, 409)
  await changeBank(shop.client, shop.owner, 'thief@example.com')
  assert.equal(
    (await shop.changer.post(`${page}/approve`)).status,
    409,
    'also after another change',
  )
  await work()
  assert.equal((await read(shop, id)).status, 'PENDING_OTP')
  const asked = await lettersOf(api, shop.client.company.id)
  const to = asked.filter(({ kind }) => kind === 'withdrawal-approval').map((one) => one.to)
  assert.deepEqual(to, [shop.owner.person.email])
  assert.equal((await shop.owner.post(`${page}/approve`)).status, 303)
  await work()
  assert.equal((await read(shop, id)).status, 'COMPLETED')
})

test('who became a member shortly before a held withdrawal or later cannot approve it', async () => {
  const shop = await changedCompany()
  const before = await signIn(api, shop.client.company, { name: 'Nova' })
  const id = await withdraw(shop)
  const later = await signIn(api, shop.client.company, { name: 'Novo' })
  const page = `/balance/withdrawals/${id}`
  for (const member of [before, later]) {
    const shown = await member.get(page)
    assert.doesNotMatch(shown.text, /Aprovar saque/)
    assert.match(shown.text, /Podem aprovar: Olga Dona\./)
    assert.equal((await member.post(`${page}/approve`)).status, 409)
  }
  assert.equal((await shop.owner.post(`${page}/approve`)).status, 303)
})

const CANCELED = { status: 'CANCELED', failureReason: 'destination changed' }

async function assertCanceled(shop: Shop, id: string): Promise<void> {
  const { status, failureReason } = await read(shop, id)
  assert.deepEqual({ status, failureReason }, CANCELED)
  assert.deepEqual(await balanceOf(api, shop.client), OPENING)
  const reader = await signIn(api, shop.client.company)
  const { text } = await reader.get(`/balance/withdrawals/${id}`)
  assert.match(text, /O destino do dinheiro foi alterado enquanto o saque esperava/)
}

test('what is held for a change that was taken back is not sent when its time is over', async () => {
  const shop = await changedCompany()
  const id = await withdraw(shop)
  api.clock.advance(HOUR_S)
  await changeBank(shop.client, shop.owner, 'dona@example.com')
  api.clock.advance(23 * HOUR_S)
  await work()
  await assertCanceled(shop, id)
})

test('nor can it be approved, nor confirmed later', async () => {
  const shop = await changedCompany()
  const id = await withdraw(shop)
  await changeBank(shop.client, shop.owner, 'dona@example.com')
  const second = await signIn(api, shop.client.company, { since: new Date(0) })
  const approved = await second.post(`/balance/withdrawals/${id}/approve`)
  assert.equal(approved.location, `${second.home}/balance/withdrawals/${id}`)
  await work()
  await assertCanceled(shop, id)

  const other = await changedCompany()
  const late = await start(other.client, 5000)
  const code = await lastCode(api, other.client.company.id)
  assert.equal((await other.owner.post(`/balance/withdrawals/${late}/approve`)).status, 303)
  await changeBank(other.client, other.owner, 'dona@example.com')
  const confirmed = await confirm(other.client, late, code)
  assert.deepEqual([confirmed.status, confirmed.body.data.status], [200, 'CANCELED'])
  await work()
  await assertCanceled(other, late)
})
