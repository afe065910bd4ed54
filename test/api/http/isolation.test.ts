import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '../../../src/http/route.ts'
import { ROUTES } from '../../../src/http/routes/all.ts'
import { newId, packPair, toPublic } from '../../../src/lib/ids.ts'
import { LATEST, VERSION_NAMES } from '../../../src/versions/history.ts'
import { releaseDueCharges } from '../../../src/worker/due.ts'
import { type Client, eventsOf, payer, type Reply, startApi } from '../../support/api.ts'
import { openDispute } from '../../support/disputes.ts'
import { isLong, longTest } from '../../support/long.ts'
import { type Code, makeCharge, makePaid, makeUnmatched, pay } from '../../support/payments.ts'
import { makeRecipient } from '../../support/splits.ts'
import {
  makeCustomer,
  makeRecurring,
  makeSubscription,
  RECURRENCES,
} from '../../support/subscriptions.ts'
import { start } from '../../support/withdrawals.ts'
import { fieldsOf } from '../paths.ts'
import { rowsOfCompany, stored } from '../storage.ts'

const api = await startApi()
const owner = await api.client()
const stranger = await api.client({ name: 'Outra Loja' })

type Kind =
  | 'charge'
  | 'plan'
  | 'rec'
  | 'clnt'
  | 'prod'
  | 'webhook'
  | 'delivery'
  | 'evt'
  | 'wd'
  | 'payment'
  | 'rcpt'
  | 'link'
  | 'dispute'
type Records = Record<Kind | 'request', string>
const CODES: Record<Kind, string> = {
  charge: 'charge_not_found',
  plan: 'plan_not_found',
  rec: 'recurrence_not_found',
  clnt: 'customer_not_found',
  prod: 'product_not_found',
  webhook: 'webhook_not_found',
  delivery: 'webhook_not_found',
  evt: 'event_not_found',
  link: 'link_not_found',
  wd: 'withdrawal_not_found',
  payment: 'payment_not_found',
  rcpt: 'recipient_not_found',
  dispute: 'dispute_not_found',
}

const PLAN = { total: 5000, count: 2, firstDueDate: '2030-01-31', customer: payer() }

/** One record of each kind, of the company that owns it. */
const records: Records = await makeRecords(owner)

async function makeRecords(client: Client): Promise<Records> {
  const idOf = ({ body }: Reply): string => body.data.id
  const product = { name: 'Pão', description: 'Francês', price: 1000 }
  const hook = { url: 'https://loja.example/', name: 'Loja', events: ['charge.paid'] }
  const webhook = idOf(await client.post('/webhook', hook))
  const tried = await client.post(`/webhook/${webhook}/test`)
  return {
    // Paid and released, so that it could be refunded; the payment is one that matched nothing.
    charge: (await makeReceived(client)).id,
    plan: idOf(await client.post('/charge/plan', PLAN)),
    payment: await makeUnmatched(api, client, 700),
    wd: await start(client, 700),
    rec: (await makeSubscription(client)).id,
    clnt: idOf(await client.post('/client', { ...payer(), status: 'ACTIVE' })),
    prod: idOf(await client.post('/product', product)),
    rcpt: await makeRecipient(client),
    link: idOf(await client.post('/link', { title: 'Festa', amount: 1000 })),
    dispute: (await openDispute(client, (await makePaid(api, client, 700)).endToEndId)).id,
    webhook,
    delivery: idOf(tried),
    evt: tried.body.data.eventId,
    request: tried.headers.get('x-request-id')!,
  }
}

async function makeReceived(client: Client): Promise<Code> {
  const charge = await makeCharge(client, 700, { devMode: true })
  await pay(api, charge.brCode)
  api.clock.advance(client.company.releaseDelay_s)
  await releaseDueCharges.run(api.app)
  return charge
}

function unknown(kind: Kind): string {
  if (kind === 'webhook') return newId()
  if (kind === 'delivery') return packPair(newId(), newId())
  if (kind === 'payment') return 'E99999999202608201500aaaaaaaaaaa'
  return toPublic(kind, newId())
}

