import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ROUTES } from '../../src/http/routes/all.ts'
import { VERSION_NAMES } from '../../src/versions/history.ts'
import { type Tried, tryAll } from '../api/every-route.ts'
import { type Any, documentOf, faultOf } from '../openapi/document.ts'
import { startApi } from '../support/api.ts'
import { freeze } from './freeze.ts'

/**
 * What each version has answered stays as it was published. After a change that is meant,
 * UPDATE_FROZEN=1 writes the files anew, and the difference is read like a change of the contract.
 */
const FROZEN = fileURLToPath(new URL('frozen/', import.meta.url))
const updating = process.env.UPDATE_FROZEN === '1'

const api = await startApi()
const answers = new Map<string, Map<string, Tried[]>>()
for (const version of VERSION_NAMES) {
  const tried = await tryAll(api, version)
  answers.set(
    version,
    Map.groupBy(tried, ({ operationId }) => operationId),
  )
}

for (const version of VERSION_NAMES) {
  for (const { operationId, method, path } of ROUTES) {
    test(`${version} answers ${operationId} as it was frozen`, () => {
      const tried = answers.get(version)!.get(operationId)
      assert.ok(tried, `test/api/every-route.ts tries ${method} ${path}`)
      for (const { reply } of tried) assert.equal(reply.headers.get('x-api-version'), version)
      const now = freeze(`${method} ${path}`, tried)
      const file = `${FROZEN}${version}/${operationId}.json`
      if (updating) {
        mkdirSync(`${FROZEN}${version}`, { recursive: true })
        writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`)
      }
      assert.ok(existsSync(file), `${file} is missing: UPDATE_FROZEN=1 writes it`)
      assert.deepEqual(now, JSON.parse(readFileSync(file, 'utf8')))
    })
  }

  test(`${version}: each operation has one frozen file, with a success and a refusal`, () => {
    const files = readdirSync(`${FROZEN}${version}`).sort()
    const expected = ROUTES.map(({ operationId }) => `${operationId}.json`).sort()
    assert.deepEqual(files, expected)
    for (const file of files) {
      const frozen = JSON.parse(readFileSync(`${FROZEN}${version}/${file}`, 'utf8'))
      const statuses = Object.values<{ status: number }>(frozen.answers).map(({ status }) => status)
      assert.ok(
        statuses.some((status) => status < 300),
        file,
      )
      assert.ok(
        statuses.some((status) => status >= 400),
        file,
      )
    }
  })
}

const frozenOf = (version: string, operationId: string): Record<string, Any> =>
  JSON.parse(readFileSync(`${FROZEN}${version}/${operationId}.json`, 'utf8')).answers

/** A file has no envelope to go around it, in any version. */
const isFile = ({ headers }: Any): boolean =>
  headers?.['content-type'] === 'text/csv; charset=utf-8'

/** The refusal of a second withdrawal has the id of the first; no other has a third field. */
const fieldsOfError = (code: string) =>
  code === 'withdrawal_pending' ? ['code', 'description', 'withdrawId'] : ['code', 'description']

const codesOf = (body: Any): string[] =>
  body?.errors?.map(({ code }: Any) => code) ?? (body?.error ? [body.error] : [])

for (const version of VERSION_NAMES) {
  test(`every answer of ${version} is what its document says, field by field`, () => {
    const { operationOf, resolve, closed } = documentOf(version)
    const seen = new Set<string>()
    for (const { operationId, name, reply } of [...answers.get(version)!.values()].flat()) {
      const what = `${operationId} ${name}`
      const answer = resolve(operationOf(operationId).responses[reply.status])
      assert.ok(answer, `${what}: ${reply.status} is documented`)
      const [type] = reply.headers.get('content-type')!.split(';')
      const { schema } = answer.content[type!]
      assert.equal(faultOf(closed(schema), reply.body ?? reply.text), null, what)
      if (reply.status < 300) seen.add(operationId)
      else {
        for (const code of codesOf(reply.body)) {
          assert.ok(answer.description.includes(`\`${code}\``), `${what}: ${code} is documented`)
        }
      }
    }
    assert.equal(seen.size, ROUTES.length, 'each operation was seen to succeed')
  })
}

test('the newest version wraps every answer in its envelope', () => {
  for (const { operationId, status } of ROUTES) {
    for (const [name, answer] of Object.entries(frozenOf('2026-08-16', operationId))) {
      const what = `${operationId} ${name}`
      const { body } = answer
      if (isFile(answer)) continue
      assert.deepEqual(Object.keys(body), ['status', 'message', 'data', 'errors'], what)
      assert.equal(body.status, answer.status, what)
      assert.equal(typeof body.message, 'string', what)
      if (answer.status < 300) {
        assert.deepEqual([answer.status, body.errors], [status, []], what)
        assert.notEqual(body.data, null, what)
      } else {
        assert.equal(body.data, null, what)
        assert.ok(body.errors.length > 0, what)
        for (const error of body.errors) {
          assert.deepEqual(Object.keys(error), fieldsOfError(name), what)
          assert.equal(error.code, name, what)
        }
      }
    }
  }
})

/** How 2025-01-01 spells what the newest version calls RECEIVED. */
const misspelled = (data: Any) =>
  JSON.parse(
    JSON.stringify(data).replaceAll('"paymentStatus":"RECEIVED"', '"paymentStatus":"RECIEVED"'),
  )

test('a statement is the one answer that is also given as a file', () => {
  const files = ROUTES.flatMap(({ operationId }) =>
    Object.values(frozenOf('2026-08-16', operationId)).filter(isFile),
  )
  assert.equal(files.length, 1)
  assert.equal(files[0].headers['content-disposition'], 'attachment; filename="statement.csv"')
  const [head, ...entries] = files[0].body.split('\r\n')
  assert.match(head, /^entry,created_at,/)
  assert.ok(entries.length > 1)
})

test('the older version answers with what the newest puts in data, bare, and errors in the legacy form', () => {
  for (const { operationId } of ROUTES) {
    const [old, head] = [frozenOf('2025-01-01', operationId), frozenOf('2026-08-16', operationId)]
    assert.deepEqual(Object.keys(old), Object.keys(head))
    for (const [name, { status, body }] of Object.entries(old)) {
      const what = `${operationId} ${name}`
      assert.equal(status, head[name].status, what)
      if (/^(get|change)Company$/.test(operationId) && status === 200) {
        assert.deepEqual({ ...body, apiVersion: '2026-08-16' }, head[name].body.data, what)
      } else if (isFile(old[name])) {
        assert.deepEqual(old[name], head[name], what)
      } else if (status < 300) {
        assert.deepEqual(body, misspelled(head[name].body.data), what)
      } else if (name === 'withdrawal_pending') {
        const [{ description: message, withdrawId }] = head[name].body.errors
        assert.deepEqual(body, { statusCode: 409, message, withdrawId }, what)
      } else {
        assert.deepEqual(Object.keys(body), ['statusCode', 'message', 'error'], what)
        assert.deepEqual([body.statusCode, body.error], [status, name], what)
        assert.equal(body.message, head[name].body.message, what)
      }
    }
  }
})
