import { assert } from '../lib/assert.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Cents, toCents } from '../lib/money.ts'
import { booleans, bytes, dates, integers, texts, timestamps, uuids } from './arrays.ts'
import type { Row, Tx } from './database.ts'

type SqlType = {
  /** The type of an array of such values, as a parameter. */
  array: string
  encode(values: never[]): Buffer
  /** The type of the column, if the array has another. */
  cast?: string
  /** Makes the value of what the driver has read. */
  read?(value: never): unknown
}

const TYPES = {
  uuid: { array: 'uuid', encode: uuids },
  text: { array: 'text', encode: texts },
  int8: { array: 'int8', encode: integers },
  cents: { array: 'int8', encode: integers, read: toCents },
  bool: { array: 'bool', encode: booleans },
  bytea: { array: 'bytea', encode: bytes },
  timestamptz: { array: 'timestamptz', encode: timestamps },
  date: { array: 'date', encode: dates },
  json: {
    array: 'text',
    encode: (values: (object | null)[]) => texts(values.map((one) => one && JSON.stringify(one))),
    cast: 'jsonb',
  },
  // An array of arrays would be flattened by `unnest`, so each is sent as text.
  texts: {
    array: 'text',
    encode: (values: (string[] | null)[]) => texts(values.map((one) => one && arrayLiteral(one))),
    cast: 'text[]',
  },
  uuids: {
    array: 'text',
    encode: (values: (string[] | null)[]) => texts(values.map((one) => one && arrayLiteral(one))),
    cast: 'uuid[]',
  },
} satisfies Record<string, SqlType>