/** Ids that no record of this kind can have: of other kinds, cut, stretched, in other letters. */
function impossible(kind: Kind): string[] {
  const others = Object.entries(records).filter(([other]) => other !== kind)
  const own = records[kind]
  return [
    ...others.map(([, id]) => id),
    own.slice(0, -1),
    `${own}0`,
    own.toUpperCase(),
    `${own}%00`,
    ` ${own}`.replace(' ', '%20'),
    'x',
    '0',
    'null',
    'undefined',
    "'%20or%20true--",
    '🥖',
    'x'.repeat(300),
    'charge_',
    'charge_zzzzzzzzzzzzzzzzzzzzzzzzzz',
    '00000000-0000-0000-0000-000000000000',
  ]
}

const kindOf = ({ path }: Route): Kind => {
  if (path.startsWith('/charge/plan')) return 'plan'
  if (path.startsWith('/charge') || path.startsWith('/refund')) return 'charge'
  if (path.startsWith('/pix-automatic')) return 'rec'
  if (/^.(payment.unmatched|sandbox.payment)/.test(path)) return 'payment'
  if (/^.(account-balance|sandbox).withdraw/.test(path)) return 'wd'
  if (path.startsWith('/recipient')) return 'rcpt'
  if (/^(.sandbox)?.dispute/.test(path)) return 'dispute'
  if (path.startsWith('/link')) return 'link'
  if (path.startsWith('/client')) return 'clnt'
  if (path.startsWith('/product')) return 'prod'
  if (path.startsWith('/webhook/delivery')) return 'delivery'
  if (path.startsWith('/webhook')) return 'webhook'
  if (path.startsWith('/event')) return 'evt'
  throw new Error(`No record is known for ${path}: name its kind here.`)
}

/** What a subscription of the stranger's own would be to. */
const subscribed = {
  productId: await makeRecurring(stranger),
  customerId: await makeCustomer(stranger),
}

const MAKE_OR_CHANGE = ['POST', 'PUT'] as const
/** A link of the stranger's own, which a change could give the products of others. */
const linkOfStranger: string = (await stranger.post('/link', { title: 'Minha', amount: 700 })).body
  .data.id

const unmatchedOfStranger = await makeUnmatched(api, stranger, 700)

type Ask = (id: string, headers: Record<string, string>) => Promise<Reply>

/** Fields of several operations, of which each ignores those of the others. */
const TAKEN = { name: 'Taken', expiresIn: 60 }

/** A body that the operation takes. What may be left out is left out, as it may name a record. */
const bodyOf = ({ body, example, unknownFields }: Route) => {
  const { required = [] } = body as { required?: string[] }
  if (!unknownFields) return TAKEN
  return required.length > 0 ? example : {}
}

/** Each place where an id can be put: paths from the route table, bodies by name. */
const places: { name: string; kind: Kind; ask: Ask; description?: RegExp }[] = [
  ...ROUTES.filter(({ path }) => path.includes('{')).map((route) => ({
    name: `${route.method} ${route.path}`,
    kind: kindOf(route),
    ask: (id: string, headers: Record<string, string>) =>
      stranger.call(route.method, route.path.replace(/\{\w+\}/, id), {
        headers,
        ...(route.body ? { json: bodyOf(route) } : {}),
      }),
  })),
  ...[RECURRENCES, `${RECURRENCES}/template`].flatMap((path) =>
    Object.entries({ productId: 'prod', customerId: 'clnt' } as const).map(([field, kind]) => ({
      name: `POST ${path} ${field}`,
      kind,
      ask: (id: string, headers: Record<string, string>) =>
        stranger.post(path, { ...subscribed, [field]: decodeURIComponent(id) }, { headers }),
    })),
  ),
  {
    name: 'PUT /client id',
    kind: 'clnt',
    ask: (id, headers) =>
      stranger.put('/client', { id: decodeURIComponent(id), name: 'Taken' }, { headers }),
  },
  {
    name: 'POST /payment/unmatched/…/accept chargeId',
    kind: 'charge',
    ask: (id, headers) =>
      stranger.post(
        `/payment/unmatched/${unmatchedOfStranger}/accept`,
        { chargeId: decodeURIComponent(id) },
        { headers },
      ),
  },
  {
    name: 'POST /charge/payment-link customerId',
    kind: 'clnt',
    ask: (id, headers) =>
      stranger.post(
        '/charge/payment-link',
        { customerId: decodeURIComponent(id), total: 700 },
        { headers },
      ),
  },
  {
    name: 'POST /charge/payment-link items[].productId',
    kind: 'prod',
    ask: (id, headers) =>
      stranger.post(
        '/charge/payment-link',
        { customer: payer(), items: [{ productId: decodeURIComponent(id), quantity: 1 }] },
        { headers },
      ),
  },
  ...MAKE_OR_CHANGE.flatMap((method) => {
    const path = method === 'POST' ? '/link' : `/link/${linkOfStranger}`
    const send = (json: object, headers: Record<string, string>) =>
      stranger.call(method, path, { json, headers })
    return [
      {
        name: `${method} /link items[].productId`,
        kind: 'prod' as const,
        ask: (id: string, headers: Record<string, string>) => {
          const items = [{ productId: decodeURIComponent(id), quantity: 1 }]
          return send({ title: 'Minha', items }, headers)
        },
      },
      {
        name: `${method} /link split[].recipientId`,
        kind: 'rcpt' as const,
        ask: (id: string, headers: Record<string, string>) => {
          const split = [{ recipientId: decodeURIComponent(id), percent: 1000 }]
          return send({ title: 'Minha', amount: 700, split }, headers)
        },
      },
    ]
  }),
  ...(
    [
      ['/charge/pix', { amount: 700, customer: payer() }],
      ['/charge/payment-link', { total: 700, customer: payer() }],
      [RECURRENCES, subscribed],
      [`${RECURRENCES}/template`, { productId: subscribed.productId }],
    ] as const
  ).map(([path, body]) => ({
    name: `POST ${path} split[].recipientId`,
    kind: 'rcpt' as const,
    ask: (id: string, headers: Record<string, string>) => {
      const split = [{ recipientId: decodeURIComponent(id), percent: 1000 }]
      return stranger.post(path, { ...body, split }, { headers })
    },
  })),
]

