import { randomUUID } from 'node:crypto'
import { BODY_LIMIT_BYTES, VALUES_LIMIT } from '../../src/http/body.ts'
import { payer } from '../support/api.ts'
import { until } from '../support/until.ts'
import { type Attack, ask, type Context, type Outside, type Scene, scaled, some } from './attack.ts'
import { call, companies, makeCharges } from './shops.ts'

/** Companies that send what their own keys allow. */

/** What the limit allows to one key, unless it is set otherwise. */
const PER_KEY = 500

const keysOf = async (scene: Scene, count: number): Promise<Context> => ({
  keys: (await companies(scene, count)).map(({ key }) => key),
  paths: [],
})

/** A body of almost 64 KiB that is one list with as many pieces as it holds, or as are parsed. */
const full = (before: string, piece: string, after: string, most = VALUES_LIMIT - 100): string => {
  const count = Math.min(most, Math.floor((BODY_LIMIT_BYTES - 1024) / (piece.length + 1)))
  return `${before}${Array.from({ length: count }, () => piece).join()}${after}`
}

const hook = '"url":"https://example.com","name":"a"'
const WORST_BODIES: [path: string, body: string][] = [
  ['/webhook', full(`{${hook},"events":[`, '"charge.paid"', ']}')],
  ['/webhook', full(`{${hook},"events":[`, '"\\u0000"', ']}')],
  ['/charge/payment-link', full('{"total":1,"customer":{},"products":[', '{}', ']}')],
  ['/charge/pix', full('[', '{"__proto__":0}', ']')],
  ['/client', full('{"address":{"a":[', '{"a":0}', ']}}')],
  ['/client', full('{"address":{"a":[', '{}', ']}}', BODY_LIMIT_BYTES)],
  ['/product', `{"name":"${'é'.repeat(30_000)}"}`],
]

const bodies: Attack = {
  title: 'the worst bodies of 64 KiB for validation',
  perSecond: PER_KEY,
  concurrency: 64,
  statuses: [400, 429],
  few: 24,
  open: (scene) => keysOf(scene, 1),
  send(outside, { keys }, n) {
    const [path, body] = some(WORST_BODIES, n)
    return ask(outside, { path, key: keys[0]!, body })
  },
}

const lists: Attack = {
  title: 'GET /charge?limit=1000&include=qr, 64 at once',
  perSecond: PER_KEY,
  concurrency: 64,
  statuses: [200, 429, 503],
  few: 12,
  async open(scene) {
    const shop = await scene.company()
    await makeCharges(scene, shop, scaled(scene, 1000))
    return { keys: [shop.key], paths: [] }
  },
  send: (outside, { keys }) =>
    ask(outside, { path: '/charge?limit=1000&include=qr', key: keys[0]! }),
}

/** All at once, again and again: more than are worked on and wait. */
const crowd: Attack = {
  title: '400 requests of one company at the same moment, again and again',
  perSecond: PER_KEY,
  concurrency: 400,
  together: 400,
  statuses: [201, 429],
  few: 400,
  open: (scene) => keysOf(scene, 1),
  send: (outside, { keys }) =>
    ask(outside, {
      path: '/charge/pix',
      key: keys[0]!,
      body: JSON.stringify({ amount: 1990, customer: payer() }),
    }),
}

const clocks: Attack = {
  title: 'clock moves of 16 companies, 64 at once, with work that falls due',
  perSecond: 100,
  concurrency: 64,
  statuses: [200, 409, 429],
  few: 16,
  open: (scene) => keysOf(scene, 16),
  async send(outside, { keys }, n) {
    const key = some(keys, n)
    const body = JSON.stringify({ amount: 1990, customer: payer(), expiresIn: 600 })
    await ask(outside, { path: '/charge/pix', key, body })
    return ask(outside, { path: '/sandbox/clock', key, body: '{"advance":3600}' })
  },
}

const [SLOW_COMPANIES, HOOKS] = [24, 50]

/** A charge that is paid at once by its company. */
async function sell(outside: Outside, key: string): Promise<number> {
  const charge = { amount: 500, customer: payer(), devMode: true }
  const { id } = await call(outside, { key }, '/charge/pix', charge)
  return ask(outside, { path: `/charge/${id}/simulate-payment`, key, body: '{}' })
}

