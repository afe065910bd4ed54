import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { EVENT_TYPES, TEST_EVENT } from '../../src/core/events.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { CATALOGUE } from '../../src/lib/problems.ts'
import { ROOT } from './samples.ts'

/** It names the operations of other services. */
const COMING_FROM = '**/coming-from.md'
const pages = globSync(['docs/start.md', 'docs/guides/*.md', 'docs/pt/{,guides/}*.md'], {
  cwd: ROOT,
  exclude: [COMING_FROM],
}).map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))

const formOf = (path: string) => path.replace(/\{\w+\}/g, '{}').replace(/[?#].*$/, '')

/** Those of payers, banks, operators and agents are no routes of the API. */
const OTHERS = [
  /^\w+ \/(bank|banking|v1|v2|mcp|pay|health|ready|metrics|openapi|companies|keys)\b/,
  /^\w+ \/(webhooks\/vintem|checkout)\b/,
]

test('every operation that a guide names exists', () => {
  const known = new Set(ROUTES.map(({ method, path }) => `${method} ${formOf(path)}`))
  const unknown = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:GET|POST|PUT|DELETE) \/[^`\s]*)/g)]
      .map(([, operation]) => formOf(operation!))
      .filter((operation) => !known.has(operation) && !OTHERS.some((form) => form.test(operation)))
      .map((operation) => `${path}: ${operation}`),
  )
  assert.deepEqual(unknown, [])
})

test('every error and every event that a guide names exists', () => {
  const events = new Set<string>([...EVENT_TYPES, TEST_EVENT])
  const unknown = pages.flatMap(({ path, text }) => [
    ...[...text.matchAll(/\b[45]\d\d `(\w+)`/g)]
      .filter(([, code]) => !Object.hasOwn(CATALOGUE, code!))
      .map(([code]) => `${path}: ${code}`),
    ...[...text.matchAll(/`((?:charge|subscription|withdrawal|dispute)\.[a-z.]+)`/g)]
      .filter(([, event]) => !events.has(event!))
      .map(([event]) => `${path}: ${event}`),
  ])
  assert.deepEqual(unknown, [])
})
