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
import { type Item, N8n } from './n8n.ts'
import { startSandbox } from './sandbox.ts'

const { folder: programs, missing } = install('n8n')
const NODE = 'n8n-nodes-vintem.vintem'
const TRIGGER = 'n8n-nodes-vintem.vintemTrigger'

/** Vintém as a program with a key asks it. */
function callerOf({ url, key }: { url: string; key: string }) {
  return async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const reply = await fetch(url + path, {
      method,
      headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    assert.ok(reply.ok, `${method} ${path}: ${text}`)
    return JSON.parse(text).data
  }
}

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
  parameters: { httpMethod: 'POST', path, responseMode: 'lastNode' },
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

test('in n8n a charge is made and its payment starts a workflow once, even while n8n was down', {
  skip: missing,
}, async (t) => {
  const sandbox = await startSandbox()
  const call = callerOf(sandbox)
  const n8n = new N8n(programs)
  await n8n.prepare()
  await installPackage(n8n)
  await n8n.start()
  await n8n.setUpOwner()

  const data = { url: `${sandbox.url}/`, apiKey: sandbox.key }
  const credentials = await n8n.ask<{ id: string; name: string }>('POST', '/credentials', {
    name: 'Vintém',
    type: 'vintemApi',
    data,
  })
  const { id, name } = credentials
  const tryOut = async (values: Item) => {
    const body = { credentials: { id, name, type: 'vintemApi', data: values } }
    return (await n8n.ask<{ status: string }>('POST', '/credentials/test', body)).status
  }
  assert.equal(await tryOut(data), 'OK')
  assert.equal(await tryOut({ ...data, apiKey: 'vk_sandbox_wrong' }), 'Error')

  const payer = { customer_name: 'Maria da Silva', customer_taxId: '12345678909' }
  await n8n.activate(
    'Charge',
    [
      webhookStep('charge'),
      step('Create', 'charge', 'createPix', { amount: 1990, ...payer, more: { devMode: true } }),
    ],
    { id, name },
  )
  const onPaid = await n8n.activate(
    'Refund what is paid',
    [
      {
        name: 'Trigger',
        type: TRIGGER,
        webhookId: crypto.randomUUID(),
        parameters: { events: ['charge.paid'], receive: 'webhook' },
      },
      step('Refund', 'refund', 'create', {
        chargeId: '={{ $json.data.charge.id }}',
        more: { value: 500 },
      }),
    ],
    { id, name },
  )
  const pay = (chargeId: string) => call('POST', `/charge/${chargeId}/simulate-payment`)
  const refundsOf = (chargeId: string) => call<Item[]>('GET', `/refund/charge/${chargeId}`)
  const isHandled = async (chargeId: string) => (await refundsOf(chargeId)).length > 0
  const [webhook] = await call<{ id: string; url: string }[]>('GET', '/webhook')

  type Delivery = { id: string; status: string; attempts: unknown[] }
  const deliveries = () => call<Delivery[]>('GET', `/webhook/${webhook!.id}/deliveries`)
  const redeliver = async ({ id: deliveryId, attempts }: Delivery) => {
    await call('POST', `/webhook/delivery/${deliveryId}/redeliver`)
    await until('it is delivered again', async () => {
      const one = (await deliveries()).find((other) => other.id === deliveryId)!
      return one.attempts.length > attempts.length && one.status === 'DELIVERED'
    })
  }

  const reply = await fetch(`${n8n.url}/webhook/charge`, { method: 'POST' })
  const charge = (await reply.json()) as { id: string }
  assert.match(charge.id, /^charge_/)
  await pay(charge.id)
  await until('the payment has started the workflow', () => isHandled(charge.id))
  const delivery = await until('the webhook is answered', async () => {
    const [one] = await deliveries()
    return one?.status === 'DELIVERED' && one
  })

  await redeliver(delivery)
  const forged = await fetch(webhook!.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': 'evt_forged',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    },
    body: JSON.stringify({ event: 'Charge.Paid', charge }),
  })
  assert.equal(forged.status, 401)

  await n8n.kill()
  const body = { amount: 2990, customer: { name: 'José', taxId: '12345678909' }, devMode: true }
  const missed = await call<{ id: string }>('POST', '/charge/pix', body)
  await pay(missed.id)
  await n8n.start()
  await n8n.signIn()
  await until('the feed has brought what was missed', () => isHandled(missed.id))
  const [undelivered] = await deliveries()
  await redeliver(undelivered!)
  await until('all runs have ended', async () => {
    const runs = await n8n.runsOf(onPaid)
    return runs.every((status) => status === 'success')
  })
  assert.deepEqual(await n8n.runsOf(onPaid), ['success', 'success'])
  assert.equal((await refundsOf(charge.id)).length, 1)
  assert.equal((await refundsOf(missed.id)).length, 1)
  const { version } = JSON.parse(
    readFileSync(join(programs, 'node_modules/n8n/package.json'), 'utf8'),
  )
  t.diagnostic(
    `ECOSYSTEM n8n ${version}: a charge is made by an action, its payment starts a workflow once, by webhook, and by the feed after n8n was killed`,
  )
})