test('every id that a body or a query can name is tried here', () => {
  const named = ROUTES.flatMap((route) =>
    [...fieldsOf(route.body ?? {}), ...Object.keys(route.query?.properties ?? {})]
      .filter((field) => /(^|\.)id$|Id$/.test(field) && !/(tax|external)Id$/.test(field))
      .map((field) => `${route.operationId} ${field}`),
  )
  assert.deepEqual(named.sort(), [
    'acceptPayment chargeId',
    'changeCustomer id',
    'changeReusableLink items[0].productId',
    'changeReusableLink split[0].recipientId',
    'createPaymentLink customerId',
    'createPaymentLink items[0].productId',
    'createPaymentLink split[0].recipientId',
    'createPixCharge split[0].recipientId',
    'createRecurrence customerId',
    'createRecurrence productId',
    'createRecurrence split[0].recipientId',
    'createRecurrenceTemplate customerId',
    'createRecurrenceTemplate productId',
    'createRecurrenceTemplate split[0].recipientId',
    'createReusableLink items[0].productId',
    'createReusableLink split[0].recipientId',
    'listCharges customerId',
    'listCharges endToEndId',
    'listCharges linkId',
    'listDisputes chargeId',
    'listRequests keyId',
    'summarizeCharges customerId',
    'summarizeCharges endToEndId',
    'summarizeCharges linkId',
  ])
})

for (const version of VERSION_NAMES) {
  const tryNewest = version === LATEST.name ? test : longTest
  const headers = { 'X-Api-Version': version }
  for (const [at, { name, kind, ask }] of places.entries()) {
    test(`${version} ${name}: another company’s record answers like one that does not exist`, async () => {
      const before = await stored(api)
      const foreign = await ask(records[kind], headers)
      const missing = await ask(unknown(kind), headers)
      assert.equal(foreign.status, 404, foreign.text)
      assert.equal(foreign.text, missing.text)
      const code = version === '2025-01-01' ? foreign.body.error : foreign.body.errors[0].code
      assert.equal(code, CODES[kind])
      assert.deepEqual(comparable(foreign), comparable(missing))
      assert.ok(!foreign.text.includes(records[kind]), 'the id is not echoed')
      assert.deepEqual(await stored(api), before)
    })

    tryNewest(
      `${version} ${name}: an id of another kind or of no form answers the same`,
      async () => {
        const before = await stored(api)
        const missing = await ask(unknown(kind), headers)
        const faults: string[] = []
        // `npm test` tries every third of them, others at the next place.
        const ids = impossible(kind).filter((_, n) => isLong || (n + at) % 3 === 0)
        for (const id of ids) {
          const { status, text } = await ask(id, headers)
          // A body says what its texts may be at all; a path only that nothing is there.
          const noText = status === 400 && !name.includes('{') && /%00|x{300}/.test(id)
          if (!noText && text !== missing.text) faults.push(`${id.slice(0, 60)}: ${status} ${text}`)
        }
        assert.deepEqual(faults, [])
        assert.deepEqual(await stored(api), before)
      },
    )
  }
}

