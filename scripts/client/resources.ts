import { LATEST, VERSION_NAMES } from '../../src/versions/history.ts'
import { type Operation, operationsOf, typesDocument } from './document.ts'
import { METHODS } from './names.ts'

const WIDTH = 94

const classNameOf = (resource: string) => `${capital(resource)}Resource`
const capital = (name: string) => name[0]!.toUpperCase() + name.slice(1)

/** The types of a version's operations, by operation. */
export function operationTypes(): string {
  const lines = operationsOf(LATEST).map(({ operationId, requestBody, parameters }) => {
    const name = capital(operationId)
    const body = requestBody ? `body: NonNullable<${name}Data['body']>; ` : ''
    const hasQuery = parameters.some((one) => one.in === 'query')
    const query = hasQuery ? `query: NonNullable<${name}Data['query']>; ` : ''
    return `  ${operationId}: { ${body}${query}data: ${name}Response }`
  })
  return `\n/** What each operation takes and gives. */\nexport type Operations = {\n${lines.join('\n')}\n}\n`
}

/** The file of all resources: a class for each, a method for each operation. */
export function resourcesFile(): string {
  const operations = operationsOf(LATEST)
  checkNames(operations.map(({ operationId }) => operationId))
  const resources = Map.groupBy(operations, ({ operationId }) => METHODS[operationId]![0])
  const names = [...resources.keys()]
  return [
    imports(),
    versionTypes(),
    ...[...resources].map(([name, list]) => classOf(name, list)),
    `/** All resources, as the client has them. */`,
    `export class Resources<V extends ApiVersion> {`,
    ...names.map((name) => `  readonly ${name}: ${classNameOf(name)}<V>`),
    `  constructor(caller: Caller) {`,
    ...names.map((name) => `    this.${name} = new ${classNameOf(name)}(caller)`),
    `  }`,
    `}`,
    ``,
  ].join('\n')
}

function checkNames(operationIds: string[]): void {
  const named = new Set(Object.keys(METHODS))
  const all = new Set(operationIds)
  const [missing, unknown] = [[...all.difference(named)], [...named.difference(all)]]
  if (missing.length > 0) throw new Error(`scripts/client/names.ts has no method for ${missing}`)
  if (unknown.length > 0) throw new Error(`scripts/client/names.ts: no operation ${unknown}`)
}

const aliasOf = (version: string) => `v${version.replaceAll('-', '')}`

const imports = () =>
  [
    `import type { Answer, List } from '../answer.ts'`,
    `import { type Caller, type CallOptions, path } from '../call.ts'`,
    ...VERSION_NAMES.map(
      (name) => `import type { Operations as ${aliasOf(name)} } from './api-${name}.ts'`,
    ),
    ``,
  ].join('\n')

function versionTypes(): string {
  const schemas = (typesDocument(LATEST) as { components: { schemas: object } }).components.schemas
  return [
    `export type {`,
    ...Object.keys(schemas).map((name) => `  ${name},`),
    `} from './api-${LATEST.name}.ts'`,
    ``,
    `/** The operations of each version of the API. */`,
    `export type Api = {`,
    ...VERSION_NAMES.map((name) => `  '${name}': ${aliasOf(name)}`),
    `}`,
    `export type ApiVersion = keyof Api`,
    `export type LatestVersion = '${LATEST.name}'`,
    `export const LATEST_VERSION: LatestVersion = '${LATEST.name}'`,
    ``,
  ].join('\n')
}

function classOf(name: string, operations: Operation[]): string {
  return [
    `export class ${classNameOf(name)}<V extends ApiVersion> {`,
    `  readonly #caller: Caller`,
    ``,
    `  constructor(caller: Caller) {`,
    `    this.#caller = caller`,
    `  }`,
    ...operations.map(methodOf),
    `}`,
    ``,
  ].join('\n')
}

function methodOf(operation: Operation): string {
  const { operationId, method, path, parameters, requestBody, data } = operation
  const type = (part: string) => `Api[V]['${operationId}']['${part}']`
  const ids = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
  const query = parameters.filter((one) => one.in === 'query')
  const isList = query.some(({ name }) => name === 'after') && data.type === 'array'
  const given = requestBody ? 'body' : query.length > 0 ? 'query' : null
  if (requestBody && query.length > 0) throw new Error(`${operationId} has body and query`)
  const isRequired = requestBody?.required ?? query.some(({ required }) => required)
  const args = [
    ...ids.map((id) => `${id}: string`),
    given && (isRequired ? `${given}: ${type(given)}` : `${given}: ${type(given)} = {}`),
    `options: CallOptions = {}`,
  ].filter((arg) => arg !== null)
  const answer = isList ? `List<${type('data')}[number]>` : `Answer<${type('data')}>`
  const where = `path\`${path.replace(/\{(\w+)\}/g, (_, id) => `\${${id}}`)}\``
  const call = isList
    ? `list(${where}, query, options)`
    : `call('${method}', ${where}, { ${given ?? ''} }, options)`
  return [
    ``,
    ...comment(operation),
    `  ${METHODS[operationId]![1]}(${args.join(', ')}): ${answer} {`,
    `    return this.#caller.${call}`,
    `  }`,
  ].join('\n')
}

function comment({ summary, description, method, path, scope }: Operation): string[] {
  const about = description.replace(/\n*Scope: `[\w:]+`$/, '')
  const parts = [`${summary}.`, about, `\`${method} ${path}\`, scope \`${scope}\``]
  const lines = parts.filter(Boolean).flatMap((part, i) => [...(i > 0 ? [''] : []), ...wrap(part)])
  return ['  /**', ...lines.map((line) => `   * ${line}`.trimEnd()), '   */']
}

function wrap(text: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
