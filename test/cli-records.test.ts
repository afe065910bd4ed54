import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startApi } from './support/api.ts'
import { hostedVintemIn } from './support/cli.ts'
import { temporaryFolder } from './support/process.ts'

const api = await startApi()
const client = await api.client()

const home = temporaryFolder()
const vintem = hostedVintemIn(home)
const env = { VINTEM_URL: api.url, VINTEM_KEY: client.key, XDG_CONFIG_HOME: join(home, 'config') }

/** Runs a command that must succeed, and gives what it prints for people. */
async function textOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await vintem(args, env)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return stdout
}

// biome-ignore lint/suspicious/noExplicitAny: a test asserts what it expects of an answer
const jsonOf = async (...args: string[]): Promise<any> =>
  JSON.parse(await textOf(...args, '--json'))

/** Runs a command that must be refused, and gives the reason. */
async function faultOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await vintem(args, env)
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
  return stderr
}

const MARIA = ['--name', 'Maria da Silva', '--tax-id', '52998224725']
const REACHED = ['--email', 'maria@example.com', '--phone', '11988888888']

test('a customer is stored, found by its tax id, changed and deleted', async () => {
  const { id } = await jsonOf('customers', 'create', ...MARIA, ...REACHED, '--number', '7')
  assert.match(
    await textOf('customers', 'list', '--tax-id', '529.982.247-25'),
    RegExp(`^${id} `, 'm'),
  )
  assert.equal(await textOf('customers', 'list', '--tax-id', '12345678909'), 'No customers.\n')
  const changed = await textOf(
    'customers',
    'update',
    id,
    '--address',
    'Rua A',
    '--status',
    'INACTIVE',
  )
  assert.match(changed, /^Address +Rua A, 7$/m)
  assert.match(await textOf('customers', 'show', id), /^Status +INACTIVE$/m)
  assert.match(await faultOf('customers', 'update', id), /^Nothing to change\./)
  assert.match(await faultOf('customers', 'update', id, '--tax-id', '1'), /^--tax-id: /)
  assert.equal(await textOf('customers', 'delete', id), `The customer ${id} is deleted.\n`)
})

test('a product is stored, sold by a link for one payer and by one for many, and deleted', async () => {
  const { id } = await jsonOf('products', 'create', '--name', 'Pão', '--price', '1500')
  assert.match(await textOf('products', 'show', id), /^Price +R\$ 15,00$/m)
  assert.equal((await jsonOf('products', 'update', id, '--price', '1600')).price, 1600)
  assert.deepEqual(await jsonOf('products', 'list', '--type', 'RECURRING'), [])
  const sent = await textOf('links', 'send', ...MARIA, '--product', `${id}=2`, '--dev-mode')
  assert.match(sent, /^Total +R\$ 32,00$/m)
  const charge = /^Charge +(\S+)$/m.exec(sent)![1]!
  await textOf('charges', 'pay', charge)
  const link = await jsonOf('links', 'create', '--title', 'Pão de sábado', '--product', id)
  assert.deepEqual(link.items, [{ productId: id, quantity: 1 }])
  assert.equal(await textOf('products', 'delete', id), `The product ${id} is deleted.\n`)
})

test('a link for many payers is made once, changed, and switched off', async () => {
  const create = ['links', 'create', '--title', 'Rifa', '--amount', '1000', '--stock', '200']
  const { id } = await jsonOf(...create, '--idempotency-key', 'rifa')
  assert.equal((await jsonOf(...create, '--idempotency-key', 'rifa')).id, id)
  const changed = await textOf('links', 'update', id, '--amount', '1200', '--status', 'OFF')
  assert.match(changed, /^Price +R\$ 12,00\nState +OFF\nStock +200 of 200 are left$/m)
  assert.match(await textOf('links', 'list'), RegExp(`^${id}  Rifa +R\\$ 12,00 +OFF `, 'm'))
  const open = await textOf('links', 'create', '--title', 'Doação', '--open-amount')
  assert.match(open, /^Price +what the payer wants/m)
  assert.match(await textOf('links', 'show', id), /^Paid +0 times, R\$ 0,00$/m)
  assert.match(await faultOf('links', 'send', '--total', '1990'), /^Name the payer: /)
  const wrong = await faultOf('links', 'create', '--title', 'x', '--product', 'prod_x')
  assert.match(wrong, /^items\[0\]\.productId: the company has no such product\.\n$/)
})

