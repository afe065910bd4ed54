import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..')
const DEPLOY = join(ROOT, 'deploy', 'patroni')
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')

/** The part of the page that is about failover. */
const PAGE = read('docs', 'operating.md')
const SECTION = PAGE.slice(PAGE.indexOf('## Failover'), PAGE.indexOf('## Monitor'))

test('the settings of Patroni in the page are those of the file that test:patroni starts it with', () => {
  const file = read('deploy', 'patroni', 'patroni.yml')
  const settings = SECTION.match(/^ {4}ttl: [\s\S]*?max_connections: .*$/m)![0]
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim())
      .filter((line) => line !== '')
  const own = lines(file).join('\n')
  assert.ok(own.includes(lines(settings).join('\n')), settings)
})

test('the recipe names every file of deploy/patroni, and every word that is to be replaced', () => {
  for (const name of readdirSync(DEPLOY)) {
    assert.ok(SECTION.includes(`deploy/patroni/${name}`), name)
    const words = read('deploy', 'patroni', name).match(/\b[A-Z]+_PASSWORD\b/g) ?? []
    for (const word of words) assert.ok(SECTION.includes(word), `${name} has ${word}`)
  }
})
