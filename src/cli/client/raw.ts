import { readFileSync } from 'node:fs'
import { nextCursor } from '../../../packages/client/src/answer.ts'
import type { Method } from '../../../packages/client/src/index.ts'
import { type Args, ClientFault, type Command, type Option, UsageFault } from '../command.ts'
import { typedPath } from '../typed-path.ts'
import { connect, connectionOptions, readPiped, targetOf } from './connection.ts'
import { REPEAT } from './input.ts'
import { plain, plainLines } from './output.ts'
import { type BodySchema, readSet } from './set-fields.ts'

const QUERY = {
  query: { value: 'NAME=VALUE', many: true, help: 'a parameter, such as status=OPEN' },
} satisfies Record<string, Option>

const BODY = {
  set: {
    value: 'FIELD=VALUE',
    many: true,
    help: 'a field of the body, such as amount=1990 or customer.name=Ana',
  },
  data: {
    value: 'JSON',
    help: 'the body: JSON, @ and the name of a file, or - for standard input',
  },
} satisfies Record<string, Option>

/** A command that sends one request of this method to any path of the API. */
function requestCommand(
  method: Method,
  what: { summary: string; example: string; options: Record<string, Option> },
): Command {
  const { summary, example, options } = what
  return {
    name: method.toLowerCase(),
    summary,
    example,
    operands: ['path'],
    options: { ...connectionOptions, ...QUERY, ...options },
    async run(args) {
      const path = readPath(args.operands[0]!)
      const query = Object.fromEntries((args.lists.query ?? []).map(readParameter))
      const body = await bodyOf(method, path, args)
      const idempotencyKey = args.options['idempotency-key']
      // The simulated bank knows no Idempotency-Key: what is tried again could be paid twice.
      const more = path.startsWith('/bank/') ? { retries: 0 } : {}
      const answer = connect(args).request(
        method,
        path,
        { query, body },
        { idempotencyKey, ...more },
      )
      const { data, headers } = await answer.withResponse()
      const next = nextCursor(headers)
      if (next !== null) process.stderr.write(`There are more: --query after=${plain(next)}\n`)
      const text = typeof data === 'string' ? data : `${JSON.stringify(data, null, 2)}\n`
      return { json: data, text: plainLines(text) }
    },
  }
}

function readPath(text: string): string {
  if (!/^\w+:|^\/\/|[\s#]/.test(text)) return text.startsWith('/') ? text : `/${text}`
  throw new ClientFault(
    '<path>: must be a path of the API, such as /charge. --url names the server.',
  )
}

function readParameter(text: string): [name: string, value: string] {
  const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new ClientFault(`--query ${text}: must be name=value, such as status=OPEN.`)
}

async function bodyOf(method: Method, path: string, args: Args): Promise<object | undefined> {
  const { set } = args.lists
  const { data } = args.options
  if (set && data !== undefined) throw new UsageFault('The body is --data, or fields by --set.')
  if (data !== undefined) return readData(data)
  if (!set) return undefined
  const schema = await bodySchema(targetOf(args).url, method, path)
  const name = 'body'
  return readSet(`${method} ${path}`, [{ name, schema, linked: [] }], set)[name]
}

function readData(text: string): object {
  const source = text.startsWith('@') ? readFile(text.slice(1)) : text
  const json = text === '-' ? readPiped('--data -: pipe the body in.') : source
  try {
    const body = JSON.parse(json)
    if (typeof body === 'object' && body !== null) return body
  } catch {}
  throw new ClientFault('--data: must be a JSON object.')
}

function readFile(name: string): string {
  try {
    return readFileSync(typedPath(name), 'utf8')
  } catch {
    throw new ClientFault(`--data: there is no file ${name} that can be read.`)
  }
}

type Node = BodySchema & { $ref?: string }
type Contract = {
  paths: Record<
    string,
    Record<string, { requestBody?: { content: { 'application/json': { schema: Node } } } }>
  >
}

/** What the body may have, by the document of the server: it says which fields are numbers. */
async function bodySchema(url: string, method: Method, path: string): Promise<BodySchema> {
  const contract = await readContract(url)
  const [plainPath = ''] = path.split('?')
  // /charge/plan is of the form of /charge/{id} too, which takes no body.
  const body = Object.entries(contract.paths)
    .filter(([one]) => isPath(one, plainPath))
    .map(([, item]) => item[method.toLowerCase()]?.requestBody)
    .find((one) => one !== undefined)
  if (body) return resolved(contract, body.content['application/json'].schema)
  throw new ClientFault(
    `--set: the API of this server describes no body of ${method} ${plainPath}. Give it by --data.`,
  )
}

async function readContract(url: string): Promise<Contract> {
  const address = `${url}/openapi.json`
  try {
    const response = await fetch(address, { redirect: 'error' })
    const contract = (await response.json()) as Contract
    if (typeof contract.paths === 'object') return contract
  } catch {}
  throw new ClientFault(`--set: ${address} cannot be read. Give the body by --data.`)
}

/** Whether a path is of the form of another, such as /charge/{id}. */
const isPath = (form: string, path: string): boolean =>
  form.split('/').length === path.split('/').length &&
  form.split('/').every((part, i) => part.startsWith('{') || part === path.split('/')[i])

/** A schema with what it refers to. No body contains itself. */
function resolved(contract: Contract, { $ref, ...schema }: Node): BodySchema {
  if ($ref !== undefined) {
    const names = $ref.replace(/^#\//, '').split('/')
    const found = names.reduce<unknown>((at, name) => (at as Fields)[name], contract) as Node
    return resolved(contract, found)
  }
  const { properties, anyOf } = schema
  const fields = Object.entries(properties ?? {}).map(([name, one]) => [
    name,
    resolved(contract, one),
  ])
  return {
    ...schema,
    ...(anyOf ? { anyOf: anyOf.map((one) => resolved(contract, one)) } : {}),
    ...(properties ? { properties: Object.fromEntries(fields) } : {}),
  }
}

type Fields = Record<string, unknown>

const [CHARGE, CUSTOMER] = ['charge_01k4d5cjd4fv8sgzq9bqyr0vzj', 'clnt_01k4d5cjd4fv8sgzq9bqyr0vzj']

export const rawCommands = [
  requestCommand('GET', {
    summary: 'Ask for any path of the API, and print what it answers.',
    example: 'vintem get /charge --query status=OPEN',
    options: {},
  }),
  requestCommand('POST', {
    summary: 'Send a body to any path of the API. /docs of the server lists them.',
    example: `vintem post /charge/${CHARGE}/cancel`,
    options: { ...BODY, ...REPEAT },
  }),
  requestCommand('PUT', {
    summary: 'Change what any path of the API names.',
    example: `vintem put /client --set id=${CUSTOMER} --set phone=11988888888`,
    options: { ...BODY, ...REPEAT },
  }),
  requestCommand('DELETE', {
    summary: 'Delete what any path of the API names.',
    example: `vintem delete /client/${CUSTOMER}`,
    options: REPEAT,
  }),
]
