import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { emptyDatabase } from '../../test/support/database.ts'
import { openDatabase, serializationConflict, type Tx } from './database.ts'
import { spanPlaces } from './spanning.ts'

const woken: string[] = []
// Registered before the end of the database, and so over before it.
after(() => Promise.all([db.end(), other.end()]))
const db = openDatabase(await emptyDatabase(), 4, {
  wake: (task) => woken.push(task),
  wrote: () => {},
})
const other = openDatabase(await emptyDatabase(), 4)
for (const one of [db, other]) await one.query({ text: 'create table written (text text)' })

const raising = (code: string) => ({ text: `do $$ begin raise sqlstate '${code}'; end $$` })
const write = (tx: Tx, text: string) =>
  tx.query({ text: 'insert into written values ($1)', values: [text] })
const written = async (text: string, at: Tx = db) =>
  (await at.query({ text: 'select from written where text = $1', values: [text] })).length

/** Writes, and then meets faults of the database, one each time it is run. */
async function failing(name: string, codes: string[]): Promise<{ runs: number }> {
  let runs = 0
  await db.transaction(async (tx) => {
    const code = codes[runs]
    runs += 1
    await write(tx, name)
    if (code !== undefined) await tx.query(raising(code))
  })
  return { runs }
}

test('a transaction that the database has broken off for another is run again, and counts once', async () => {
  for (const code of ['40001', '40P01', '57P01', '57P03', '08006', '25006', '25P03']) {
    assert.deepEqual(await failing(code, [code, code]), { runs: 3 }, code)
    assert.equal(await written(code), 1)
  }
})

test('two transactions that wait for each other are both carried out', async () => {
  await db.query({ text: 'create table places (id int primary key, visits int not null)' })
  await db.query({ text: 'insert into places values (1, 0), (2, 0)' })
  const both = { arrived: 0, open: () => {} }
  const arrived = new Promise<void>((resolve) => {
    both.open = resolve
  })
  const visit = (tx: Tx, id: number) =>
    tx.query({ text: 'update places set visits = visits + 1 where id = $1', values: [id] })
  let runs = 0
  const walk = (first: number, second: number) =>
    db.transaction(async (tx) => {
      runs += 1
      await tx.query({ text: `set local deadlock_timeout = '10ms'` })
      await visit(tx, first)
      both.arrived += 1
      if (both.arrived === 2) both.open()
      await arrived
      await visit(tx, second)
    })
  await Promise.all([walk(1, 2), walk(2, 1)])
  // PostgreSQL may break off both, if they look for the deadlock at the same moment.
  assert.ok(runs > 2, 'one of them was run again')
  const rows = await db.query({ text: 'select visits from places' })
  assert.deepEqual(rows, [{ visits: 2 }, { visits: 2 }])
})

test('a transaction is run five times at most', async () => {
  const codes = Array<string>(9).fill('40001')
  let runs = 0
  await assert.rejects(
    db.transaction(async (tx) => {
      runs += 1
      await tx.query(raising(codes[0]!))
    }),
    { code: '40001' },
  )
  assert.equal(runs, 5)
})

test('of statements that are sent together, the first that fails says why', async () => {
  const slowly = async (act: () => Promise<unknown>) => {
    const result = await act()
    return result
  }
  let runs = 0
  await db.transaction(async (tx) => {
    runs += 1
    const first = runs > 2 ? write(tx, 'together') : tx.query(raising('40P01'))
    await Promise.all([slowly(() => slowly(() => first)), write(tx, 'together')])
  })
  assert.deepEqual([runs, await written('together')], [3, 2])
})

test('what is no passing fault is not repeated', async () => {
  for (const code of ['23505', '22003', '42P01', '55P03', '57014']) {
    await assert.rejects(failing(code, [code]))
    assert.equal(await written(code), 0, code)
  }
  let runs = 0
  const failed = db.transaction(async () => {
    runs += 1
    throw new Error('a fault of ours')
  })
  await assert.rejects(failed, /a fault of ours/)
  assert.equal(runs, 1)
})

test('one that conflicts with another is run again', async () => {
  let runs = 0
  await db.transaction(async () => {
    runs += 1
    if (runs < 3) throw serializationConflict()
  })
  assert.equal(runs, 3)
})

test('a commit whose answer got lost is not repeated: it may have been carried out', async () => {
  await db.query({
    text: `create function cut() returns trigger language plpgsql as $$
           begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$`,
  })
  await db.query({ text: 'create table cut_off (text text)' })
  await db.query({
    text: `create constraint trigger cut after insert on cut_off deferrable initially deferred
           for each row execute function cut()`,
  })
  let runs = 0
  const lost = db.transaction(async (tx) => {
    runs += 1
    await tx.query({ text: `insert into cut_off values ('x')` })
    tx.wake('lost')
  })
  await assert.rejects(lost, { code: 'service_unavailable' })
  assert.equal(runs, 1)
  assert.ok(!woken.includes('lost'), 'nobody is woken for what may not be there')
})

test('a connection that is cut before the commit costs nothing: all is done on another one', async () => {
  let runs = 0
  await db.transaction(async (tx) => {
    runs += 1
    await write(tx, 'cut')
    if (runs === 1) await tx.query({ text: 'select pg_terminate_backend(pg_backend_pid())' })
  })
  assert.deepEqual([runs, await written('cut')], [2, 1])
})

test('a commit that was never sent is repeated: its connection was lost before', async () => {
  let runs = 0
  const cut = { text: 'select pg_terminate_backend(pg_backend_pid())' }
  await db.transaction(async (tx) => {
    runs += 1
    await write(tx, 'not sent')
    if (runs > 1) return
    await tx.query(cut).catch(() => {})
    // Fails when the connection is closed, which is after the server has said so.
    await tx.query(cut).catch(() => {})
  })
  assert.deepEqual([runs, await written('not sent')], [2, 1])
})

