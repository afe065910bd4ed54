import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { allInvalid } from '../lib/problems.ts'

// A body is taken as it is: "1000" is not a number. A query has nothing but text, so there it may.
const options = { allErrors: true, verbose: true, strict: false, useDefaults: false } as const
const bodies = new Ajv(options)
const queries = new Ajv({ ...options, coerceTypes: true })

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i
const FORMATS = {
  'date-time': (text: string) => DATE_TIME.test(text) && !Number.isNaN(Date.parse(text)),
  'http-url': URL.canParse,
}
for (const [name, format] of Object.entries(FORMATS)) {
  bodies.addFormat(name, format)
  queries.addFormat(name, format)
}

/** Lists what breaks the schema, each line starting with the path of its field. */
export function validator(part: 'body' | 'query', schema: object): (value: unknown) => string[] {
  const validate: ValidateFunction = (part === 'body' ? bodies : queries).compile(schema)
  return (value) => {
    if (validate(value)) return []
    return (validate.errors ?? []).map((error) => `${pathOf(error)}: ${ruleOf(error)}`)
  }
}

/** Throws if anything was found. Each field is listed once: one line is enough to correct it. */
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
