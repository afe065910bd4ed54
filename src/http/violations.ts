import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { isUuid } from '../lib/ids.ts'
import { allInvalid } from '../lib/problems.ts'
import { isLocalDate } from '../pix/local-time.ts'
import { plainPixKey } from '../pix/pix-key.ts'
import { canonical } from './body.ts'
import type { Schema } from './schema.ts'

// In a body "1000" is not a number. In a query it may be one, because a query has only text.
const options = {
  allErrors: true,
  verbose: true,
  strict: false,
  useDefaults: false,
  // The schemas are ours, and to compile the schema of schemas takes longer than any of them.
  meta: false,
  validateSchema: false,
  code: { regExp: boundedExpression },
  logger: { log: refuse, warn: refuse, error: refuse },
} as const
/** Without this a format that is not known lets everything pass, and only a log says so. */
function refuse(...words: unknown[]): never {
  throw new Error(words.join(' '))
}

const bodies = new Ajv(options)
const queries = new Ajv({ ...options, coerceTypes: true })

/**
 * The longest text that is matched against a pattern or a format. It is twice the longest length of
 * any field. Longer texts are refused by their length.
 */
const MAX_MATCHED = 8192

function boundedExpression(pattern: string, flags: string) {
  const expression = new RegExp(pattern, flags)
  return {
    test: (text: string) => text.length <= MAX_MATCHED && expression.test(text),
    // Ajv caches expressions by their text.
    toString: () => String(expression),
  }
}
// Ajv requires this property. It is the code for validators that are generated as files.
boundedExpression.code = 'boundedExpression'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i
const isDateTime = (text: string) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text))
const FORMATS = {
  'date-time': isDateTime,
  date: isLocalDate,
  'day-or-time': (text: string) => isLocalDate(text) || isDateTime(text),
  'http-url': URL.canParse,
  uuid: (text: string) => isUuid(text.toLowerCase()),
  'pix-key': (text: string) => plainPixKey(text) !== null,
}
for (const ajv of [bodies, queries]) {
  for (const [name, format] of Object.entries(FORMATS)) {
    ajv.addFormat(name, (text: string) => text.length <= MAX_MATCHED && format(text))
  }
  // Replaced, because Ajv compares every item with every other one.
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    validate: (isRequired: boolean, items: unknown[]) => !isRequired || areDistinct(items),
    errors: false,
  })
}

const compiled = {
  body: new WeakMap<Schema, ValidateFunction>(),
  query: new WeakMap<Schema, ValidateFunction>(),
}

/**
 * Compiles a schema once in a process, also for several servers, and when it is first used: all of
 * them take a quarter of a start.
 */
function compile(part: 'body' | 'query', schema: Schema): ValidateFunction {
  const known = compiled[part].get(schema)
  if (known) return known
  const ajv = part === 'body' ? bodies : queries
  const validate = ajv.compile(skipLongLists(schema))
  compiled[part].set(schema, validate)
  return validate
}

/** Lists the violations of the schema. Each line starts with the path of its field. */
export function validator(part: 'body' | 'query', schema: Schema): (value: unknown) => string[] {
  return (value) => {
    const validate = compile(part, schema)
    if (validate(value)) return []
    return (validate.errors ?? [])
      .filter(({ keyword }) => keyword !== 'if')
      .map((error) => `${pathOf(error)}: ${ruleOf(error)}`)
  }
}

/**
 * The same schema, but items of a list are checked only if there are not too many, and if the
 * operation does not check each of them itself.
 */
function skipLongLists(schema: Schema): Schema {
  const { properties, items, uniqueItems, 'x-each': isEach, ...rest } = schema
  const { maxItems } = rest
  const inner = items && !isEach && skipLongLists(items)
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, skipLongLists(field)]),
      ),
    }),
    ...(inner && boundItems(maxItems, { items: inner, ...(uniqueItems && { uniqueItems }) })),
  }
}

const boundItems = (maxItems: number | undefined, rules: Schema) =>
  maxItems === undefined ? rules : { if: { minItems: maxItems + 1 }, else: rules }

/** Takes linear time. */
const areDistinct = (items: unknown[]): boolean =>
  new Set(items.map((item) => canonical(item))).size === items.length

/** Throws if there are faults. Each field is listed once, with its first fault. */
export function requireNone(faults: string[]): void {
  const byPath = new Map<string, string>()
  for (const fault of faults) {
    const path = fault.slice(0, fault.indexOf(':'))
    if (!byPath.has(path)) byPath.set(path, fault)
  }
  const [first, ...others] = byPath.values()
  if (first !== undefined) throw allInvalid([first, ...others])
}

/** items[0].productId, customer.taxId; the body itself is "body". */
function pathOf({ instancePath, keyword, params }: ErrorObject): string {
  const parts = instancePath.split('/').slice(1)
  if (keyword === 'required') parts.push((params as { missingProperty: string }).missingProperty)
  const path = parts.reduce((all, part) => {
    if (/^\d+$/.test(part)) return `${all}[${part}]`
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    return all === '' ? name : `${all}.${name}`
  }, '')
  return path === '' ? 'body' : path
}

const TYPE_NAMES: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

function ruleOf({ keyword, params, parentSchema }: ErrorObject): string {
  const own = (parentSchema as { 'x-rule'?: string } | undefined)?.['x-rule']
  switch (keyword) {
    case 'required':
      return 'is required'
    case 'type':
      return `must be ${[params.type]
        .flat()
        .map((type: string) => TYPE_NAMES[type])
        .join(' or ')}`
    case 'minimum':
      return `must be at least ${params.limit}`
    case 'maximum':
      return `must be at most ${params.limit}`
    case 'minLength':
      return params.limit === 1
        ? 'must not be empty'
        : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minItems':
      return `must have at least ${params.limit} item(s)`
    case 'maxItems':
      return `must have at most ${params.limit} items`
    case 'uniqueItems':
      return 'must not repeat an item'
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`
    case 'format':
      return own ?? `must be a ${params.format}`
    default:
      return own ?? (keyword === 'pattern' ? 'must not be blank' : 'is not valid')
  }
}
