import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readTables } from '../../src/core/company-tables/tables.ts'
import { cancelMove, moveCompany, type Step } from '../../src/core/moves/move.ts'
import { verifyCopy } from '../../src/core/moves/verify.ts'
import { locate } from '../../src/core/places/directory.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { createClient } from '../../src/db/servers.ts'
import { changeTables, on } from '../citus/cluster.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { longTest, variants } from '../support/long.ts'
import { until } from '../support/until.ts'
import { killMoverAt, stopMoverAt } from './killed-mover.ts'

const api = await startApi({}, { places: 2 })
const apps = appsOf(api.app)
const places = { urls: api.places, from: 2, to: 1, workers_ms: 0, grace_ms: 0 }

async function pay(client: Client): Promise<void> {
  const made = await client.post('/charge/pix', { amount: 1000, customer: payer(), devMode: true })
  assert.equal(made.status, 201, made.text)
  const paid = await client.post(`/charge/${made.body.data.id}/simulate-payment`, {})
  assert.equal(paid.status, 200, paid.text)
}

async function makePaying(): Promise<Client> {
  const client = await api.client()
  await pay(client)
  return client
}

const settingsOf = (place: number, change: (name: string) => string) =>
  on(api.places[place - 1]!, async (client) => {
    const { rows } = await client.query<{ name: string }>('select current_database() as name')
    const settings = ['timezone', 'datestyle', 'bytea_output'].map(change)
    for (const setting of settings) await client.query(`alter database ${rows[0]!.name} ${setting}`)
  })

test('servers that write times and bytes in different ways have the same rows', async () => {
  const values: Record<string, string> = {
    timezone: `'America/Sao_Paulo'`,
    datestyle: `'SQL, DMY'`,
    bytea_output: `'escape'`,
  }
  const client = await makePaying()
  await settingsOf(2, (name) => `set ${name} = ${values[name]}`)
  try {
    await moveCompany({ companyId: client.company.id, ...places })
  } finally {
    await settingsOf(2, (name) => `reset ${name}`)
  }
  assert.equal(await locate(databases(), client.company.id), 0)
})

const databases = () => apps.map(({ db }) => db)

test('a large company is compared for longer than a transaction may be idle', async () => {
  const { id } = (await makePaying()).company
  const config = { idle_in_transaction_session_timeout: 100 }
  const [source, target] = [api.places[1]!, api.places[0]!].map((url) => createClient(url, config))
  await Promise.all([source!.connect(), target!.connect()])
  try {
    const tables = (await readTables(source!)).filter(({ name }) => name === 'postings')
    const ends = { source: source!, target: target!, tables, changers: {} as never }
    assert.ok((await verifyCopy(ends, id, () => pause(300))) > 0)
  } finally {
    await Promise.all([source!.end(), target!.end()])
  }
})

test('what another move has left behind does not decide where the company comes from', async () => {
  const { id } = (await makePaying()).company
  await apps[0]!.db.query({
    text: `insert into company_moves (company_id, state, other_place) values ($1, 'arriving', 3)`,
    values: [id],
  })
  await killMoverAt(api, id, 'left')
  assert.equal(await locate(databases(), id), 0)
  await moveCompany({ companyId: id, ...places })
})

test('who writes to the old place after its rows are removed is refused', async () => {
  const { id } = (await makePaying()).company
  await moveCompany({ companyId: id, ...places })
  const late = apps[1]!.db.query({
    text: 'insert into feeds (company_id, last) values ($1, 1)',
    values: [id],
  })
  await assert.rejects(late, { code: '23503' })
})

/** What the new place does with rows of a table, and the sentence with which the move stops. */
const SPOILED = [
  ['postings', `new.ref := 'x' || new.ref; return new`, /^The copied books differ\. Nothing was/],
  ['products', 'return null', /^The copies differ \(products: 1, 0\)\. Nothing was changed\.$/],
  ['feeds', 'new.last := new.last + 1; return new', /^The copies of feeds differ\. Nothing was/],
  ['balances', 'new.held := new.held + 1; return new', /^The (copies of balances|books) d/],
  [
    'products',
    `if new.name = 'Broa' then new.price := 1; end if; return new`,
    /^The copies of products differ\. Nothing was changed\.$/,
  ],
] as const

for (const [table, body, sentence] of variants(SPOILED)) {
  test(`a move stops if the new place has other rows than the old one (${table}: ${body})`, async (t) => {
    const client = await makePaying()
    const { id: companyId } = client.company
    const made = await client.post('/product', { name: 'Pão', description: 'x', price: 100 })
    const change = (text: string) => changeTables(api.places[0]!, text)
    await change(`create function spoil() returns trigger language plpgsql
      as $$ begin ${body}; end $$`)
    t.after(() => change('drop function spoil() cascade'))
    await change(`create trigger spoil before insert or update on ${table}
      for each row execute function spoil()`)
    const onStep = async (step: Step) => {
      // What is written after the comparison is compared by itself.
      if (step !== 'caught up') return
      const path = `/product/${made.body.data.id}`
      assert.equal((await client.put(path, { name: 'Broa' })).status, 200)
    }
    const moving = moveCompany({ companyId, ...places, onStep })
    await assert.rejects(moving, ({ message }) => sentence.test(message) || assert.fail(message))
    assert.equal(await locate(databases(), companyId), 1)
    await pay(client)
    await cancelMove({ companyId, ...places })
    const left = { text: 'select from charges where company_id = $1', values: [companyId] }
    assert.deepEqual((await apps[0]!.db.query(left)).length, 0)
    assert.equal((await client.get('/charge')).body.data.length, 2)
  })
}