test('a subscription is created, shown with its charges, and ended', async () => {
  const monthly = ['--type', 'RECURRING', '--frequency', 'MONTHLY', '--day-due', '2']
  const product = await jsonOf(
    'products',
    'create',
    '--name',
    'Clube',
    '--price',
    '4990',
    ...monthly,
  )
  const customer = await jsonOf('customers', 'create', ...MARIA, ...REACHED)
  const ids = ['--product', product.id, '--customer', customer.id]
  const made = await textOf('subscriptions', 'create', ...ids)
  assert.match(made, /^Price +R\$ 49,90, MONTHLY$/m)
  const id = /^Subscription +(\S+)$/m.exec(made)![1]!
  assert.match(await textOf('subscriptions', 'show', id), /\nNo charges yet\.\n$/)
  const link = await textOf('subscriptions', 'link', '--product', product.id)
  assert.match(link, /^Page +http/m)
  assert.match(await textOf('subscriptions', 'list'), /Clube +R\$ 49,90 +MONTHLY +for many payers/)
  assert.match(await textOf('subscriptions', 'cancel', id), /is CANCELED\.\n$/)
  const unknown = await faultOf('subscriptions', 'create', '--product', 'x', '--customer', 'y')
  assert.match(unknown, /^\S/)
})

test('money that nobody expected is listed, kept, given to a charge, or sent back', async () => {
  const charge = await jsonOf('charges', 'create', '--amount', '2222', ...MARIA)
  const receive = async (amount: number) => {
    const fields = [`amount=${amount}`, 'payer.name=Maria da Silva', 'payer.taxId=52998224725']
    const set = fields.flatMap((field) => ['--set', field])
    return (await jsonOf('post', '/sandbox/payment', ...set)).endToEndId as string
  }
  const [kept, used, sentBack] = [await receive(1111), await receive(2222), await receive(3333)]
  const list = await textOf('unmatched', 'list')
  assert.match(list, RegExp(`^${used}  R\\$ 22,22 +UNKNOWN +UNMATCHED`, 'm'))
  const likely = await textOf('unmatched', 'suggest', used)
  assert.match(likely, RegExp(`^${charge.id}  R\\$ 22,22`, 'm'))
  const settled = await textOf('unmatched', 'accept', used, '--charge', charge.id)
  assert.match(settled, RegExp(`^Settled +${charge.id}$`, 'm'))
  assert.match(await textOf('unmatched', 'accept', kept), /^Status +ACCEPTED$/m)
  const refund = await textOf('unmatched', 'refund', sentBack, '--comment', 'Obrigado')
  assert.match(refund, /^The refund \S+ of R\$ 33,33 is PROCESSING\.\n$/)
  assert.match(await faultOf('unmatched', 'accept', kept, '--difference', 'keep'), /goes with --ch/)
  assert.match(
    await textOf('balance', 'show'),
    /^Available +R\$ [\d.,]+\n[\s\S]*^Held +R\$ 33,33$/m,
  )
  const entries = await textOf('balance', 'statement', '--type', 'PAYMENT_ACCEPTED')
  assert.match(entries, /PAYMENT_ACCEPTED +R\$ 11,11 +unmatched → available/)
  assert.match(await faultOf('balance', 'statement', '--type', 'LOST'), /^--type: must be one of /)
})

