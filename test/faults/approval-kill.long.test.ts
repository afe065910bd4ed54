import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { LEASE_S } from '../../src/core/due.ts'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { payOut } from '../../src/core/withdrawals/payouts.ts'
import { claimDuePayouts } from '../../src/core/withdrawals/store.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { type Client, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { lastCode } from '../support/mail.ts'
import { temporaryFolder } from '../support/process.ts'
import { dueNow } from '../support/requests.ts'
import { balanceOf, OPENING, postingsOf, rowOf, sentOf } from '../support/withdrawals.ts'
import { becomes, holdingOf } from './hold.ts'
import { createVictim, lowPort } from './victim.ts'

/** Another server of the same database, whose time the test moves. */
const api = await startApi()
const letPass = (seconds: number) =>
  api.clock.advance((Date.now() - api.clock.now().getTime()) / 1000 + seconds)
const { hold, waiting } = holdingOf(api)
const VALUE = 5000
/** The bank is compared with our records up to a few minutes ago. */
const BEFORE_AUDIT_S = 900

const environment = () => ({
  ...api.databases,
  DATA_DIR: temporaryFolder(),
  SECRET_KEY: api.app.config.secretKey.toString('base64'),
})
// The tasks of the first would pay out at once what here is looked at step by step. A server ends
// with the test that has started it.
const pages = createVictim(await lowPort(), environment(), ['--role', 'api'])
const whole = createVictim(await lowPort(), environment())
after(() => Promise.all([pages.end('SIGKILL'), whole.end('SIGKILL')]))

type Shop = { client: Client; owner: Member; finance: Member }

/** A company whose withdrawals above R$ 10,00 need an approval, and its people. */
async function openShop(): Promise<Shop> {
  letPass(0)
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const finance = await signIn(api, client.company, { role: 'finance' })
  assert.equal((await owner.post('/settings/approvals', { amount: '10,00' })).status, 303)
  return { client, owner, finance }
}

type Form = Record<string, string>
type Sent = { status: number; location: string } | null

/** Sends a form to a server that may be killed over it: then there is no answer. */
async function send(url: string, member: Member, path: string, form: Form): Promise<Sent> {
  const token = formTokenOf(api.app.vault, member.session)
  const reply = await fetch(`${url}${member.home}${path}`, {
    method: 'POST',
    headers: { cookie: member.cookie },
    body: new URLSearchParams({ token, ...form }),
    redirect: 'manual',
  }).catch(() => null)
  return reply && { status: reply.status, location: reply.headers.get('location') ?? '' }
}

/** A form as a page has it, which a browser may send again. */
const newForm = (form: Form = {}): Form => ({ once: suffixOf(newId()), ...form })

/** A form over which the server is killed, while it waits to write to a table. */
type Step = {
  name: string
  table: string
  shop: Shop
  id: string
  who: Member
  path: string
  form: Form
}

/** Kills the server while all these forms wait, each to be written, and starts it again. */
async function killOver(steps: Step[]): Promise<void> {
  const releases = await Promise.all([...new Set(steps.map(({ table }) => table))].map(hold))
  const answers: Sent[] = []
  const answered = steps.map(async ({ who, path, form }) => {
    answers.push(await send(pages.url, who, path, form))
  })
  await becomes('all wait', async () => {
    assert.deepEqual(answers, [], 'none is answered before it is written')
    return (await waiting()) === steps.length
  })
  await pages.end('SIGKILL')
  await Promise.all(answered)
  assert.ok(answers.every((answer) => answer === null))
  // The database may not have noticed that nobody waits for its answer.
  for (const release of releases) await release()
  await becomes('nothing waits', async () => (await waiting()) === 0)
  await pages.start()
}

/** Sends a form whose answer counts. */
async function sendAgain(member: Member, path: string, form: Form): Promise<string> {
  const sent = await send(pages.url, member, path, form)
  assert.equal(sent?.status, 303, path)
  return sent.location
}

const pageOf = (id: string) => `/balance/withdrawals/${id}`
const idIn = (location: string) => /withdrawals\/(wd_\w+)/.exec(location)![1]!

/** A withdrawal of one person that needs the approval of the other. */
async function start({ finance }: Shop): Promise<string> {
  const sent = await finance.post('/balance/withdraw', { amount: '50,00' })
  return idIn(sent.location!)
}

