import assert from 'node:assert/strict'
import { test } from 'node:test'
import { expireWithdrawal } from '../../src/core/withdrawals/commands.ts'
import { payOut } from '../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts, listWaiting } from '../../src/core/withdrawals/store.ts'
import { fromPublic } from '../../src/lib/ids.ts'
import { addDays, localDateOf, startOfDay } from '../../src/pix/local-time.ts'
import { on } from '../citus/cluster.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lastCode, lettersOf } from '../support/mail.ts'
import { dueNow } from '../support/requests.ts'
import { until } from '../support/until.ts'
import { balanceOf, cancel, confirm, PATH, resend, start } from '../support/withdrawals.ts'

const api = await startApi()

/** A company whose withdrawals above R$ 10,00 need an approval, and its people. */
async function company(above = '10,00') {
  const client = await api.client()
  const owner = await signIn(api, client.company, { name: 'Olga Dona' })
  const finance = await signIn(api, client.company, {
    role: 'finance',
    name: 'Fábio <i>Caixa</i>',
    language: 'en',
  })
  const saved = await owner.post('/settings/approvals', { amount: above })
  assert.equal(saved.location, `${owner.home}/settings/approvals?done=saved`, saved.text)
  return { client, owner, finance }
}

/** A withdrawal that somebody starts in the dashboard. */
async function startBy(member: Member, amount: string): Promise<string> {
  const started = await member.post('/balance/withdraw', { amount })
  assert.equal(started.status, 303, started.text)
  return /withdrawals\/(wd_\w+)/.exec(started.location!)![1]!
}

const codeOf = ({ client }: Awaited<ReturnType<typeof company>>) => lastCode(api, client.company.id)

async function payAll(): Promise<void> {
  for (const claim of await claimDuePayouts(api.app.db, dueNow(api.app, 100)))
    await payOut(api.app, claim)
}

test('the limit is set by an owner, shown with its author, and kept in the activity log', async () => {
  const { client, owner, finance } = await company('1.500,00')
  const { text } = await owner.get('/settings/approvals?done=saved')
  assert.match(
    text,
    /Saques acima de R\$ 1\.500,00, sozinhos ou somados aos do dia .* precisam da aprovação/,
  )
  assert.match(text, /Definido por Olga Dona em 20\/08\/2026/)
  assert.match(text, /value="1\.500,00"/)
  assert.match((await owner.get('/balance/withdrawals')).text, /settings\/approvals/)
  assert.match(
    (await finance.get('/balance/withdraw')).text,
    /above R\$ 1\.500,00, alone or together with those of the day .* also need/,
  )
  assert.doesNotMatch((await finance.get('/balance/withdrawals')).text, /settings\/approvals/)
  assert.equal((await finance.get('/settings/approvals')).status, 403)
  assert.equal((await finance.post('/settings/approvals', { amount: '9' })).status, 403)
  assert.equal((await finance.post('/settings/approvals/remove')).status, 403)
  for (const amount of ['', 'muito', '-1', '99.999.999.999,99']) {
    assert.equal((await owner.post('/settings/approvals', { amount })).status, 400, amount)
  }
  assert.equal((await owner.post('/settings/approvals/remove')).status, 303)
  assert.match((await owner.get('/settings/approvals')).text, /nenhum saque precisa/)
  const entries = await api.rows<{ details: object }>(
    `select details from activity where company_id = $1 and action = 'approval.change-limit'
     order by id`,
    [client.company.id],
  )
  assert.deepEqual(
    entries.map(({ details }) => details),
    [{ above: 150_000 }, { removed: true }],
  )
})

test('a confirmed withdrawal above the limit is paid only after a second person approves it', async () => {
  const shop = await company()
  const { client, owner, finance } = shop
  const id = await startBy(finance, '50,00')
  const page = `/balance/withdrawals/${id}`
  const done = await finance.post(`${page}/confirm`, { code: await codeOf(shop) })
  assert.equal(done.status, 303)
  await payAll()
  const { body } = await client.get(`${PATH}/${id}`)
  assert.equal(body.data.status, 'PENDING_OTP')
  assert.equal(body.data.approval, 'WAITING')
  assert.equal(body.data.attemptsLeft, undefined)
  assert.equal(body.data.expiresAt, '2026-08-23T15:00:00.000Z')
  const mine = await finance.get(page)
  assert.match(mine.text, /You requested this withdrawal/)
  assert.match(mine.text, /These people can approve it: Olga Dona/)
  assert.doesNotMatch(mine.text, /Approve withdrawal|Confirm withdrawal/)
  assert.equal((await finance.post(`${page}/approve`)).status, 409)
  const asked = await owner.get(page)
  assert.match(asked.text, /Aguardando aprovação/)
  assert.match(asked.text, /Fábio &lt;i&gt;Caixa/)
  assert.match(asked.text, /Sem aprovação até 23\/08\/2026 12:00/)
  assert.equal((await owner.post(`${page}/approve`)).location, `${owner.home}${page}?done=approved`)
  assert.equal((await owner.post(`${page}/approve`)).status, 303, 'the same again')
  const entries = await api.rows(
    `select details from activity where company_id = $1 and action = 'withdrawal.approve'`,
    [client.company.id],
  )
  assert.deepEqual(entries, [{ details: { value: 5000 } }])
  await payAll()
  const paid = await owner.get(page)
  assert.match(paid.text, /Concluído/)
  assert.match(paid.text, /Aprovado por.*?Olga Dona/s)
  assert.deepEqual(await balanceOf(api, client), { available: 95_000, held: 0 })
})