test('the refunds of a charge are listed', async () => {
  const { id } = await jsonOf('charges', 'create', '--amount', '1990', ...MARIA, '--dev-mode')
  assert.equal(await textOf('refunds', 'list', id), 'No refunds.\n')
  await textOf('charges', 'pay', id)
  await textOf('charges', 'refund', id, '--amount', '500')
  assert.match(await textOf('refunds', 'list', id), /^REFUND ID .*\n\S+ +R\$ 5,00 /)
})

test('any path is asked, and a body is typed field by field, as the server describes it', async () => {
  const set = ['amount=4990', 'customer.name=Ana', 'customer.taxId=52998224725', 'externalId=77']
  const fields = set.flatMap((field) => ['--set', field])
  const made = await jsonOf('post', '/charge/pix', ...fields, '--idempotency-key', 'raw')
  assert.equal(made.externalId, '77', 'text, though it is a number')
  assert.equal(
    (await jsonOf('post', 'charge/pix', ...fields, '--idempotency-key', 'raw')).id,
    made.id,
  )
  const found = await textOf('get', '/charge', '--query', 'externalId=77')
  assert.deepEqual(JSON.parse(found)[0].id, made.id)
  assert.match(found, /^\[\n {2}\{\n {4}"id": /)
  const pages = await vintem(['get', '/charge?limit=1'], env)
  assert.match(pages.stderr, /^There are more: --query after=\S+\n$/)
  const odd = ['post', '/product', '--data', '{"name":"x","description":"","price":1,"colour":2}']
  const { code, stderr } = await vintem(odd, env)
  assert.equal(stderr, 'The server knows no such field and has left it out: colour.\n')
  assert.equal(code, 0, 'it was stored')
  writeFileSync(join(home, 'product.json'), '{"name":"Bolo","description":"","price":100}')
  const product = await jsonOf('post', '/product', '--data', '@product.json')
  const changed = await jsonOf('put', `/product/${product.id}`, '--data', '{"sku":"9"}')
  assert.equal(changed.sku, '9')
  assert.equal((await jsonOf('put', `/product/${product.id}`, '--set', 'price=250')).price, 250)
  assert.deepEqual(await jsonOf('delete', `/product/${product.id}`), { id: product.id })
  const sale = ['total=10000', 'count=2', 'firstDueDate=2026-08-31', ...set.slice(1, 3)]
  const plan = await jsonOf('post', '/charge/plan', ...sale.flatMap((one) => ['--set', one]))
  assert.equal(plan.total, 10_000)
  const statement = ['get', '/account-balance/statement', '--query', 'format=csv']
  assert.match(await textOf(...statement), /^"?entry/)
})

test('what cannot be sent as it was typed is refused in one line', async () => {
  const refusals: [args: string[], fault: RegExp][] = [
    [['get', 'https://elsewhere.example/charge'], /^<path>: must be a path of the API/],
    [['get', '//elsewhere.example/charge'], /^<path>: /],
    [['get', '/charge', '--query', 'status'], /^--query status: must be name=value/],
    [['post', '/charge/pix', '--data', '[1'], /^--data: must be a JSON object\.\n$/],
    [['post', '/charge/pix', '--data', '@none.json'], /^--data: there is no file none\.json/],
    [['post', '/charge/pix', '--set', 'amont=1'], /^--set amont: POST \/charge\/pix sends no such/],
    [
      ['post', '/bank/pix', '--set', 'brCode=x'],
      /^--set: the API of this server describes no body/,
    ],
    [['get', '/no-such-path'], /^\S/],
  ]
  for (const [args, fault] of refusals) {
    const text = await faultOf(...args)
    assert.match(text, fault)
    assert.equal(text.trim().split('\n').length, 1, text)
  }
  const both = await faultOf('post', '/product', '--data', '{}', '--set', 'name=x')
  assert.match(both, /^The body is --data, or fields by --set\.\n\nUsage: vintem post/)
})