/** A text array as PostgreSQL reads it: `{"a","b"}`. */
const arrayLiteral = (items: string[]): string =>
  `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

type TypeName = keyof typeof TYPES

/** The types that a column of a field can have. */
type TypeNameOf<Value> = [Value] extends [Cents | null]
  ? 'cents'
  : [Value] extends [number | null]
    ? 'int8'
    : [Value] extends [boolean | null]
      ? 'bool'
      : [Value] extends [string | null]
        ? 'uuid' | 'text' | 'date'
        : [Value] extends [Date | null]
          ? 'timestamptz'
          : [Value] extends [Buffer | null]
            ? 'bytea'
            : [Value] extends [string[] | null]
              ? 'texts' | 'uuids'
              : 'json'

/** A field that has several columns. */
export type ColumnGroup<Value> = {
  columns: readonly (readonly [name: string, type: TypeName, of: (value: Value) => unknown])[]
  read(row: Row): Value
}

/** The columns of every field of a record. A field that is missing here is a type error. */
export type Columns<T> = {
  [Field in keyof T]: readonly [name: string, type: TypeNameOf<T[Field]>] | ColumnGroup<T[Field]>
}

/** Some columns of a table, and the parts of statements that name them. */
export type ColumnList<T> = {
  count: number
  /** `a, b` */
  names: string
  /** For a select list: `t.a, t.b`. */
  select(table: string): string
  /** For `unnest`: `$2::uuid[], $3::text[]`. */
  parameters(first: number): string
  /** What an insert takes from arrays: `i.a, i.b`. Some can be taken from elsewhere. */
  inserted(source: string, instead?: Record<string, string>): string
  /** A statement that inserts rows from the arrays, its only parameters. */
  insertInto(table: string): string
  /** What an update takes from arrays: `a = u.a, b = u.b`. */
  assigned(source: string): string
  /** The arrays, in the order of the names. */
  values(records: T[]): Buffer[]
}

export type Table<T> = ColumnList<T> & {
  read(row: Row): T
  only(...fields: (keyof T)[]): ColumnList<T>
  without(...fields: (keyof T)[]): ColumnList<T>
}

/** A part of a list: so many records, after the last one of the part before. */
export type Part = { limit: number; after: Uuid | null }

/** A table whose records belong to companies, with the statements that most of them need. */
export type CompanyTable<T> = Table<T> & {
  find(tx: Tx, companyId: Uuid, id: Uuid, lock?: 'for update' | ''): Promise<T | null>
  /** The newest first, of those that have the values. A value that is null counts for all. */
  list(
    tx: Tx,
    companyId: Uuid,
    filter: Part & { [Field in keyof T]?: T[Field] | null },
  ): Promise<T[]>
}

type Column<T> = { name: string; type: TypeName; of(record: T): unknown }
/** A field with its columns, and how it is read from a row if it has several. */
type Field<T> = { field: string; columns: Column<T>[]; read: ((row: Row) => unknown) | null }

export function tableOf<T>(columns: Columns<T>): Table<T> {
  const names = Object.keys(columns) as (keyof T & string)[]
  const fields = names.map((name) => fieldOf<T, typeof name>(name, columns[name]))
  const listWhere = (isIn: (field: keyof T) => boolean) =>
    listOf(fields.filter(({ field }) => isIn(field as keyof T)))
  return {
    ...listOf(fields),
    read: compile<T>(fields),
    only: (...some) => listWhere((field) => some.includes(field)),
    without: (...some) => listWhere((field) => !some.includes(field)),
  }
}

/** The key is what tells the records of a company apart. */
export function companyTableOf<T extends { companyId: Uuid }>(
  name: string,
  columns: Columns<T>,
  key: keyof T & string = 'id' as keyof T & string,
): CompanyTable<T> {
  const table = tableOf(columns)
  const select = `select ${table.names} from ${name} where company_id = $1`
  const columnOf = (field: string): string => {
    const column = columns[field as keyof T]
    assert(Array.isArray(column), 'a record is found by a field with one column')
    return column[0]
  }
  const id = columnOf(key)
  return {
    ...table,
    async find(tx, companyId, value, lock = '') {
      const text = `${select} and ${id} = $2 ${lock}`
      const [row] = await tx.query({ text, values: [companyId, value] })
      return row ? table.read(row) : null
    },
    async list(tx, companyId, { limit, after, ...wanted }) {
      const values: unknown[] = [companyId, limit]
      const conditions = Object.entries(wanted)
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([field, value]) => `and ${columnOf(field)} = $${values.push(value)}`)
      if (after !== null) conditions.push(`and ${id} < $${values.push(after)}`)
      const text = `${select} ${conditions.join(' ')} order by ${id} desc limit $2`
      return (await tx.query({ text, values })).map(table.read)
    },
  }
}

/**
 * Records that are found by any of several values, newest first. While a secret is replaced they
 * may have either of two hashes; else there is one value, and so one statement.
 */
export async function newestOf<V, T extends { id: Uuid }>(
  values: readonly V[],
  limit: number,
  find: (value: V) => Promise<T[]>,
): Promise<T[]> {
  if (values.length === 1) return find(values[0]!)
  const found = new Map<Uuid, T>()
  for (const value of values) for (const one of await find(value)) found.set(one.id, one)
  return [...found.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
}

function fieldOf<T, Name extends keyof T & string>(
  field: Name,
  column: Columns<T>[Name],
): Field<T> {
  if ('columns' in column) {
    const columns = column.columns.map(([name, type, of]) => ({
      name,
      type,
      of: (record: T) => of(record[field]),
    }))
    return { field, columns, read: column.read }
  }
  const [name, type] = column
  return { field, columns: [{ name, type, of: (record) => record[field] }], read: null }
}

function listOf<T>(fields: Field<T>[]): ColumnList<T> {
  const list = fields.flatMap(({ columns }) =>
    columns.map((column) => ({ ...column, type: TYPES[column.type] as SqlType })),
  )
  const join = (part: (column: (typeof list)[number], i: number) => string) =>
    list.map(part).join(', ')
  const cast = (value: string, { cast }: SqlType) => (cast ? `${value}::${cast}` : value)
  const names = join(({ name }) => name)
  const parameters = (first: number) => join(({ type }, i) => `$${first + i}::${type.array}[]`)
  const inserted = (source: string, instead: Record<string, string> = {}) =>
    join(({ name, type }) => cast(instead[name] ?? `${source}.${name}`, type))
  return {
    count: list.length,
    names,
    select: (table) => join(({ name }) => `${table}.${name}`),
    parameters,
    inserted,
    insertInto: (table) =>
      `insert into ${table} (${names}) select ${inserted('i')}
       from unnest(${parameters(1)}) i (${names})`,
    assigned: (source) => join(({ name, type }) => `${name} = ${cast(`${source}.${name}`, type)}`),
    values: (records) => list.map(({ type, of }) => type.encode(records.map(of) as never[])),
  }
}

/**
 * Makes a function out of the names of columns, once for each list. A loop over the names takes
 * twenty times as long per row, because the engine cannot know which field is next.
 */
function compile<T>(fields: Field<T>[]): (row: Row) => T {
  const properties = fields.map(({ field, columns: [column], read }) => {
    if (read) return `${identifier(field)}: groups.${field}(row)`
    const value = `row.${identifier(column!.name)}`
    const { read: convert } = TYPES[column!.type] as SqlType
    return `${identifier(field)}: ${convert ? `types.${column!.type}.read(${value})` : value}`
  })
  const groups = Object.fromEntries(fields.map(({ field, read }) => [field, read]))
  const body = `return (row) => ({ ${properties.join(', ')} })`
  return new Function('types', 'groups', body)(TYPES, groups)
}

function identifier(name: string): string {
  assert(/^[a-z]\w*$/i.test(name), 'a column and its field have plain names')
  return name
}

/** Array parameters of these types, from the first on: `$2::uuid[], $3::text[]`. */
export const arrayParameters = (first: number, types: readonly TypeName[]): string =>
  types.map((type, i) => `$${first + i}::${TYPES[type].array}[]`).join(', ')