async function enterCode({ client, finance }: Shop, id: string): Promise<void> {
  const code = await lastCode(api, client.company.id)
  assert.equal((await finance.post(`${pageOf(id)}/confirm`, { code })).status, 303)
}

/** Lets other servers pay out what is due, now and when the leases of killed ones are over. */
async function payAll(): Promise<void> {
  for (const seconds of [0, LEASE_S + 1]) {
    letPass(seconds)
    for (const claim of await claimDuePayouts(api.app.db, dueNow(api.app, 100)))
      await payOut(api.app, claim)
  }
}

/** The state, what is held of the balance, and how much the bank has sent. */
async function stateOf({ client }: Shop, id: string) {
  const { status, approved_at, confirmed_at } = await rowOf(api, id)
  const { held } = await balanceOf(api, client)
  const sent = (await sentOf(api, client)).map(({ amount }) => amount)
  return {
    status,
    isApproved: approved_at !== null,
    isConfirmed: confirmed_at !== null,
    held,
    sent,
  }
}

const WAITING = { status: 'PENDING_OTP', held: VALUE, sent: [] }
const STARTED = { ...WAITING, isApproved: false, isConfirmed: false }
const CONFIRMED = { ...WAITING, isApproved: false, isConfirmed: true }
const APPROVED = { ...WAITING, isApproved: true, isConfirmed: false }

/** How often each change is in the activity log. */
async function changesOf({ client }: Shop): Promise<string[]> {
  await api.app.lateActivity.idle()
  const rows = await api.rows<{ action: string }>(
    'select action from activity where company_id = $1 order by action',
    [client.company.id],
  )
  return rows.map(({ action }) => action)
}

const ALL_CHANGES = [
  'approval.change-limit',
  'confirmWithdrawal',
  'startWithdrawal',
  'withdrawal.approve',
]

/** It is paid once, the books say so, and so does the audit. */
async function requirePaidOnce(shop: Shop, id: string): Promise<void> {
  await payAll()
  const { status, sent } = await stateOf(shop, id)
  assert.deepEqual([status, sent], ['COMPLETED', [VALUE]])
  const left = { available: OPENING.available - VALUE, held: 0 }
  assert.deepEqual(await balanceOf(api, shop.client), left)
  assert.equal((await postingsOf(api, shop.client)).length, 2)
  assert.deepEqual(await changesOf(shop), ALL_CHANGES)
  await requireClean(shop)
}

async function requireClean({ client }: Shop): Promise<void> {
  letPass(BEFORE_AUDIT_S)
  const { faults, bank } = await auditCompany(api.app, client.company.id, { whole: true })
  assert.deepEqual([faults, bank], [[], 'asked'])
}

/** Every form on the way of a withdrawal, each of another company. */
async function makeSteps(): Promise<Step[]> {
  const amount = { amount: '50,00' }
  const shops = await Promise.all(Array.from({ length: 5 }, openShop))
  const [requested, coded, approved, last, refused] = shops as [Shop, Shop, Shop, Shop, Shop]
  const codeOf = async ({ client }: Shop) => ({ code: await lastCode(api, client.company.id) })
  const stepOf = async (shop: Shop, table: string, what: 'confirm' | 'approve' | 'reject') => {
    const id = await start(shop)
    if (what !== 'confirm') await enterCode(shop, id)
    const isCode = what === 'confirm'
    const form = newForm(isCode ? await codeOf(shop) : {})
    const who = isCode ? shop.finance : shop.owner
    return { table, shop, id, who, path: `${pageOf(id)}/${what}`, form }
  }
  const afterApproval = await stepOf(last, 'activity', 'confirm')
  assert.equal((await last.owner.post(`${pageOf(afterApproval.id)}/approve`)).status, 303)
  return [
    {
      name: 'requested',
      table: 'postings',
      shop: requested,
      id: '',
      who: requested.finance,
      path: '/balance/withdraw',
      form: newForm(amount),
    },
    { name: 'code entered', ...(await stepOf(coded, 'mails', 'confirm')) },
    { name: 'approved', ...(await stepOf(approved, 'activity', 'approve')) },
    { name: 'code entered after the approval', ...afterApproval },
    { name: 'refused', ...(await stepOf(refused, 'postings', 'reject')) },
  ]
}

const approve = (shop: Shop, id: string) =>
  sendAgain(shop.owner, `${pageOf(id)}/approve`, newForm())