test('it can be approved before its code, and then the code pays it', async () => {
  const shop = await company()
  const id = await startBy(shop.owner, '50,00')
  const page = `/balance/withdrawals/${id}`
  assert.equal((await shop.finance.post(`${page}/approve`)).status, 303)
  await payAll()
  assert.match((await shop.owner.get(page)).text, /Aguardando código/)
  assert.equal((await shop.client.get(`${PATH}/${id}`)).body.data.approval, 'APPROVED')
  const { body } = await confirm(shop.client, id, await codeOf(shop))
  assert.equal(body.data.status, 'PROCESSING')
  assert.deepEqual(await lettersTo(shop.client.company.id), [], 'nobody has to be asked')
})

const lettersTo = async (companyId: string) =>
  (await lettersOf(api, companyId)).filter(({ kind }) => kind === 'withdrawal-approval')

test('of an API key everybody who can approve is asked, in their language', async () => {
  const shop = await company()
  const { client, owner, finance } = shop
  await signIn(api, client.company, { role: 'viewer' })
  const id = await start(client, 5000)
  const code = await codeOf(shop)
  const confirmed = await confirm(client, id, code)
  assert.equal(confirmed.status, 200)
  assert.equal(confirmed.body.data.approval, 'WAITING')
  const letters = await lettersTo(client.company.id)
  assert.deepEqual(letters.map(({ to }) => to).sort(), [
    ...[owner.person.email, finance.person.email].sort(),
  ])
  const letter = letters.find(({ to }) => to === finance.person.email)!
  assert.match(letter.subject, /Approve the withdrawal of R\$ 50,00/)
  assert.ok(letter.text.includes(`http://vintem.test${owner.home}/balance/withdrawals/${id}`))
  assert.match(letter.text, /API key/)
  const again = await confirm(client, id, code)
  assert.deepEqual([again.status, again.body.errors[0].code], [409, 'withdrawal_not_confirmable'])
  assert.equal((await resend(client, id)).status, 409)
  const other = await client.post(PATH, { value: 100 })
  assert.match(other.body.errors[0].description, /approval of a second person/)
  assert.equal((await finance.post(`/balance/withdrawals/${id}/approve`)).status, 303)
  assert.equal((await client.get(`${PATH}/${id}`)).body.data.status, 'PROCESSING')
})

test('another limit changes nothing about a withdrawal that waits', async () => {
  const shop = await company()
  const { client, owner } = shop
  const above = await start(client, 5000)
  await owner.post('/settings/approvals/remove')
  assert.equal((await confirm(client, above, await codeOf(shop))).body.data.approval, 'WAITING')
  assert.equal((await cancel(client, above)).body.data.status, 'CANCELED')
  const free = await start(client, 5000)
  await owner.post('/settings/approvals', { amount: '0' })
  const { body } = await confirm(client, free, await codeOf(shop))
  assert.deepEqual([body.data.status, body.data.approval], ['PROCESSING', undefined])
  await payAll()
  const every = await start(client, 1)
  assert.equal((await client.get(`${PATH}/${every}`)).body.data.approval, 'WAITING')
})

test('what is refused or not approved in three days gives its money back', async () => {
  const shop = await company()
  const { client, owner, finance } = shop
  const refused = await startBy(owner, '50')
  const page = `/balance/withdrawals/${refused}`
  await owner.post(`${page}/confirm`, { code: await codeOf(shop) })
  assert.equal(
    (await finance.post(`${page}/reject`)).location,
    `${finance.home}${page}?done=rejected`,
  )
  assert.match((await owner.get(page)).text, /recusado por quem podia aprovar/)
  assert.equal((await client.get(`${PATH}/${refused}`)).body.data.failureReason, 'not approved')
  assert.equal((await finance.post(`${page}/approve`)).status, 409)
  assert.equal((await finance.post(`${page}/reject`)).status, 409)
  assert.deepEqual(await balanceOf(api, client), { available: 100_000, held: 0 })
  const late = await start(client, 5000)
  await confirm(client, late, await codeOf(shop))
  const [id, now] = [fromPublic('wd', late)!, api.clock.now()]
  const inDays = (days: number) => new Date(now.getTime() + days * 86_400_000)
  const { db } = api.app
  const expire = (at: Date) =>
    db.transaction((tx) => expireWithdrawal(tx, client.company.id, id, at))
  assert.equal(await expire(inDays(2.9)), false)
  assert.equal(await expire(inDays(3)), true)
  assert.equal((await client.get(`${PATH}/${late}`)).body.data.status, 'EXPIRED')
  assert.equal((await finance.post(`/balance/withdrawals/${late}/approve`)).status, 409)
  assert.deepEqual(await balanceOf(api, client), { available: 100_000, held: 0 })
})