test('a company whose books differ does not move', async () => {
  const client = await makePaying()
  const { id: companyId } = client.company
  await api.rows('update balances set held = held + 1 where company_id = $1', [companyId])
  const steps: Step[] = []
  const onStep = (step: Step) => void steps.push(step)
  await assert.rejects(moveCompany({ companyId, ...places, onStep }), {
    message: /^The books do not agree \(held is 1, its postings make 0\)\. Nothing was changed/,
  })
  assert.deepEqual(steps, ['prepared', 'copied'], 'nobody was locked out for it')
  assert.equal(await locate(databases(), companyId), 1)
  await pay(client)
})

test('a move stops if the books of the new place do not go on from what was compared', async () => {
  const client = await makePaying()
  const { id: companyId } = client.company
  const onStep = async (step: Step) => {
    if (step !== 'caught up') return
    await on(api.places[0]!, async (other) => {
      // Triggers keep postings as they are.
      await other.query('set session_replication_role = replica')
      await other.query('delete from postings where company_id = $1', [companyId])
    })
  }
  await assert.rejects(moveCompany({ companyId, ...places, onStep }), {
    message: /^The books do not agree .*Nothing was changed/,
  })
  assert.equal(await locate(databases(), companyId), 1)
  await pay(client)
})

longTest(
  'payments are counted once if the old place does not let the company go at first',
  async () => {
    const client = await makePaying()
    const { id } = client.company
    const totalsIn = (place: number) =>
      apps[place - 1]!.db.query({
        text: `select sum(received)::text as received from hourly_totals where company_id = $1`,
        values: [id],
      })
    await apps[1]!.db.query({
      text: `insert into counted_hours values ($1, '2000-01-01', '2000-01-01', '2100-01-01')`,
      values: [id],
    })
    let paid: Promise<unknown> | null = null
    /** Holds the row that says where the company is, until the mover has given up once. */
    const hold = () =>
      on(api.places[1]!, async (other) => {
        await other.query('begin')
        await other.query('select 1 from company_moves where company_id = $1 for update', [id])
        held.resolve()
        await pause(1_600)
        await other.query('rollback')
        await until('a payment', async () =>
          pay(client).then(
            () => true,
            () => null,
          ),
        )
      })
    const held = Promise.withResolvers<void>()
    const onStep = async (step: Step) => {
      if (step !== 'ready' || paid) return
      paid = hold()
      await held.promise
    }
    await pay(client)
    const { refused_ms } = await moveCompany({ companyId: id, ...places, onStep })
    await paid
    assert.ok(refused_ms > 1_500, 'the first attempt is counted too')
    assert.deepEqual(await totalsIn(1), [{ received: '2000' }])
  },
)

longTest('a mover that hangs refuses the company for 5 seconds at most', async () => {
  const client = await makePaying()
  const mover = await stopMoverAt(api, client.company.id, 'locked')
  try {
    const start_ms = performance.now()
    await until(
      'a payment',
      async () =>
        pay(client).then(
          () => true,
          () => null,
        ),
      60,
    )
    assert.ok(performance.now() - start_ms < 10_000, 'below what a transaction may be idle')
  } finally {
    await mover.kill()
  }
  await moveCompany({ companyId: client.company.id, ...places })
})

test('what changes while changes are copied is copied too', async () => {
  const client = await makePaying()
  const { id: companyId } = client.company
  const made = await client.post('/product', { name: 'Pão', description: 'x', price: 500 })
  assert.equal(made.status, 201, made.text)
  const reprice = async (price: number) => {
    const { status, text } = await client.put(`/product/${made.body.data.id}`, { price })
    assert.equal(status, 200, text)
  }
  const holding: Promise<void>[] = []
  const onStep = async (step: Step) => {
    if (step !== 'copied') return
    await reprice(600)
    const held = Promise.withResolvers<void>()
    const hold = on(api.places[0]!, async (holder) => {
      await holder.query('begin')
      await holder.query('lock table products in share mode')
      held.resolve()
      await until('the mover waits', async () => {
        const { rowCount } = await holder.query(
          `select from pg_locks where not granted and relation = 'products'::regclass`,
        )
        return rowCount! > 0
      })
      await reprice(700)
      await holder.query('commit')
    })
    holding.push(hold)
    await held.promise
  }
  await moveCompany({ companyId, ...places, onStep })
  await Promise.all(holding)
  const { body } = await client.get(`/product/${made.body.data.id}`)
  assert.equal(body.data.price, 700)
})
