import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'
import { parse } from 'yaml'

// biome-ignore lint/suspicious/noExplicitAny: the document is walked as the tree that it is
type Tree = any

/** One operation of the Central Bank's document. */
export type Operation = {
  method: string
  /** As the document writes it: `/cob/{txid}`. */
  path: string
  scopes: string[]
  form: RegExp
  tree: Tree
  parameters: Tree[]
}

export type CallbackKind = 'pix' | 'rec' | 'cobr'

/** What makes strict validation refuse legitimate traffic, or let wrong traffic pass. */
const PATCHES: { reason: string; apply(document: Tree): void }[] = [
  {
    reason: 'the payload locations are not called by receivers, and collide with /cobv and /rec',
    apply: ({ paths }) => {
      for (const path of Object.keys(paths)) if (/UrlAccessToken}$/.test(path)) delete paths[path]
    },
  },
  {
    reason: 'patterns such as the one of a CPF are written with the slashes of JavaScript',
    apply: (document) =>
      walk(document, (node) => {
        const inner = /^\/(.*)\/$/.exec(patternOf(node))
        if (inner) node.pattern = inner[1]
      }),
  },
  {
    reason: 'a pattern without anchors lets everything pass that holds a match',
    apply: (document) =>
      walk(document, (node) => {
        if (patternOf(node) && !node.pattern.startsWith('^')) node.pattern = `^(?:${node.pattern})$`
      }),
  },
  {
    reason: 'a Pix to a static code has a txid of up to 25, shorter than that of a charge',
    apply: (document) =>
      walk(document, (node) => {
        const own = node.allOf?.find((one: Tree) => /\{1,35\}/.test(one.pattern ?? ''))
        if (own) node.allOf = [{ type: 'string', ...own }]
      }),
  },
  {
    reason: 'a location has no scheme, so it is no URI',
    apply: (document) =>
      walk(document, (node) => {
        if (node.location?.format === 'uri') delete node.location.format
      }),
  },
  {
    reason: 'idRec is not known before a recurrence is created, and no `retentativa` exists',
    apply: ({ schemas }) => {
      schemas.RecBase.required = ['vinculo', 'calendario']
    },
  },
  {
    reason: 'the key `atualizacao"` has a stray quotation mark',
    apply: ({ schemas }) => {
      schemas.RecNotification.required = ['idRec', 'status', 'atualizacao']
    },
  },
  {
    reason: 'a list of Pix has `pix`, and no `cobs`',
    apply: ({ schemas }) => {
      schemas.PixConsultados.required = ['parametros', 'pix']
    },
  },
  {
    reason: 'no location of a recurrence has the `tipo` that is required of it',
    apply: ({ schemas }) => {
      schemas.PayloadLocationRecGerada.required = ['id', 'location', 'criacao']
    },
  },
  {
    reason: 'a recurrence has no payer before it is approved, and the bank of one is in `pagador`',
    apply: ({ schemas }) => {
      delete schemas.DadosPagadorRec.required
    },
  },
  {
    reason: 'both forms of an end are made of optional parts, so that each end has both',
    apply: ({ schemas }) => {
      for (const { properties } of [schemas.RecEncerramento, schemas.CobRAtualizacao])
        anyInsteadOfOne(properties.encerramento)
    },
  },
  {
    reason: 'the value of an automatic Pix is a text and cannot be one of these objects too',
    apply: ({ schemas }) => {
      delete schemas.PixAutomatico.properties.valor.anyOf
    },
  },
  {
    reason: 'the address of a receiver is in `recebedor`, and not beside it',
    apply: ({ schemas }) => {
      delete schemas.DadosRecebedor.required
    },
  },
  {
    reason: 'a discount for each day has also the form of one without days',
    apply: ({ schemas }) => anyInsteadOfOne(schemas.CobVValor.properties.desconto),
  },
  {
    reason: 'no charge with a due date has the `idCob` that a list requires of it',
    apply: ({ schemas }) => {
      schemas.CobsVConsultadas.properties.cobs.items.allOf.pop()
    },
  },
  {
    reason: 'a webhook names its key and no CNPJ, as the examples do',
    apply: ({ schemas }) => {
      schemas.WebhookCompleto.required = ['webhookUrl', 'chave', 'criacao']
      schemas.WebhookCompleto.properties.chave = { type: 'string', maxLength: 77 }
    },
  },
]