test('an id longer than any id answers the same on every path', async () => {
  const faults: string[] = []
  for (const { name, kind, ask } of places.filter(({ name }) => name.includes('{'))) {
    const missing = await ask(unknown(kind), {})
    for (const length of [512, 513, 5000]) {
      const { status, text } = await ask('x'.repeat(length), {})
      if (text !== missing.text) faults.push(`${name} ${length}: ${status}`)
    }
  }
  assert.deepEqual(faults, [])
})

/** Everything of an answer that must be the same in both cases. */
function comparable({ status, headers, text }: Reply) {
  const all = Object.fromEntries(headers)
  delete all['x-request-id']
  delete all.date
  return { status, headers: all, text }
}

type Place = string | ((own: Records) => string)

const LAST = 'ffffffff-ffff-7fff-bfff-ffffffffffff'

/** Every list, with the kind of record that it names and a place after which a page can start. */
const LISTS: [path: string, kind: keyof Records, after: Place][] = [
  ['/charge', 'charge', records.charge.replace(/.$/, 'z')],
  ['/charge/plan', 'plan', records.plan.replace(/.$/, 'z')],
  [RECURRENCES, 'rec', records.rec.replace(/.$/, 'z')],
  ['/link', 'link', records.link.replace(/.$/, 'z')],
  ['/client', 'clnt', records.clnt.replace(/.$/, 'z')],
  ['/product', 'prod', records.prod.replace(/.$/, 'z')],
  ['/webhook', 'webhook', records.webhook.replace(/.$/, 'f')],
  ['/webhook/{id}/deliveries', 'delivery', ({ delivery }) => delivery],
  ['/event', 'evt', ({ evt }) => evt],
  ['/request-log', 'request', ({ request }) => request],
  ['/payment/unmatched', 'payment', LAST],
  ['/account-balance/withdraw', 'wd', records.wd.replace(/.$/, 'z')],
  ['/account-balance/statement', 'payment', '1000'],
  ['/refund/charge/{chargeId}', 'charge', toPublic('rfnd', LAST)],
  ['/dispute', 'dispute', toPublic('dispute', LAST)],
  ['/recipient', 'rcpt', toPublic('rcpt', LAST)],
]

test('lists show a company’s own records and never another’s', async () => {
  const own = await makeRecords(stranger)
  const listing = ROUTES.filter(({ method, query }) => method === 'GET' && query?.properties.after)
  // The statement of a recipient names nobody; by the id of another company's it is not found.
  const paths = [...LISTS.map(([path]) => path), '/recipient/{id}/statement']
  assert.deepEqual(paths.sort(), listing.map(({ path }) => path).sort())
  for (const [client, { charge }] of [[stranger, own] as const, [owner, records] as const]) {
    assert.equal((await client.post(`/refund/${charge}`, { value: 100 })).status, 201)
  }
  await api.app.requestLog.idle()
  const pathOf = (list: string, { webhook, charge }: Records) =>
    list.replace('{id}', webhook).replace('{chargeId}', charge)
  for (const [list, kind, place] of LISTS) {
    const path = pathOf(list, own)
    const after = typeof place === 'string' ? place : place(own)
    for (const query of ['', '?limit=1000', `?after=${after}`]) {
      const { body, text } = await stranger.get(path + query)
      assert.ok(!text.includes(owner.company.id), `${path}${query}`)
      for (const id of Object.values(records)) assert.ok(!text.includes(id), `${path}${query}`)
      assert.equal(Array.isArray(body.data), true, text)
    }
    const all = await stranger.get(path)
    assert.ok(all.text.includes(`"${own[kind]}"`), path)
    const theirs = await owner.get(pathOf(list, records))
    assert.ok(!theirs.text.includes(own[kind]), path)
    assert.ok(theirs.text.includes(`"${records[kind]}"`), path)
  }
})

