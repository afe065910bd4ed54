import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startServer, temporaryFolder } from '../support/process.ts'

const README = readFileSync(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8')
const blocks = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text!)
const [create, payAndRead] = blocks.filter((text) => text.includes('curl'))

test('the README’s three calls create, pay and read a charge as they stand', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ DATA_DIR: join(folder, '.data') })
  const run = (script: string) =>
    execFileSync('bash', ['-euc', script.replaceAll('http://127.0.0.1:3000', server.url)], {
      cwd: folder,
      encoding: 'utf8',
    })
  const created = JSON.parse(run(create!))
  assert.equal(created.status, 201)
  assert.match(created.data.brCodeBase64, /^data:image\/png;base64,/)
  const key = create!.split('\n')[0]
  const script = `${key}\n${payAndRead!.replace('charge_…', created.data.id)}`
  const [paid, read] = run(script)
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual([paid.data.status, paid.data.paymentStatus], ['COMPLETED', 'PAID'])
  assert.deepEqual([read.data.id, read.data.paymentStatus], [created.data.id, 'PAID'])
})
