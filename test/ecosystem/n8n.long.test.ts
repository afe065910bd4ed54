import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { makeProject, runTool } from '../../scripts/n8n/build.ts'
import { packInto } from '../../scripts/release.ts'
import { temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'
import { install } from './installed.ts'
import { type Item, N8n, type Step } from './n8n.ts'
import { callerOf, startSandbox } from './sandbox.ts'

const { folder: programs, missing } = install('n8n')
const NODE = 'n8n-nodes-vintem.vintem'
const TRIGGER = 'n8n-nodes-vintem.vintemTrigger'

/** As n8n installs a package that is chosen in its settings. */
async function installPackage(n8n: N8n): Promise<void> {
  const packages = temporaryFolder()
  const { file } = await packInto(packages, 'n8n')
  const folder = join(n8n.home, '.n8n/nodes/node_modules/n8n-nodes-vintem')
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', join(packages, file), '--strip-components=1', '-C', folder])
}

const webhookStep = (path: string) => ({
  name: 'Webhook',
  type: 'n8n-nodes-base.webhook',
  webhookId: crypto.randomUUID(),
  parameters: {
    httpMethod: 'POST',
    path,
    responseMode: 'lastNode',
    responseData: 'allEntries',
  },
})
const triggerStep = (event: string, receive: 'webhook' | 'feed') => ({
  name: 'Trigger',
  type: TRIGGER,
  webhookId: crypto.randomUUID(),
  parameters: { events: [event], receive },
})
const step = (name: string, resource: string, operation: string, parameters: Item) => ({
  name,
  type: NODE,
  parameters: { resource, operation, ...parameters },
})

/** What is left to whoever publishes it under their name: the tool wants MIT, and an address. */
const OF_PUBLISHER = [
  '@n8n/community-nodes/valid-author',
  'n8n-nodes-base/community-package-json-license-not-default',
]

test("the package passes the strict checks of n8n's tool", () => {
  const project = makeProject()
  const { stdout } = runTool('lint', project)
  const findings = stripVTControlCharacters(stdout).matchAll(/^ +\d+:\d+ +\w+ .* (\S+)$/gm)
  assert.deepEqual([...findings].map(([, rule]) => rule).sort(), OF_PUBLISHER, stdout)
  rmSync(project, { recursive: true })
})

const PAYER = { customer_name: 'Maria da Silva', customer_taxId: '12345678909' }
const MORE_THAN_A_PAGE = 1001

/** Operations of most resources, each with what the one before has given. */
const TOUR = [
  step('Company', 'company', 'get', {}),
  step('Reminders', 'reminder', 'get', {}),
  step('Clock', 'sandbox', 'clock', {}),
  step('Product', 'product', 'create', {
    name: 'Aula',
    description: 'Uma por semana',
    price: 4990,
    more: { type: 'RECURRING', frequency: 'MONTHLY', dayDue: 5, dayGenerateCharge: 10 },
  }),
  step('Changed', 'product', 'update', { id: '={{ $json.id }}', more: { price: 5990 } }),
  step('Customer', 'customer', 'create', {
    name: 'Maria da Silva',
    status: 'ACTIVE',
    taxId: '12345678909',
    email: 'maria@example.com',
    phone: '11987654321',
  }),
  step('Found', 'customer', 'list', { limit: 10, more: { taxId: '123.456.789-09' } }),
  step('Subscription', 'subscription', 'create', {
    productId: "={{ $('Product').first().json.id }}",
    customerId: '={{ $json.id }}',
  }),
  step('Link', 'reusableLink', 'create', {
    title: 'Camiseta',
    more: { openAmount: '{ "min": 1000, "max": 9000 }', stock: 10 },
  }),
  step('Payment link', 'link', 'create', {
    more: { total: 2990, customerId: "={{ $('Customer').first().json.id }}" },
  }),
  step('Code', 'charge', 'createStatic', { amount: 1500, more: { externalId: 'caixa-1' } }),
  step('Recipient', 'recipient', 'create', {
    name: 'Parceiro',
    taxId: '12345678909',
    pixKey: 'parceiro@example.com',
  }),
  step('Charge', 'charge', 'createPix', {
    amount: 5000,
    ...PAYER,
    more: {
      dueDate: '2099-12-31',
      fine: { type: 'PERCENT', value: 200 },
      split: '=[{ "recipientId": "{{ $json.id }}", "percent": 1000 }]',
      externalId: 'tour',
    },
  }),
  step('Canceled', 'charge', 'cancel', { id: '={{ $json.id }}' }),
  step('Balance', 'balance', 'get', {}),
  step('Charges', 'charge', 'list', { returnAll: true, more: { externalId: 'tour' } }),
]

/** What everybody reads of a delivery of a webhook. */
type Delivery = { id: string; status: string; attempts: unknown[] }

test('n8n uses the package', { skip: missing }, async (t) => {
  const sandbox = await startSandbox()
  const call = callerOf(sandbox)
  const n8n = new N8n(programs)
  await n8n.prepare()
  await installPackage(n8n)
  await n8n.start()
  await n8n.setUpOwner()

  const data = { url: `${sandbox.url}/`, apiKey: sandbox.key }
  const saved = { name: 'Vintém', type: 'vintemApi', data }
  const { id, name } = await n8n.ask<{ id: string; name: string }>('POST', '/credentials', saved)
  const activate = (title: string, steps: Step[]) => n8n.activate(title, steps, { id, name })
  /** Runs an active workflow that begins with a webhook, and gives what its last step has given. */
  const run = async (path: string) => {
    const reply = await fetch(`${n8n.url}/webhook/${path}`, { method: 'POST' })
    return { ok: reply.ok, items: (await reply.json()) as Item[] }
  }

  await t.test('credentials are tested', async () => {
    const tryOut = async (values: Item) => {
      const body = { credentials: { id, name, type: 'vintemApi', data: values } }
      return (await n8n.ask<{ status: string }>('POST', '/credentials/test', body)).status
    }
    assert.equal(await tryOut(data), 'OK')
    assert.equal(await tryOut({ ...data, apiKey: 'vk_sandbox_wrong' }), 'Error')
  })

  await t.test('a trigger that follows only the feed learns of what operations do', async () => {
    await activate('Again', [
      triggerStep('charge.canceled', 'feed'),
      step('Again', 'charge', 'duplicate', {
        id: '={{ $json.data.charge.id }}',
        more: { externalId: 'again' },
      }),
    ])
    await activate('Tour', [webhookStep('tour'), ...TOUR])
    const { ok, items } = await run('tour')
    assert.ok(ok, JSON.stringify(items))
    assert.deepEqual(
      items.map(({ total, status, externalId }) => ({ total, status, externalId })),
      [{ total: 5000, status: 'CANCELED', externalId: 'tour' }],
    )
    const again = () => call<Item[]>('GET', '/charge?externalId=again')
    await until('the trigger has made another charge', async () => (await again()).length > 0)
    assert.equal((await again()).length, 1)
  })

  await t.test('a list is read to its end', async () => {
    const customer = { name: 'José', taxId: '12345678909' }
    const amount = 1234
    const charges = Array.from({ length: MORE_THAN_A_PAGE }, (_, i) => ({
      amount,
      customer,
      externalId: `many-${i}`,
      devMode: true,
    }))
    await call('POST', '/charge/batch', { charges: charges.slice(1) })
    await call('POST', '/charge/pix', charges[0])
    const list = { returnAll: true, more: { amount } }
    await activate('List', [webhookStep('list'), step('All', 'charge', 'list', list)])
    const { items } = await run('list')
    assert.equal(new Set(items.map((item) => item.id)).size, MORE_THAN_A_PAGE)
  })

  const create = { amount: 1990, ...PAYER, more: { devMode: true } }
  await activate('Charge', [webhookStep('charge'), step('Create', 'charge', 'createPix', create)])
  const pay = (chargeId: unknown) => call('POST', `/charge/${chargeId}/simulate-payment`)
  const refundsOf = (chargeId: unknown) => call<Item[]>('GET', `/refund/charge/${chargeId}`)
  const isHandled = async (chargeId: unknown) => (await refundsOf(chargeId)).length > 0

  await t.test('a field whose expression finds nothing is not left out of a refund', async () => {
    const [charge] = (await run('charge')).items
    await pay(charge!.id)
    await activate('Refund', [
      webhookStep('refund'),
      step('Refund', 'refund', 'create', {
        chargeId: charge!.id,
        more: { value: '={{ $json.body.nothing }}' },
      }),
    ])
    assert.equal((await run('refund')).ok, false)
    assert.deepEqual(await refundsOf(charge!.id), [])
  })

  const onPaid = await activate('Paid', [
    triggerStep('charge.paid', 'webhook'),
    step('Refund', 'refund', 'create', {
      chargeId: '={{ $json.data.charge.id }}',
      more: { value: 500 },
    }),
  ])
  const [webhook] = (await call('GET', '/webhook')) as [{ id: string; url: string }]
  const deliveries = () => call<Delivery[]>('GET', `/webhook/${webhook.id}/deliveries`)
  const deliverAgain = async () => {
    const [{ id: deliveryId, attempts }] = (await deliveries()) as [Delivery]
    await call('POST', `/webhook/delivery/${deliveryId}/redeliver`)
    await until('it is delivered again', async () => {
      const [one] = await deliveries()
      return one!.attempts.length > attempts.length && one!.status === 'DELIVERED'
    })
  }
  const { items: made } = await run('charge')
  const paid = made[0]!.id

  await t.test('the webhook starts a workflow once', async () => {
    await pay(paid)
    await until('the payment has started the workflow', () => isHandled(paid))
    await until('the webhook is answered', async () => {
      const [one] = await deliveries()
      return one?.status === 'DELIVERED'
    })
    await deliverAgain()
    const forged = await fetch(webhook.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': 'evt_forged',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
      },
      body: JSON.stringify({ event: 'Charge.Paid', charge: { id: paid } }),
    })
    assert.equal(forged.status, 401)
  })

  await t.test('what was paid while n8n was killed starts a workflow once', async () => {
    await n8n.kill()
    const customer = { name: 'José', taxId: '12345678909' }
    const order = { amount: 2990, customer, devMode: true }
    const missed = await call<{ id: string }>('POST', '/charge/pix', order)
    await pay(missed.id)
    await n8n.start()
    await n8n.signIn()
    await until('the feed has brought what was missed', () => isHandled(missed.id))
    await deliverAgain()
    const runs = await until('all runs have ended', async () => {
      const all = await n8n.runsOf(onPaid)
      return all.every((status) => status === 'success') && all
    })
    assert.deepEqual(runs, ['success', 'success'])
    assert.equal((await refundsOf(paid)).length, 1)
    assert.equal((await refundsOf(missed.id)).length, 1)
    const { length } = await call<Item[]>('GET', '/webhook')
    assert.equal(length, 1)
  })

  const manifest = readFileSync(join(programs, 'node_modules/n8n/package.json'), 'utf8')
  t.diagnostic(
    `ECOSYSTEM n8n ${JSON.parse(manifest).version}: operations of 12 resources; a payment starts a workflow once, by webhook, by the feed alone, and after n8n was killed; a forged webhook is refused`,
  )
})