test('only people with the role approve, after they have proved who they are', async () => {
  const shop = await company()
  const { client } = shop
  const id = await start(client, 5000)
  const page = `/balance/withdrawals/${id}`
  for (const role of ['viewer', 'support', 'developer'] as const) {
    const member = await signIn(api, client.company, { role })
    for (const act of ['approve', 'reject']) {
      assert.equal((await member.post(`${page}/${act}`)).status, 403, role)
    }
  }
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.post(`${page}/approve`)).status, 404)
  assert.equal((await stranger.post('/balance/withdrawals/x/approve')).status, 404)
  const unsure = await signIn(api, client.company, { role: 'finance', isConfirmed: false })
  assert.match((await unsure.get(page)).text, /Para aprovar, confirme antes que é você/)
  assert.match((await unsure.post(`${page}/approve`)).location!, /^\/account\/confirm/)
  assert.equal((await client.get(`${PATH}/${id}`)).body.data.approval, 'WAITING')
})

test('no process can pay early, whatever it writes, and no operator is asked to', async () => {
  const shop = await company()
  const { client, owner, finance } = shop
  const id = await startBy(owner, '50')
  await owner.post(`/balance/withdrawals/${id}/confirm`, { code: await codeOf(shop) })
  const key = [client.company.id, fromPublic('wd', id)]
  const set = (columns: string, ...values: unknown[]) =>
    api.rows(`update withdrawals set ${columns} where company_id = $1 and id = $2`, [
      ...key,
      ...values,
    ])
  const pay = `status = 'PROCESSING', otp_hash = null, next_attempt_at = now()`
  await assert.rejects(set(pay), /withdrawals_approved/)
  const own = `approved_at = now(), approved_by = $3`
  await assert.rejects(set(own, owner.person.id), /withdrawals_approved_by_another/)
  await assert.rejects(set('approved_at = now()'), /withdrawals_approval/)
  assert.deepEqual(await listWaiting(api.app.db, client.company.id), [])
  assert.deepEqual(await claimDuePayouts(api.app.db, dueNow(api.app, 100, client.company.id)), [])
  assert.equal((await finance.post(`/balance/withdrawals/${id}/approve`)).status, 303)
})

test('of code, approvals, refusals and cancels at once one order wins, exact to the cent', async () => {
  for (let round = 0; round < 6; round++) {
    const shop = await company()
    const { client, owner, finance } = shop
    const third = await signIn(api, client.company, { role: 'finance' })
    const id = await startBy(owner, '50')
    const page = `/balance/withdrawals/${id}`
    const code = await codeOf(shop)
    await Promise.all([
      confirm(client, id, code),
      owner.post(`${page}/approve`),
      finance.post(`${page}/approve`),
      third.post(`${page}/approve`),
      ...(round % 2 ? [third.post(`${page}/reject`), cancel(client, id)] : []),
      payAll(),
    ])
    await payAll()
    const [row] = await api.rows<{ status: string; approved_by: string | null }>(
      'select status, approved_by from withdrawals where company_id = $1 and id = $2',
      [client.company.id, fromPublic('wd', id)],
    )
    assert.ok(['COMPLETED', 'CANCELED'].includes(row!.status), row!.status)
    assert.notEqual(row!.approved_by, owner.person.id)
    const isPaid = row!.status === 'COMPLETED'
    assert.ok(!isPaid || row!.approved_by !== null)
    const left = isPaid ? 95_000 : 100_000
    assert.deepEqual(await balanceOf(api, client), { available: left, held: 0 })
  }
})