test('a statement as a file, a balance and the refunds of a charge are a company’s own', async () => {
  const reader = await api.client({ name: 'Leitora' })
  const file = await reader.get('/account-balance/statement?format=csv')
  assert.equal(file.text.split('\r\n').length, 3, 'the heading, the opening balance and the end')
  const { body } = await reader.get('/account-balance')
  assert.deepEqual(body.data, { available: 100_000, pending: 0, held: 0, unmatched: 0 })
  await owner.post(`/refund/${records.charge}`, { value: 100 })
  const refunds = await reader.get(`/refund/charge/${records.charge}`)
  assert.deepEqual(
    comparable(refunds),
    comparable(await reader.get(`/refund/charge/${unknown('charge')}`)),
  )
})

test('a filter of disputes by another company’s charge finds nothing', async () => {
  const { chargeId } = (await owner.get(`/dispute/${records.dispute}`)).body.data
  assert.equal((await owner.get(`/dispute?chargeId=${chargeId}`)).body.data.length, 1)
  assert.deepEqual((await stranger.get(`/dispute?chargeId=${chargeId}`)).body.data, [])
})

test('a filter by another company’s customer or tax id finds what an unknown one finds', async () => {
  const foreign = await stranger.get(`/charge?customerId=${records.clnt}`)
  const missing = await stranger.get(`/charge?customerId=${unknown('clnt')}`)
  assert.deepEqual(comparable(foreign), comparable(missing))
  const customer = payer({ taxId: '11144477735', email: 'own@example.com' })
  const charge = { amount: 12_345, customer, devMode: true }
  const { id } = (await owner.post('/charge/pix', charge)).body.data
  await owner.post(`/charge/${id}/simulate-payment`)
  const { endToEndId } = (await owner.get(`/charge/${id}`)).body.data
  const named = ['email=own@example.com', 'taxId=11144477735', 'amount=12345']
  const ids = [`endToEndId=${endToEndId}`, `txid=${id.slice('charge_'.length)}`]
  for (const query of [...named, ...ids, `customerId=${records.clnt}`]) {
    assert.deepEqual((await stranger.get(`/charge?${query}`)).body.data, [], query)
    const counted = await stranger.get(`/charge/summary?${query}`)
    assert.deepEqual([counted.body.data.count, counted.body.data.days], [0, []], query)
  }
  for (const query of [...named, ...ids]) {
    const found = (await owner.get(`/charge?${query}`)).body.data
    assert.equal(found.length, 1, query)
  }
  await owner.post('/client', { ...payer({ taxId: '39053344705' }), status: 'ACTIVE' })
  const known = await stranger.get('/client?taxId=39053344705')
  assert.deepEqual(known.body.data, [])
})

test('a payer of two companies is a customer of each, known to neither of the other', async () => {
  const [one, two] = [await api.client(), await api.client()]
  const customer = payer({ taxId: '11144477735', email: 'one@example.com' })
  await one.post('/charge/pix', { amount: 700, customer })
  await two.post('/charge/pix', {
    amount: 700,
    customer: { ...customer, email: 'two@example.com' },
  })
  const emails = await Promise.all(
    [one, two].map(async (client) => {
      const { body } = await client.get('/client')
      return body.data.map(({ email }: { email: string }) => email)
    }),
  )
  assert.deepEqual(emails, [['one@example.com'], ['two@example.com']])
})

test('whatever another company asks, a company’s rows and events stay as they are', async () => {
  const rows = await rowsOfCompany(api, owner.company.id)
  const events = await eventsOf(api, owner.company.id)
  for (const { kind, ask } of places) await ask(records[kind], { 'Idempotency-Key': `k${kind}` })
  assert.equal(await rowsOfCompany(api, owner.company.id), rows)
  assert.deepEqual(await eventsOf(api, owner.company.id), events)
  for (const [kind, path] of Object.entries({
    charge: '/charge',
    rec: RECURRENCES,
    clnt: '/client/id',
    prod: '/product',
    webhook: '/webhook',
    wd: '/account-balance/withdraw',
  })) {
    const { status } = await owner.get(`${path}/${records[kind as Kind]}`)
    assert.equal(status, 200, `the owner still has its ${kind}`)
  }
  const { text } = await owner.get('/payment/unmatched')
  assert.ok(text.includes(records.payment), 'the owner still has its payment')
})