const patternOf = (node: Tree): string => (typeof node.pattern === 'string' ? node.pattern : '')

function anyInsteadOfOne(node: Tree): void {
  node.anyOf = node.oneOf
  delete node.oneOf
}

function walk(node: Tree, visit: (node: Tree) => void): void {
  if (node === null || typeof node !== 'object') return
  if (!Array.isArray(node)) visit(node)
  for (const child of Object.values(node)) walk(child, visit)
}

const PROSE = /^( *)(?:description|title|summary|examples?|tags): */
const UNUSED = /^( {2})"?\/(?:lotecobv|loc|solicrec)\b/

/** The lines that are read: to parse prose, examples and other resources takes most of the time. */
function neededLines(text: string): string[] {
  let skipped = Number.POSITIVE_INFINITY
  return text.split('\n').filter((line) => {
    const indent = line.search(/\S/)
    if (indent === -1 || indent > skipped) return false
    const found = PROSE.exec(line) ?? UNUSED.exec(line)
    skipped = found ? indent : Number.POSITIVE_INFINITY
    return !found
  })
}

function readDocument(): Tree {
  const text = readFileSync(join(import.meta.dirname, 'bacen-api-pix-2.9.0.yaml'), 'utf8')
  const lines = neededLines(text.slice(text.indexOf('\npaths:')))
  const options = { uniqueKeys: false, prettyErrors: false } as const
  const { paths, components } = parse(lines.join('\n'), options)
  const document = { paths, ...components }
  for (const { apply } of PATCHES) apply(document)
  return document
}

export type Document = {
  find(method: string, path: string): { operation: Operation; params: Params } | null
  /** What is wrong with a request, each in a few words. */
  requestFaults(operation: Operation, request: Request): string[]
  answerFaults(operation: Operation, status: number, body: unknown): string[]
  callbackFaults(kind: CallbackKind, body: unknown): string[]
}

export type Params = Record<string, string>
export type Request = { params: Params; query: Params; body: unknown }

const CALLBACKS = { pix: 'WebhookPixBody', rec: 'WebhookRecBody', cobr: 'WebhookCobRBody' }
const METHODS = ['get', 'put', 'post', 'patch', 'delete']
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

let read: Document | undefined

/** Read and patched once for a process. */
export function apiPix(): Document {
  read ??= open(readDocument())
  return read
}

function open(document: Tree): Document {
  const check = checking(document)
  const operations = operationsOf(document)
  const bodyOf = (tree: Tree) => resolve(document, tree)?.content?.['application/json']?.schema
  return {
    find(method, path) {
      for (const operation of operations) {
        const found = operation.method === method ? operation.form.exec(path) : null
        if (found) return { operation, params: decoded(found.groups) }
      }
      return null
    },
    requestFaults({ tree, parameters }, { params, query, body }) {
      const given = { path: params, query }
      const wrong = (['path', 'query'] as const).flatMap((place) =>
        check(parametersSchema(document, parameters, place), { ...given[place] }, place),
      )
      const schema = bodyOf(tree.requestBody)
      if (!schema) return body === undefined ? wrong : [...wrong, 'body: there is none']
      return [...wrong, ...check(schema, body, 'body'), ...unknown(document, schema, body, 'body')]
    },
    answerFaults({ tree }, status, body) {
      if (!(status in tree.responses)) return [`answer: the document has no ${status}`]
      const answer = resolve(document, tree.responses[status])
      const [schema] = Object.values(answer?.content ?? {}).map((one: Tree) => one.schema)
      if (!schema) return body === undefined ? [] : ['answer: it has no body']
      return check(schema, body, 'answer')
    },
    callbackFaults: (kind, body) =>
      check(bodyOf(document.requestBodies[CALLBACKS[kind]]), body, 'callback'),
  }
}

