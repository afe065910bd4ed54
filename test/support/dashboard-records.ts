import assert from 'node:assert/strict'
import { monthOf } from '../../src/core/closings/rules.ts'
import { createKey } from '../../src/core/companies/commands.ts'
import { invite } from '../../src/core/people/invitations.ts'
import { invitationIdOf } from '../../src/core/people/links.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { type Client, payer, type TestApi } from './api.ts'
import { signIn } from './dashboard.ts'
import { openDispute } from './disputes.ts'
import { makeCode, makePaid, makeUnmatched } from './payments.ts'
import { makeSubscription, makeTemplate } from './subscriptions.ts'
import { register } from './webhooks.ts'
import { start } from './withdrawals.ts'

/** In every record of a company, so that a page that shows one is recognized. */
export const MARK = 'Confidencial'

/** A name that is markup, with a mark that reverses what follows it. */
const MARKUP = `${MARK} "><img src=x onerror=alert(1)> \u202eavesso`
/** As long as a name may be, without a place to break it. */
const LONG = MARK.padEnd(255, 'W')

const RECIPIENT = { name: MARKUP, taxId: '52998224725', pixKey: 'confidencial@example.com' }

/** The ids of one record of each kind, by the part of a path that comes before them. */
export type Records = Record<string, string>

async function idOf(client: Client, path: string, json: object): Promise<string> {
  const { status, body, text } = await client.post(path, json)
  assert.ok(status < 300, text)
  return (body.data ?? body).id
}

/** Creates a record of each kind that pages show. */
export async function makeRecords(api: TestApi, client: Client): Promise<Records> {
  const customer = payer({ name: MARKUP, email: 'confidencial@example.com' })
  await makePaid(api, client, 5000)
  const charge = { amount: 4000, customer, description: MARKUP, externalId: `${MARK}-1` }
  const open = await idOf(client, '/charge/pix', charge)
  const webhook = await register(client, `http://127.0.0.1:9/${MARK}`, ['charge.paid'])
  const product = { name: LONG, description: MARKUP, price: 1000 }
  const subscriber = await idOf(client, '/client', {
    ...payer({ name: LONG, taxId: '39053344705' }),
    status: 'ACTIVE',
  })
  const subscription = await makeSubscription(client, { name: MARKUP })
  const { app } = api
  // Everybody who makes keys may replace this one.
  const options = { name: MARK, scopes: ['payments:read' as const] }
  const key = await app.db.transaction((tx) =>
    createKey(tx, app.vault, client.company, options, app.clock.now()),
  )
  const { data: delivery } = (await client.post(`/webhook/${webhook.id}/test`)).body
  const asked = await client.get('/company')
  await api.app.requestLog.idle()
  const plan = { total: 5000, count: 3, firstDueDate: '2026-09-10', customer }
  return {
    charges: open,
    counter: await makeSale(api, client),
    plans: await idOf(client, '/charge/plan', { ...plan, description: `${MARK} "><b>` }),
    links: await idOf(client, '/link', {
      title: `${MARKUP}`,
      description: MARKUP,
      amount: 4500,
      stock: 3,
    }),
    customers: subscriber,
    products: await idOf(client, '/product', product),
    recipients: await idOf(client, '/recipient', RECIPIENT),
    unmatched: await makeUnmatched(api, client, 700),
    // Months are the same for all companies, each with its own books.
    closing: monthOf(app.clock.now()),
    disputes: await makeDispute(api, client),
    'disputes/files': '1',
    'new/code': (await makeCode(client, 900)).id,
    subscriptions: subscription.id,
    'subscriptions/links': (await makeTemplate(client)).id,
    'developers/keys': suffixOf(key.id),
    'developers/webhooks': webhook.id,
    'developers/deliveries': delivery.id,
    'developers/events': delivery.eventId,
    'developers/requests': asked.headers.get('x-request-id')!,
    ...(await makePeople(api, client)),
    'balance/withdrawals': await start(client, 1000),
    // Views are of one person each, so that nobody else has this one.
    views: suffixOf(newId()),
  }
}

/** A sale at a counter. */
export async function makeSale(api: TestApi, { company }: Client): Promise<string> {
  const member = await signIn(api, company, { role: 'support' })
  const form = { amount: '12,50', description: MARKUP }
  const { status, location, text } = await member.post('/counter', form)
  assert.equal(status, 303, text)
  return location!.split('/').at(-1)!
}

/** A dispute with a defense and a file. */
async function makeDispute(api: TestApi, client: Client): Promise<string> {
  const { endToEndId } = await makePaid(api, client, 700)
  const { id } = await openDispute(client, endToEndId)
  const content = Buffer.from(`%PDF-1.7 ${MARK}`).toString('base64')
  const files = [{ name: MARK, content }]
  const { status, text } = await client.post(`/dispute/${id}/defense`, { text: MARKUP, files })
  assert.equal(status, 200, text)
  return id
}

/** A member of the company, and an invitation. */
async function makePeople(api: TestApi, { company }: Client): Promise<Records> {
  const { app } = api
  const now = app.clock.now()
  const { person } = await signIn(api, company, { role: 'viewer', name: LONG })
  const invitation = {
    email: 'confidencial@example.com',
    company,
    role: 'viewer' as const,
    makesOperator: false,
    language: 'pt' as const,
    by: MARK,
    invitedBy: null,
  }
  const { link } = await app.db.transaction((tx, control) =>
    invite(tx, control, app, invitation, now),
  )
  return {
    'settings/members': suffixOf(person.id),
    'settings/members/invitations': invitationIdOf(link),
  }
}

/** The path of a page with the ids of records. */
export function pathOf({ path }: { path: string }, records: Records): string {
  return path.replaceAll(/(?<=^\/(.*))\/:(\w+)/g, (whole, _all, _name, at: number) => {
    const section = path.slice(1, at).replaceAll(/\/:\w+/g, '')
    const known = Object.keys(records).filter((name) => section.startsWith(name))
    const [longest] = known.sort((a, b) => b.length - a.length)
    assert.ok(longest, `${path}: dashboard-records.ts makes a record for ${whole}`)
    return `/${records[longest]}`
  })
}