test('a connection that has refused to write is not used again', async () => {
  const pids: number[] = []
  await db.transaction(async (tx) => {
    const [row] = await tx.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })
    pids.push(row!.pid)
    if (pids.length < 3) {
      await tx.query({ text: 'set transaction read only' })
      await write(tx, 'read-only')
    }
  })
  assert.equal(new Set(pids).size, 3)
  assert.equal(await written('read-only'), 0)
})

test('tasks are woken once, when what they are woken for is committed', async () => {
  let runs = 0
  await db.transaction(async (tx) => {
    runs += 1
    tx.wake('mail')
    tx.wake('mail')
    assert.ok(!woken.includes('mail'))
    if (runs === 1) throw serializationConflict()
  })
  assert.equal(woken.filter((task) => task === 'mail').length, 1)
  const failed = db.transaction(async (tx) => {
    tx.wake('nothing')
    throw new Error('a fault of ours')
  })
  await assert.rejects(failed)
  assert.ok(!woken.includes('nothing'))
})

test('a statement that meets a passing fault is sent again, on every pool', async () => {
  await db.query({ text: 'create sequence tries' })
  await db.query({
    text: `create function fails_once(code text) returns bigint language plpgsql as $$
      declare n bigint := nextval('tries');
      begin
        if n % 2 = 1 then raise exception 'passing' using errcode = code; end if;
        return n;
      end $$`,
  })
  for (const code of ['40001', '40P01', '57P01', '57P03', '08006', '25006', '53300']) {
    for (const one of [db, db.hot, db.light]) {
      const rows = await one.query({ text: 'select fails_once($1)', values: [code] })
      assert.equal(rows.length, 1, code)
    }
  }
})

test('a statement that comes after the end of its transaction is not sent', async () => {
  const end = Promise.withResolvers<void>()
  const late: Promise<unknown>[] = []
  const failed = db.transaction(async (tx) => {
    late.push(end.promise.then(() => write(tx, 'late')))
    await tx.query(raising('P0001'))
  })
  await assert.rejects(failed)
  end.resolve()
  await assert.rejects(late[0]!, /before its transaction ends/)
  assert.equal(await written('late'), 0)
})

test('a statement goes on when its table gets a column, on every connection', async () => {
  const SIZE = 8
  const own = openDatabase(await emptyDatabase(), SIZE)
  const read = { name: 'read_places', text: 'select * from places' }
  const all = Array.from({ length: SIZE }, (_, i) => own.of(`company ${i}`))
  try {
    await own.query({ text: 'create table places (id int)' })
    await own.query({ text: 'insert into places values (1)' })
    const addColumn = async (name: string) => {
      let count = 0
      const ready = Promise.withResolvers<void>()
      const prepare = async (tx: Tx) => {
        await tx.query(read)
        count += 1
        if (count === SIZE) ready.resolve()
        await ready.promise
      }
      await Promise.all(all.map((one) => one.transaction(prepare)))
      await own.query({ text: `alter table places add column ${name} int` })
    }
    await addColumn('street')
    // One alone meets more connections than a transaction has attempts.
    assert.deepEqual(await own.transaction((tx) => tx.query(read)), [{ id: 1, street: null }])
    await addColumn('city')
    const rows = [{ id: 1, street: null, city: null }]
    assert.deepEqual(
      await Promise.all(all.map((one) => one.query(read))),
      all.map(() => rows),
    )
  } finally {
    await own.end()
  }
})

test('a transaction that has ended begins none in another database', async () => {
  const found = Promise.withResolvers<void>()
  const at = () => found.promise.then(() => other)
  const late: (Tx | Promise<Tx>)[] = []
  const failed = spanPlaces(db, { control: db, at }).transaction(async (_tx, control) => {
    late.push(control.at('a company of the other'))
    throw new Error('a fault of ours')
  })
  await assert.rejects(failed, /a fault of ours/)
  found.resolve()
  await assert.rejects(async () => late[0], /begins before its own ends/)
  const { idleCount, totalCount } = other.pools.requests
  assert.equal(idleCount, totalCount, 'no connection is kept')
})

/** A database of companies, whose control database is another one. */
const spanning = spanPlaces(db, { control: other, at: async () => db })

test('what fails just before the commit is undone in the control database too', async () => {
  const failed = spanning.transaction(async (tx, control) => {
    await write(control, 'undone')
    const fail = async () => {
      throw new Error('a fault of ours')
    }
    await tx.beforeCommit(fail, ['an entry'])
  })
  await assert.rejects(failed, /a fault of ours/)
  assert.equal(await written('undone', other), 0)
})

test('what the control database has committed is not written again if the other commit fails', async () => {
  await db.query({
    text: `create function conflict() returns trigger language plpgsql as $$
           begin raise sqlstate '40001'; end $$`,
  })
  await db.query({ text: 'create table conflicting (text text)' })
  await db.query({
    text: `create constraint trigger conflict after insert on conflicting
           deferrable initially deferred for each row execute function conflict()`,
  })
  const failed = spanning.transaction(async (tx, control) => {
    await write(control, 'once')
    await tx.query({ text: `insert into conflicting values ('x')` })
  })
  await assert.rejects(failed, { code: 'service_unavailable' })
  assert.equal(await written('once', other), 1)
})

test('a few bytes that are kept keep no more than 8 KiB', async () => {
  const [row] = await db.query<{ bytes: Buffer }>({ text: "select '\\x0102'::bytea as bytes" })
  assert.ok(row!.bytes.buffer.byteLength <= 8 * 1024)
})