test('many small withdrawals of a day need an approval once they are above the limit together', async () => {
  const shop = await company('10,00')
  const { client, owner, finance } = shop
  const approvalOf = async (id: string) => (await client.get(`${PATH}/${id}`)).body.data.approval
  const withdraw = async (amount: string) => {
    const id = await startBy(finance, amount)
    await confirm(client, id, await codeOf(shop))
    await payAll()
    return id
  }
  // One that was canceled has left nothing.
  await cancel(client, await startBy(finance, '10,00'))
  for (const amount of ['4,00', '6,00']) {
    assert.equal(await approvalOf(await withdraw(amount)), undefined)
  }
  const third = await withdraw('0,01')
  assert.equal(await approvalOf(third), 'WAITING')
  assert.equal((await client.get(`${PATH}/${third}`)).body.data.status, 'PENDING_OTP')
  await owner.post(`/balance/withdrawals/${third}/approve`)
  await payAll()
  // By API too, and until the day ends in São Paulo. What was approved does not count.
  const byKey = await start(client, 1)
  assert.equal(await approvalOf(byKey), 'WAITING')
  await cancel(client, byKey)
  const day = localDateOf(api.clock.now())
  const next = startOfDay(addDays(day, 1)).getTime()
  api.clock.advance((next - api.clock.now().getTime()) / 1000 - 1)
  const late = await start(client, 1)
  assert.equal(await approvalOf(late), 'WAITING')
  await cancel(client, late)
  api.clock.advance(1)
  assert.equal(await approvalOf(await start(client, 1000)), undefined)
})

/** A withdrawal whose code was right, and who may do what with it. */
async function approvable() {
  const shop = await company()
  const { client, finance } = shop
  const third = await signIn(api, client.company, { role: 'finance' })
  const id = await startBy(shop.owner, '50')
  assert.equal((await confirm(client, id, await codeOf(shop))).status, 200)
  const page = `/balance/withdrawals/${id}`
  const key = [client.company.id, fromPublic('wd', id)!] as const
  const acts = {
    approve: async () => (await finance.post(`${page}/approve`)).status,
    approveToo: async () => (await third.post(`${page}/approve`)).status,
    reject: async () => (await third.post(`${page}/reject`)).status,
    cancel: async () => (await cancel(client, id)).status,
    expire: async () => {
      const at = new Date(api.clock.now().getTime() + 3 * 86_400_000)
      return api.app.db.transaction((tx) => expireWithdrawal(tx, ...key, at))
    },
  }
  const row = async () => {
    const [found] = await api.rows<{ status: string; approved_by: string | null }>(
      'select status, approved_by from withdrawals where company_id = $1 and id = $2',
      [...key],
    )
    return found!
  }
  return { ...shop, third, key, acts, row }
}

type Act = keyof Awaited<ReturnType<typeof approvable>>['acts']

/** Both wait for the withdrawal, one after the other, and then each has its answer. */
async function inOrder(
  { key, acts }: Awaited<ReturnType<typeof approvable>>,
  order: readonly Act[],
): Promise<(number | boolean)[]> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return on(api.databaseUrl, async (holder) => {
    await holder.query('begin')
    await holder.query('select 1 from withdrawals where company_id = $1 and id = $2 for update', [
      ...key,
    ])
    const answers: Promise<number | boolean>[] = []
    for (const act of order) {
      answers.push(acts[act]())
      await until(`${act} waits`, async () => {
        const { rowCount } = await holder.query(waiting)
        return rowCount === answers.length ? true : null
      })
    }
    await holder.query('commit')
    return Promise.all(answers)
  })
}

const CANCELED = { status: 'CANCELED', isApproved: false }
const PROCESSING = { status: 'PROCESSING', isApproved: true }

for (const [order, answers, end] of [
  [['cancel', 'approve'], [200, 409], CANCELED],
  [['approve', 'cancel'], [303, 409], PROCESSING],
  [['reject', 'approve'], [303, 409], CANCELED],
  [['approve', 'reject'], [303, 409], PROCESSING],
  [['reject', 'cancel'], [303, 200], CANCELED],
  [['cancel', 'reject'], [200, 409], CANCELED],
  [['expire', 'approve'], [true, 409], { status: 'EXPIRED', isApproved: false }],
  [['approve', 'expire'], [303, false], PROCESSING],
  [['approve', 'approveToo'], [303, 409], PROCESSING],
] as const) {
  test(`of ${order.join(' and ')} at once the first decides, and the money follows it`, async () => {
    const shop = await approvable()
    assert.deepEqual(await inOrder(shop, order), answers)
    const { status, approved_by } = await shop.row()
    const isApproved = approved_by === shop.finance.person.id
    assert.deepEqual({ status, isApproved }, end)
    assert.ok(isApproved || approved_by === null)
    const isHeld = status === 'PROCESSING'
    assert.deepEqual(
      await balanceOf(api, shop.client),
      isHeld ? { available: 95_000, held: 5000 } : { available: 100_000, held: 0 },
    )
    await payAll()
    const left = isHeld ? 95_000 : 100_000
    assert.deepEqual(await balanceOf(api, shop.client), { available: left, held: 0 })
  })
}
