import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { signWebhook } from '../packages/client/src/webhooks.js'
import { isGenuine } from '../packages/n8n-nodes-vintem/nodes/VintemTrigger/signature.ts'
import { operationsOfNode } from '../scripts/n8n/operations.ts'
import { ROUTES } from '../src/http/routes/all.ts'

const FOLDER = join(import.meta.dirname, '../packages/n8n-nodes-vintem')
const read = (path: string) => JSON.parse(readFileSync(join(FOLDER, path), 'utf8'))
const manifest = read('package.json')
const operations = operationsOfNode()

test('the package installs nothing with it, and each of its nodes is there with its icon', () => {
  assert.equal(manifest.dependencies, undefined)
  assert.deepEqual(manifest.peerDependencies, { 'n8n-workflow': '*' })
  const { nodes, credentials, strict } = manifest.n8n
  assert.equal(strict, true)
  for (const built of [...nodes, ...credentials]) {
    const source = built.replace(/^dist\//, '').replace(/\.js$/, '.ts')
    const text = readFileSync(join(FOLDER, source), 'utf8')
    const icons = [...text.matchAll(/'file:([^']+)'/g)].map(([, icon]) => icon!)
    assert.equal(icons.length, 2)
    for (const icon of icons) assert.ok(existsSync(join(FOLDER, source, '..', icon)), icon)
    const [, name] = /^ +name(?:: | = )'(\w+)'/m.exec(text) ?? []
    if (!nodes.includes(built)) continue
    assert.equal(read(source.replace(/\.ts$/, '.json')).node, `n8n-nodes-vintem.${name}`)
  }
})

test('what builds the package is locked, and runs only to build it', () => {
  const { packages } = read('package-lock.json')
  const { '': root, ...others } = packages
  assert.deepEqual(root.devDependencies, manifest.devDependencies)
  for (const [name, version] of Object.entries(manifest.devDependencies))
    assert.equal(others[`node_modules/${name}`].version, version)
  const open = Object.entries<Record<string, unknown>>(others).filter(
    ([, { integrity, resolved }]) => !/^sha512-/.test(String(integrity)) || resolved,
  )
  assert.deepEqual(open, [])
  assert.match(readFileSync(join(FOLDER, '.npmrc'), 'utf8'), /^ignore-scripts=true$/m)
})

test('every operation of the API is in it, with a name of its own', () => {
  const asked = operations.map(({ method, path }) => `${method} ${path}`)
  const ofApi = ROUTES.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(asked.sort(), ofApi.sort())
  const names = operations.map(({ resource, name }) => `${resource} ${name}`)
  assert.equal(new Set(names).size, names.length)
  for (const wanted of ['charge createPix', 'delivery list', 'link create', 'webhook create'])
    assert.ok(names.includes(wanted), wanted)
})

test('no operation has two fields of one name, and each path has its fields', () => {
  for (const { path, required, optional } of operations) {
    const fields = [...required, ...optional]
    assert.equal(new Set(fields.map(({ name }) => name)).size, fields.length, path)
    const inPath = required.filter((one) => one.in === 'path').map(({ name }) => name)
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    assert.deepEqual(inPath, named, path)
  }
})

const SECRET = `whsec_${Buffer.alloc(32, 'n8n').toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 'other').toString('base64')}`
const EVENT = '{"event":"Charge.Paid","charge":{"id":"charge_1","status":"PAID","total":1990}}'

test('the trigger takes a delivery that was signed with its secret, and recently', async () => {
  const { body, headers } = await signWebhook(EVENT, SECRET)
  const bytes = Buffer.from(body)
  assert.equal(isGenuine(headers, bytes, SECRET), true)
  assert.equal(isGenuine(headers, bytes, OTHER), false)
  assert.equal(isGenuine(headers, Buffer.from(`${body} `), SECRET), false)
  assert.equal(isGenuine({ ...headers, 'webhook-id': 'evt_2' }, bytes, SECRET), false)
  assert.equal(isGenuine({}, bytes, SECRET), false)
  const rotated = await signWebhook(EVENT, [OTHER, SECRET])
  assert.equal(isGenuine(rotated.headers, bytes, SECRET), true)
  const minutesAgo = new Date(Date.now() - 6 * 60_000)
  const old = await signWebhook(EVENT, SECRET, { now: minutesAgo })
  assert.equal(isGenuine(old.headers, bytes, SECRET), false)
})
