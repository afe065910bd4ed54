import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardBankChange } from '../../src/core/banks/commands.ts'
import { payOut } from '../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts } from '../../src/core/withdrawals/store.ts'
import { expireDueWithdrawals } from '../../src/worker/due.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { lastCode, lettersOf } from '../support/mail.ts'
import { dueNow } from '../support/requests.ts'
import { balanceOf, confirm, PATH, start } from '../support/withdrawals.ts'

const api = await startApi()
const HOUR_S = 3600

/** A company whose bank somebody has changed in the dashboard just now. */
async function changedCompany() {
  const client = await api.client()
  const owner = await signIn(api, client.company, { name: 'Olga Dona' })
  const changer = await signIn(api, client.company, { name: 'Bob' })
  const { app } = api
  await app.db.transaction((tx, control) => {
    const keys = { pixKey: client.company.pixKey, payoutKey: 'outra@example.com' }
    const change = { bank: 'Efí', keys, by: 'Bob', waitHours: 24 }
    const by = changer.person.id
    return guardBankChange(tx, control, app.vault, client.company, change, by, api.clock.now())
  })
  return { client, owner, changer }
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