const receivers: Attack = {
  title: '1,200 receivers of 24 companies that answer after 25 s',
  perSecond: 5,
  concurrency: 50,
  statuses: [200],
  few: 12,
  async open(scene) {
    const shops = await companies(scene, scaled(scene, SLOW_COMPANIES))
    for (const [i, shop] of shops.entries()) {
      const url = (n: number) => `${scene.world.receiverUrl}/25000/${i}/${n}`
      const register = (n: number) =>
        call(scene, shop, '/webhook', { url: url(n), name: 'slow', events: ['charge.paid'] })
      await Promise.all(Array.from({ length: scaled(scene, HOOKS) }, (_, n) => register(n)))
    }
    return { keys: shops.map(({ key }) => key), paths: shops.map(({ id }) => id) }
  },
  send: (outside, { keys }, n) => sell(outside, some(keys, n)),
  async calm({ app, world }, { paths }) {
    await app.db.query({
      text: 'delete from deliveries where company_id = any($1::uuid[])',
      values: [paths],
    })
    await world.release()
  },
  waiting: { what: 'an event of its own', most_s: 10, measure: awaitEvent },
}

async function awaitEvent(scene: Scene): Promise<void> {
  const shop = await scene.company()
  const path = `/0/${randomUUID()}`
  const url = scene.world.receiverUrl + path
  await call(scene, shop, '/webhook', { url, name: 'quick', events: ['charge.paid'] })
  const [charge] = await makeCharges(scene, shop, 1, { devMode: true })
  await call(scene, shop, `/charge/${charge!.id}/simulate-payment`, {})
  await scene.world.postTo(path)
}

const mails: Attack = {
  title: 'links with notifyCustomer, as many as the limit allows',
  perSecond: PER_KEY,
  concurrency: 64,
  statuses: [201, 429],
  few: 60,
  open: (scene) => keysOf(scene, 1),
  send: (outside, { keys }, n) =>
    ask(outside, {
      path: '/charge/payment-link',
      key: keys[0]!,
      body: JSON.stringify({
        total: 500,
        notifyCustomer: true,
        customer: payer({ email: `payer-${n}@example.com` }),
      }),
    }),
  async calm({ app }) {
    const text = `delete from mails where finished_at is null and kind <> 'withdrawal-code'`
    await app.db.query({ text })
  },
  waiting: { what: 'a one-time code', most_s: 10, measure: awaitCode },
}

async function awaitCode(scene: Scene): Promise<void> {
  const email = `code-${randomUUID()}@example.com`
  const shop = await scene.company({ email })
  await call(scene, shop, '/account-balance/withdraw', { value: 5000 })
  await scene.world.mailTo(email)
}

/** More due work than a sweep looks at, which fails and falls due before that of anybody else. */
const poisoned: Attack = {
  title: 'a company whose due work fails, with 2,400 due charges',
  perSecond: 50,
  concurrency: 50,
  statuses: [201, 429],
  few: 10,
  async open(scene) {
    const shop = await scene.company()
    return { keys: [shop.key], paths: [shop.id] }
  },
  send: (outside, { keys }) =>
    ask(outside, {
      path: '/charge/pix',
      key: keys[0]!,
      body: JSON.stringify({ amount: 999_999_999_999, customer: payer() }),
    }),
  async begin({ app }, { paths }) {
    for (const text of POISON(paths[0]!)) await app.db.query({ text })
  },
  async calm({ app }, { paths }) {
    for (const text of CURE(paths[0]!)) await app.db.query({ text })
  },
  waiting: { what: 'its money to be released', most_s: 10, measure: awaitRelease },
}

const POISON = (id: string): string[] => [
  `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
     created_at, expires_at, end_to_end_id, payment_date, settles_at, booked)
   select '${id}', gen_random_uuid(), 'PIX', 500, 'COMPLETED', 'PAID', false, 'poison', at,
     at + interval '1 second', 'E' || gen_random_uuid(), at, at, false
   from generate_series(1, 2400) n, (select now() - interval '1 day' as at) past`,
  `create function refuse_poisoned() returns trigger language plpgsql as $$
   begin raise exception 'poisoned' using errcode = 'check_violation'; end $$`,
  `create trigger poisoned before insert or update on balances for each row
   when (new.company_id = '${id}') execute function refuse_poisoned()`,
  `create trigger poisoned before update on charges for each row
   when (new.company_id = '${id}') execute function refuse_poisoned()`,
]

const CURE = (id: string): string[] => [
  'drop function refuse_poisoned cascade',
  `delete from charges where company_id = '${id}' and br_code = 'poison'`,
]

async function awaitRelease(scene: Scene): Promise<void> {
  const shop = await scene.company()
  await scene.app.db.query({
    text: 'update companies set settlement_delay_s = 1 where id = $1',
    values: [shop.id],
  })
  const [charge] = await makeCharges(scene, shop, 1, { devMode: true })
  await call(scene, shop, `/charge/${charge!.id}/simulate-payment`, {})
  await until('the money is released', async () => {
    const { paymentStatus } = await call(scene, shop, `/charge/${charge!.id}/status`)
    return paymentStatus === 'RECEIVED' ? true : null
  })
}

export const NEIGHBOURS = {
  bodies,
  lists,
  crowd,
  clocks,
  receivers,
  mails,
  poisoned,
} satisfies Record<string, Attack>
