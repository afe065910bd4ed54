import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROUTES } from '../src/http/routes/all.ts'
import { packPair } from '../src/lib/ids.ts'
import { dynamicCode, recurrenceCode, staticCode } from '../src/pix/brcode.ts'
import { qrDataUrl } from '../src/pix/qr.ts'
import { LATEST } from '../src/versions/history.ts'

const FROZEN = join(import.meta.dirname, '..', 'test/versions/frozen', LATEST.name)
const MAX_ENTRIES = 2

type Json = unknown
type Answer = { status: number; body: Json }
type Body = { data: Json; errors: { code: string }[] }

const pad = (number: string, length: number) => number.padStart(length, '0')
const uuid = (number: string) => `0198dc8c-2360-7000-8000-${pad(number, 12)}`
const merchant = { name: 'Padaria Sao Joao', city: 'Sao Paulo' }
const location = (number: string) => `vintem.test/pix/01k3e8r8v0e008${pad(number, 12)}`

/** What replaces values that differ from run to run; see test/versions/freeze.ts. */
const SAMPLES: Record<string, (number: string) => string> = {
  uuid,
  token: (number) => packPair(uuid('1'), uuid(number)),
  delivery: (number) => packPair(uuid('1'), uuid(number)),
  endToEndId: (number) => `E99999999202608201500${pad(number, 11)}`,
  returnId: (number) => `D99999999202608201500${pad(number, 11)}`,
  externalRecurrenceId: (number) => `RR9999999920260820${pad(number, 11)}`,
  code: (number) => pad(number, 6),
  requestId: (number) => `01k3e8r8v0e008${pad(number, 12)}`,
  moment: () => '2026-08-20T15:00:00.000Z',
  key: () => 'vk_sandbox_…',
  secret: (number) => `whsec_${Buffer.alloc(32, `vintem ${number}`).toString('base64')}`,
}

const sampleOf = (kind: string, number: string): string =>
  SAMPLES[kind.trim()]?.(number) ?? `${kind}01k3e8r8v0e008${pad(number, 12)}`

const PLACEHOLDER = /<([A-Za-z]+[_ ])(\d+)>/g

function codeOf(field: string, operationId: string, number: string): string {
  if (/emv$/i.test(field)) return recurrenceCode({ ...merchant, location: location(number) })
  if (operationId === 'createStaticCode') {
    return staticCode({ ...merchant, key: 'dona@example.com', amount: 1 })
  }
  return dynamicCode({ ...merchant, location: location(number) })
}

/** A frozen answer with samples in its placeholders, and lists cut to their first entries. */
function fill(value: Json, operationId: string): Json {
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ENTRIES).map((one) => fill(one, operationId))
  }
  if (typeof value === 'string') {
    return value.replace(PLACEHOLDER, (_all, kind, number) => sampleOf(kind, number))
  }
  if (typeof value !== 'object' || value === null) return value
  let code = ''
  return Object.fromEntries(
    Object.entries(value).map(([field, inside]) => {
      const [, kind, number] = /^<(brCode|png) (\d+)>$/.exec(String(inside)) ?? []
      if (kind === 'brCode') code = codeOf(field, operationId, number!)
      if (kind) return [field, kind === 'png' ? qrDataUrl(code) : code]
      return [field, fill(inside, operationId)]
    }),
  )
}

function examplesOf(operationId: string): Json {
  const path = join(FROZEN, `${operationId}.json`)
  if (!existsSync(path)) return { json: [], refusals: {} }
  const { answers } = JSON.parse(readFileSync(path, 'utf8')) as { answers: Record<string, Answer> }
  const all = Object.entries(answers)
  const filled = (body: Json) => fill(body, operationId)
  const successes = all.filter(([, { status }]) => status < 300)
  const json = successes
    .filter(([, { body }]) => typeof body === 'object' && !isEmpty(body as Body))
    .map(([name, { body }]) => ({ name, data: filled((body as Body).data) }))
  const file = successes.find(([, { body }]) => typeof body === 'string')?.[1].body
  const refusals = all
    .filter(([, { status }]) => status >= 400)
    .map(([name, { body }]) => [name, filled((body as Body).errors)])
  return { json, ...(file ? { file: filled(file) } : {}), refusals: Object.fromEntries(refusals) }
}

/** A list with nothing in it shows nothing. */
const isEmpty = ({ data }: Body): boolean => Array.isArray(data) && data.length === 0

/** The examples of the OpenAPI document: the answers that the tests keep, made readable. */
export function exampleFile(): Record<string, string> {
  const all = Object.fromEntries(
    ROUTES.map(({ operationId }) => [operationId, examplesOf(operationId)]),
  )
  return { 'src/http/openapi/examples.json': `${JSON.stringify(all, null, 1)}\n` }
}