const decoded = (groups: Params = {}): Params =>
  Object.fromEntries(Object.entries(groups).map(([k, value]) => [k, decodeURIComponent(value)]))

const resolve = (document: Tree, node: Tree): Tree =>
  typeof node?.$ref === 'string'
    ? resolve(document, node.$ref.split('/').slice(2).reduce(step, document))
    : node

const step = (node: Tree, name: string): Tree => node[name]

function operationsOf({ paths }: Tree): Operation[] {
  return Object.entries<Tree>(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({
      method: method.toUpperCase(),
      path,
      scopes: (item[method].security ?? []).flatMap((one: Tree) => one.OAuth2 ?? []),
      form: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
      tree: item[method],
      parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])],
    })),
  )
}

const SCHEMAS = new WeakMap<object, Record<string, Tree>>()

function parametersSchema(document: Tree, parameters: Tree[], place: 'path' | 'query'): Tree {
  const made = SCHEMAS.get(parameters) ?? {}
  SCHEMAS.set(parameters, made)
  const own = parameters.map((one) => resolve(document, one)).filter((one) => one.in === place)
  made[place] ??= {
    type: 'object',
    properties: Object.fromEntries(own.map(({ name, schema }) => [name, schema])),
    required: own.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  }
  return made[place]
}

/** Each schema is compiled when it is first needed: most never are. */
function checking(document: Tree) {
  const options = { strict: false, allErrors: true, validateFormats: true }
  const texts = addFormats(new Ajv({ ...options, coerceTypes: true }), document)
  const bodies = addFormats(new Ajv(options), document)
  const compiled = new WeakMap<object, ValidateFunction>()
  return (schema: Tree, value: unknown, name: string): string[] => {
    const ajv = name === 'path' || name === 'query' ? texts : bodies
    const validate = compiled.get(schema) ?? ajv.compile(outside(schema))
    compiled.set(schema, validate)
    if (validate(value)) return []
    return validate.errors!.map(({ instancePath, message, params }) => {
      const extra = 'additionalProperty' in params ? ` ${params.additionalProperty}` : ''
      return `${name}${instancePath}: ${message}${extra}`
    })
  }
}

const outside = (schema: Tree): Tree =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/'))

function addFormats(ajv: Ajv, { schemas }: Tree): Ajv {
  ajv.addFormat('date-time', (text) => RFC_3339.test(text) && !Number.isNaN(Date.parse(text)))
  ajv.addFormat('date', (text) => /^\d{4}-\d\d-\d\d$/.test(text))
  ajv.addFormat('uri', (text) => URL.canParse(text))
  ajv.addFormat('int32', true)
  ajv.addFormat('int64', true)
  return ajv.addSchema({ components: { schemas } }, 'document')
}

/** A field that the document does not have is a slip, which no schema forbids. */
function unknown(document: Tree, schema: Tree, value: unknown, at: string): string[] {
  if (value === null || typeof value !== 'object') return []
  const known = fieldsOf(document, schema)
  if (Array.isArray(value)) return value.flatMap((one, i) => deeper(known.items, one, `${at}/${i}`))
  return Object.entries(value).flatMap(([name, held]) =>
    known.fields[name]
      ? deeper(known.fields[name], held, `${at}/${name}`)
      : [`${at}: no field ${name} is known`],
  )
  function deeper(schemas: Tree[] = [], held: unknown, path: string): string[] {
    return unknown(document, { allOf: schemas }, held, path)
  }
}

type Known = { fields: Record<string, Tree[]>; items: Tree[] }

function fieldsOf(document: Tree, schema: Tree): Known {
  const own = resolve(document, schema)
  const known: Known = { fields: {}, items: own.items ? [own.items] : [] }
  for (const [name, field] of Object.entries(own.properties ?? {})) known.fields[name] = [field]
  for (const part of [own.allOf, own.oneOf, own.anyOf].flatMap((parts) => parts ?? [])) {
    const { fields, items } = fieldsOf(document, part)
    known.items.push(...items)
    for (const [name, field] of Object.entries(fields))
      known.fields[name] = [...(known.fields[name] ?? []), ...field]
  }
  return known
}
