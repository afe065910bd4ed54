import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { invalid, type Problem } from '../lib/problems.ts'

// A body is taken as it is: "1000" is not a number. A query has nothing but text, so there it may
// be.
const options = { allErrors: true, verbose: true, strict: false, useDefaults: false } as const
const bodies = new Ajv(options)
const queries = new Ajv({ ...options, coerceTypes: true })
for (const ajv of [bodies, queries]) (addFormats as unknown as (ajv: Ajv) => void)(ajv)

/** A validator that throws one problem with every violation in it. */
export function validator(part: 'body' | 'query', schema: object): (value: unknown) => void {
  const validate: ValidateFunction = (part === 'body' ? bodies : queries).compile(schema)
  return (value) => {
    if (!validate(value)) throw toProblem(validate.errors ?? [])
  }
}

function toProblem(errors: ErrorObject[]): Problem {
  const [first, ...others] = [...new Set(errors.map(describe))]
  return invalid(first ?? 'body: is not valid', ...others)
}

function describe(error: ErrorObject): string {
  const path = pathOf(error)
  return `${path}: ${ruleOf(error)}`
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
      return `must be a ${params.format}, such as 2026-08-16T12:00:00Z`
    default:
      return own ?? (keyword === 'pattern' ? 'must not be blank' : 'is not valid')
  }
}