/** What is left of a form over which the server was killed, and how it goes on. */
const AFTER: Record<string, (step: Step) => Promise<void>> = {
  // Nothing is requested, and the form that is sent again makes one withdrawal.
  async requested({ shop, who, path, form }) {
    assert.deepEqual(await balanceOf(api, shop.client), OPENING)
    const id = idIn(await sendAgain(who, path, form))
    // If the answer is lost on its way, the browser sends the form once more.
    assert.equal(idIn(await sendAgain(who, path, form)), id)
    assert.deepEqual(await stateOf(shop, id), STARTED)
    assert.equal((await postingsOf(api, shop.client)).length, 1)
    await enterCode(shop, id)
    await approve(shop, id)
    await requirePaidOnce(shop, id)
  },
  // It waits for its code as before, and then for its approval.
  async 'code entered'({ shop, id, who, path, form }) {
    assert.deepEqual(await stateOf(shop, id), STARTED)
    await sendAgain(who, path, form)
    await payAll()
    assert.deepEqual(await stateOf(shop, id), CONFIRMED)
    await approve(shop, id)
    await requirePaidOnce(shop, id)
  },
  // It is not approved, and nothing is paid. Whoever approves twice pays once.
  async approved({ shop, id, who, path, form }) {
    await payAll()
    assert.deepEqual(await stateOf(shop, id), CONFIRMED)
    await sendAgain(who, path, form)
    await sendAgain(who, path, form)
    await requirePaidOnce(shop, id)
  },
  // It stays approved, and is paid after its code, not before.
  async 'code entered after the approval'({ shop, id, who, path, form }) {
    await payAll()
    assert.deepEqual(await stateOf(shop, id), APPROVED)
    await sendAgain(who, path, form)
    await requirePaidOnce(shop, id)
  },
  // The money is held until it is refused, and then it is available once.
  async refused({ shop, id, who, path, form }) {
    assert.deepEqual(await stateOf(shop, id), CONFIRMED)
    await sendAgain(who, path, form)
    await payAll()
    assert.deepEqual(await stateOf(shop, id), { ...CONFIRMED, status: 'CANCELED', held: 0 })
    assert.deepEqual(await balanceOf(api, shop.client), OPENING)
    await requireClean(shop)
  },
}

test('a withdrawal whose server is killed at any step is as it was before the step', async (t) => {
  await pages.start()
  const steps = await makeSteps()
  assert.deepEqual(steps.map(({ name }) => name).sort(), Object.keys(AFTER).sort())
  await killOver(steps)
  for (const step of steps) {
    await t.test(`killed while ${step.name}`, async () => {
      letPass(0)
      await AFTER[step.name]!(step)
    })
  }
  assert.deepEqual(pages.complaints(), [])
})

/** Kills the server that pays out while it waits for a table, and starts it again. */
async function killPayout(table: string, shop: Shop, id: string): Promise<void> {
  const release = await hold(table)
  const approved = await send(whole.url, shop.owner, `${pageOf(id)}/approve`, newForm())
  assert.equal(approved?.status, 303)
  await becomes(`the payout waits for ${table}`, async () => (await waiting()) > 0)
  const { attempts } = await rowOf(api, id)
  assert.equal(attempts, 1, 'it is ordered')
  await whole.end('SIGKILL')
  await release()
  await becomes('nothing waits', async () => (await waiting()) === 0)
  await whole.start()
}

/** Before the answer of the bank is written, and while the bank gets the order. */
const KILLED_OVER = ['postings', 'simulated_transfers']

test('killed while the bank gets the order, or before its answer is written: it is sent once', async () => {
  const shops = await Promise.all(KILLED_OVER.map(openShop))
  const ids = await Promise.all(shops.map(start))
  for (const [n, shop] of shops.entries()) await enterCode(shop, ids[n]!)
  await whole.start()
  for (const [n, table] of KILLED_OVER.entries()) await killPayout(table, shops[n]!, ids[n]!)
  const { status, held, sent } = await stateOf(shops[0]!, ids[0]!)
  assert.deepEqual([status, held, sent], ['PROCESSING', VALUE, [VALUE]], 'the bank has sent it')
  for (const [n, shop] of shops.entries()) await requirePaidOnce(shop, ids[n]!)
  assert.deepEqual(whole.complaints(), [])
})
