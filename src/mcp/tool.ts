import Type, { type Static, type TObject, type TProperties } from 'typebox'
import type { Company, Scope } from '../core/companies/rules.ts'
import { DayOrTime, orNull } from '../core/fields.ts'
import type { FullApp } from '../core/full-app.ts'
import type { Operated, OperationInput } from '../core/operate.ts'
import type { Dates } from '../core/recurrences/words.ts'
import { endOfPeriod, startOfPeriod } from '../pix/local-time.ts'

/** The company that an agent works for, and what its key allows. */
export type Caller = {
  /** With the company's clock and its share of the database. */
  app: FullApp
  company: Company
  can(scope: Scope): boolean
  /** Carries out an operation of the API. */
  operate<Data>(operationId: string, input?: OperationInput): Promise<Operated<Data>>
  /** Does what is no operation of the API, once for each idempotency key. */
  actOnce<Data>(name: string, input: Keyed, act: () => Promise<Data>): Promise<Data>
}

/** What a tool answers. */
type ToolAnswer<Data = object> = {
  /** A sentence in our own words. It never has text that a stranger has written. */
  text: string
  data: Data
}

export type Tool = {
  name: string
  title: string
  description: string
  /** A key without it does not see the tool. With a scope to write, the tool changes something. */
  scope: Scope
  /** Only companies in the sandbox have it. */
  isSandbox?: true
  /** Whether it ends something or sends money away. */
  isDestructive?: true
  input: TObject
  output: TObject
  run(caller: Caller, args: never): Promise<ToolAnswer>
}

/** Gives a tool the types of its schemas. */
export function tool<Input extends TObject, Output extends TObject>(
  definition: Omit<Tool, 'input' | 'output' | 'run'> & {
    input: Input
    output: Output
    run(caller: Caller, args: Static<Input>): Promise<ToolAnswer<Static<Output>>>
  },
): Tool {
  return definition
}

export const isWriting = ({ scope }: Pick<Tool, 'scope'>): boolean => scope.endsWith(':write')

/** The key has a prefix in the database, where it may have 255 characters. */
const IdempotencyKey = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[\\x20-\\x7e]*$',
  description:
    'A text of your own for this one change, such as a UUID. To try again after an error or a lost answer, send the same one: the change is made once.',
  'x-rule': 'must have 1 to 200 printable ASCII characters',
})

type Keyed = { idempotencyKey: string }

/** The arguments of a tool that changes something. */
export const writing = <Fields extends TProperties>(fields: Fields) =>
  Type.Object({ ...fields, idempotencyKey: IdempotencyKey })

/** The arguments as an operation takes them: what it changes, and the key. */
export function onceOf<Args extends Keyed>({ idempotencyKey: once, ...body }: Args) {
  return { body, once }
}

export const PAGE = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 50, description: 'At most this many; 20 by default' }),
  ),
  after: Type.Optional(
    Type.String({ maxLength: 255, description: 'The `next` of the page before' }),
  ),
}
export const PAGE_SIZE = 20
export const Next = orNull(Type.String({ description: 'Where the next page starts; null: none' }))

/** Arguments as the query of an operation, in which every value is a text. */
export function queryOf(args: object): Record<string, string> {
  const given = Object.entries({ limit: PAGE_SIZE, ...args })
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
}

/** What a list leaves out unless it is asked for, because an agent pays for each character. */
export const WITH_CODES = {
  withCodes: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Show also the Pix codes and the addresses of pages, which are long',
    }),
  ),
}

/** The start and the end of a period, as every list takes them. */
export const PERIOD = {
  from: Type.Optional(DayOrTime('At or after this moment, or from this day on')),
  to: Type.Optional(DayOrTime('Before this moment, or up to the end of this day')),
}

/** A period for an operation that takes moments only. */
export const momentsOf = ({ from, to }: { from: string | undefined; to: string | undefined }) => ({
  ...(from === undefined ? {} : { from: startOfPeriod(from).toISOString() }),
  ...(to === undefined ? {} : { to: endOfPeriod(to).toISOString() }),
})

/** Sentences write days and moments as the data have them. */
export const ISO: Dates = { day: (day) => day, moment: (at) => at.toISOString() }

/** The id of the record that a tool is about is its `id`, in arguments and answers. */
export const Id = (description: string) =>
  Type.String({ minLength: 1, maxLength: 255, description })

/** Some fields of a view, in the schema and in the record. */
export function pick<Shown extends object, const Names extends readonly (keyof Shown)[]>(
  shown: Shown,
  names: Names,
): Pick<Shown, Names[number]> {
  const given = names.filter((name) => shown[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, shown[name]])) as never
}

/** A record without some fields. */
export function omit<Shown extends object, const Names extends readonly (keyof Shown)[]>(
  shown: Shown,
  names: Names,
): Omit<Shown, Names[number]> {
  const given = Object.entries(shown).filter(([name]) => !names.includes(name as keyof Shown))
  return Object.fromEntries(given) as never
}

/** How many of something, in words. */
export const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`
