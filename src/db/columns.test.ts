import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { emptyDatabase } from '../../test/support/database.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { type Cents, toCents } from '../lib/money.ts'
import { bytes, dates, integers, texts, uuids } from './arrays.ts'
import { arrayParameters, companyTableOf, tableOf } from './columns.ts'
import { type Database, openDatabase } from './database.ts'

type Owner = { name: string; key: Buffer }
type Parcel = {
  id: string
  price: Cents
  dueOn: string
  owner: Owner | null
  labels: { color: string } | null
  notes: string[] | null
}

const PARCEL = tableOf<Parcel>({
  id: ['id', 'uuid'],
  price: ['price', 'cents'],
  dueOn: ['due_on', 'date'],
  owner: {
    columns: [
      ['owner_name', 'text', (owner) => owner?.name ?? null],
      ['owner_key', 'bytea', (owner) => owner?.key ?? null],
    ],
    read: ({ owner_name: name, owner_key: key }) =>
      name === null ? null : ({ name, key } as Owner),
  },
  labels: ['labels', 'json'],
  notes: ['notes', 'texts'],
})

const parcel: Parcel = {
  id: newId(),
  price: toCents(500),
  dueOn: '2026-09-07',
  owner: { name: 'Maria', key: Buffer.from('key') },
  labels: { color: 'red' },
  notes: ['fragile', 'say "a\\b"'],
}
const row = {
  id: parcel.id,
  price: 500,
  due_on: '2026-09-07',
  owner_name: 'Maria',
  owner_key: Buffer.from('key'),
  labels: { color: 'red' },
  notes: parcel.notes,
  search_index: Buffer.from('not a field'),
}

test('the parts of a statement name the same columns in the same order', () => {
  assert.equal(PARCEL.count, 7)
  assert.equal(PARCEL.names, 'id, price, due_on, owner_name, owner_key, labels, notes')
  assert.equal(
    PARCEL.parameters(2),
    '$2::uuid[], $3::int8[], $4::date[], $5::text[], $6::bytea[], $7::text[], $8::text[]',
  )
  assert.equal(
    PARCEL.select('p'),
    'p.id, p.price, p.due_on, p.owner_name, p.owner_key, p.labels, p.notes',
  )
  assert.equal(
    PARCEL.inserted('i', { owner_name: 'o.name' }),
    'i.id, i.price, i.due_on, o.name, i.owner_key, i.labels::jsonb, i.notes::text[]',
  )
  assert.deepEqual(PARCEL.values([parcel, { ...parcel, owner: null, labels: null, notes: null }]), [
    uuids([parcel.id, parcel.id]),
    integers([500, 500]),
    dates(['2026-09-07', '2026-09-07']),
    texts(['Maria', null]),
    bytes([Buffer.from('key'), null]),
    texts(['{"color":"red"}', null]),
    texts(['{"fragile","say \\"a\\\\b\\""}', null]),
  ])
})

test('rows are inserted from arrays', () => {
  assert.equal(
    PARCEL.only('id', 'dueOn').insertInto('parcels').replace(/\s+/g, ' '),
    'insert into parcels (id, due_on) select i.id, i.due_on ' +
      'from unnest($1::uuid[], $2::date[]) i (id, due_on)',
  )
})

test('a list of some columns has those alone, in the order of the table', () => {
  const some = PARCEL.only('owner', 'id')
  assert.equal(some.names, 'id, owner_name, owner_key')
  assert.equal(PARCEL.without('price', 'dueOn', 'labels', 'notes').names, some.names)
  assert.equal(PARCEL.only('dueOn', 'price').assigned('u'), 'price = u.price, due_on = u.due_on')
  assert.equal(some.values([parcel]).length, some.count)
})

test('a row is read into a record, without the columns that the record does not have', () => {
  assert.deepEqual(PARCEL.read(row), parcel)
  const nobody = { ...row, owner_name: null, owner_key: null }
  assert.deepEqual(PARCEL.read(nobody), { ...parcel, owner: null })
  assert.throws(() => PARCEL.read({ ...row, price: -1 }), /assertion/)
})

test('a name that is not plain is refused, because names become code', () => {
  assert.throws(() => tableOf<{ id: string }>({ id: ['id); drop', 'text'] }), /assertion/)
})

test('parameters can be numbered for arrays of no record too', () => {
  assert.equal(arrayParameters(7, ['uuid', 'date']), '$7::uuid[], $8::date[]')
})

type Letter = { companyId: Uuid; number: Uuid; status: 'SENT' | 'LOST'; from: Owner }
const LETTER = companyTableOf<Letter>(
  'letters',
  {
    companyId: ['company_id', 'uuid'],
    number: ['number', 'uuid'],
    status: ['status', 'text'],
    from: {
      columns: [['from_name', 'text', ({ name }) => name]],
      read: ({ from_name: name }) => ({ name, key: Buffer.alloc(0) }) as Owner,
    },
  },
  'number',
)

async function openLetters(): Promise<Database> {
  const db = openDatabase(await emptyDatabase(), 4)
  after(() => db.end())
  await db.query({
    text: `create table letters (company_id uuid, number uuid, status text, from_name text,
             primary key (company_id, number))`,
  })
  return db
}

const from = { name: 'Ana', key: Buffer.alloc(0) }
const letter = (companyId: Uuid, status: Letter['status']): Letter => ({
  companyId,
  number: newId(),
  status,
  from,
})

test('a record that is found for update is locked, and no other one is', async () => {
  const [db, companyId] = [await openLetters(), newId()]
  const [read, changed] = [letter(companyId, 'SENT'), letter(companyId, 'SENT')]
  await db.query({
    text: LETTER.insertInto('letters'),
    values: LETTER.values([read, changed]),
  })
  await db.transaction(async (tx) => {
    await LETTER.find(tx, companyId, read.number)
    await LETTER.find(tx, companyId, changed.number, 'for update')
    const free = await db.query({
      text: 'select number from letters where company_id = $1 for update skip locked',
      values: [companyId],
    })
    assert.deepEqual(free, [{ number: read.number }])
  })
})

test('records of a company are found by key and listed newest first, of that company alone', async () => {
  const db = await openLetters()
  const [ours, theirs] = [newId(), newId()]
  const [first, second, third] = (['SENT', 'LOST', 'SENT'] as const).map((status) =>
    letter(ours, status),
  ) as [Letter, Letter, Letter]
  const other = letter(theirs, 'SENT')
  await db.query({
    text: LETTER.insertInto('letters'),
    values: LETTER.values([second, other, third, first]),
  })

  assert.deepEqual(await LETTER.find(db, ours, second.number), second)
  assert.deepEqual(await LETTER.find(db, ours, second.number, 'for update'), second)
  assert.equal(await LETTER.find(db, ours, other.number), null)

  const page = { limit: 2, after: null }
  assert.deepEqual(await LETTER.list(db, ours, page), [third, second])
  assert.deepEqual(await LETTER.list(db, ours, { limit: 2, after: second.number }), [first])
  assert.deepEqual(await LETTER.list(db, ours, { ...page, status: null }), [third, second])
  assert.deepEqual(await LETTER.list(db, ours, { ...page, status: 'SENT' }), [third, first])
  const next = { limit: 2, after: third.number, status: 'SENT' } as const
  assert.deepEqual(await LETTER.list(db, ours, next), [first])
  await assert.rejects(LETTER.list(db, ours, { ...page, from }), /one column/)
  // @ts-expect-error The table has no such field.
  await assert.rejects(LETTER.list(db, ours, { ...page, color: 'red' }), /one column/)
})
