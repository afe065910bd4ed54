import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Answer, List, Vintem } from '../../packages/client/src/index.ts'
import { METHODS } from '../../scripts/client/names.ts'
import { LATEST, VERSION_NAMES } from '../../src/versions/history.ts'
import { documentOf, type Operation } from '../openapi/document.ts'

type Call = (...args: unknown[]) => Answer<unknown>
type Sent = { method: string; path: string; body: string | null }

/** A client that sends nothing, and what it would have sent. */
function recording() {
  const sent: Sent[] = []
  const vintem = new Vintem({
    url: 'http://vintem.test/below',
    key: 'vk_test',
    fetch: async (input, init) => {
      const { pathname, search } = new URL(String(input))
      sent.push({
        method: init!.method!,
        path: pathname + search,
        body: init!.body as string | null,
      })
      return Response.json({ status: 200, message: '', data: [], errors: [] })
    },
  })
  return { sent, resources: vintem as unknown as Record<string, Record<string, Call>> }
}

const { operations } = documentOf(LATEST.name)
const namesIn = (path: string) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

/** The value that the test sends for an id: it has to be escaped. */
const idOf = (name: string) => `${name}/?é`
const pathOf = ({ path }: Operation) =>
  path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(idOf(name)))

function methodOf(resources: Record<string, Record<string, Call>>, operationId: string): Call {
  const [resource, method] = METHODS[operationId]!
  return resources[resource]![method]!.bind(resources[resource])
}

test('every operation has a method, and every method an operation', () => {
  const { resources } = recording()
  const ofClient = Object.entries(resources).flatMap(([resource, object]) => {
    if (typeof object !== 'object') return []
    const { constructor: _, ...methods } = Object.getOwnPropertyDescriptors(
      Object.getPrototypeOf(object),
    )
    return Object.keys(methods).map((method) => `${resource}.${method}`)
  })
  const ofDocument = operations.map(({ operation }) => METHODS[operation.operationId]?.join('.'))
  assert.deepEqual(ofClient.toSorted(), ofDocument.toSorted())
  assert.deepEqual(
    Object.keys(METHODS).toSorted(),
    operations.map(({ operation }) => operation.operationId).toSorted(),
  )
})

for (const one of operations) {
  const { operation, method, path } = one
  test(`${METHODS[operation.operationId]!.join('.')} sends ${method.toUpperCase()} ${path}`, async () => {
    const { sent, resources } = recording()
    const call = methodOf(resources, operation.operationId)
    const query = operation.parameters.filter((field: { in?: string }) => field.in === 'query')
    const given = operation.requestBody
      ? { a: 1 }
      : query.length > 0
        ? { a: 'é&', b: undefined }
        : null
    const args = [...namesIn(path).map(idOf), ...(given ? [given] : [])]
    const answer = call(...args)
    await answer
    const isQuery = given && !operation.requestBody
    assert.deepEqual(sent, [
      {
        method: method.toUpperCase(),
        path: `/below${pathOf(one)}${isQuery ? '?a=%C3%A9%26' : ''}`,
        body: operation.requestBody ? '{"a":1}' : null,
      },
    ])
    const isPaged = query.some(({ name }: { name: string }) => name === 'after')
    assert.equal(answer instanceof List, isPaged)
  })
}

test('an id that is none is refused before anything is sent', () => {
  const { sent, resources } = recording()
  for (const { operation, path } of operations) {
    if (namesIn(path).length === 0) continue
    const call = methodOf(resources, operation.operationId)
    for (const wrong of ['', '.', '..', undefined, null, 1, {}]) {
      assert.throws(() => call(wrong), { name: 'TypeError', message: /^id: must be a text/ })
    }
  }
  assert.deepEqual(sent, [])
})

test('the operations are the same in every version', () => {
  for (const name of VERSION_NAMES) {
    const ids = documentOf(name).operations.map(({ operation }) => operation.operationId)
    assert.deepEqual(ids.toSorted(), Object.keys(METHODS).toSorted())
  }
})
