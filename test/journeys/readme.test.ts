import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startServer, temporaryFolder } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')
const blocks = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text]) => text!)
const [create, payAndRead, balance, withdraw] = blocks.filter((text) => text.includes('curl'))
const audit = blocks.find((text) => text.includes('ledger audit'))

/** The answers of a block's calls: one a line, or without an end of line between them. */
const answers = (output: string) =>
  output
    .replaceAll('}{', '}\n{')
    .split('\n')
    .map((line) => JSON.parse(line))

async function until<T>(find: () => T | null): Promise<T> {
  for (;;) {
    const found = find()
    if (found) return found
    await pause(20)
  }
}

test('what the README shows works as it stands: pay, balance, withdraw, audit', async () => {
  const folder = temporaryFolder()
  const server = await startServer({ DATA_DIR: join(folder, '.data') })
  const run = (script: string) =>
    execFileSync('bash', ['-euc', script.replaceAll('http://127.0.0.1:3000', server.url)], {
      cwd: folder,
      encoding: 'utf8',
    })
  const [key] = create!.split('\n')
  const created = JSON.parse(run(create!))
  assert.equal(created.status, 201)
  assert.match(created.data.brCodeBase64, /^data:image\/png;base64,/)
  const { id, brCode } = created.data
  const paying = payAndRead!.replace('charge_…', id).replace('000201…', brCode)
  const [paid, read] = answers(run(`${key}\n${paying}`))
  assert.deepEqual([paid.status, paid.data.chargeId, paid.data.amount], [201, id, 1990])
  assert.deepEqual([read.data.id, read.data.paymentStatus], [id, 'PAID'])

  const [json, ...csv] = run(`${key}\n${balance!}`).split(/(?<=\]\})|\r\n/)
  const sums = { available: 100_000, pending: 1990, held: 0, unmatched: 0 }
  assert.deepEqual(JSON.parse(json!).data, sums)
  assert.match(csv[1]!, /^2,.*,CHARGE_PAID,1990,bank,pending,E\w{31},charge_\w+,100000,1990,0,0$/)

  const at = withdraw!.indexOf('export WITHDRAW')
  const started = JSON.parse(run(`${key}\n${withdraw!.slice(0, at)}`))
  const mails = join(folder, '.data', 'mail')
  await until(() => existsSync(mails) && readdirSync(mails).find((name) => name.endsWith('.eml')))
  const rest = withdraw!.slice(at).replace('wd_…', started.data.withdrawId)
  const [confirmed] = answers(run(`${key}\n${rest}`))
  assert.equal(confirmed.data.status, 'PROCESSING')
  const ended = await until(() => {
    const { data } = answers(run(`${key}\n${rest}`)).at(-1)
    return data.status === 'PROCESSING' ? null : data
  })
  assert.deepEqual([ended.status, ended.value], ['COMPLETED', 5000])

  assert.equal(audit, 'npx vintem ledger audit\n')
  const books = execFileSync(process.execPath, [join(ROOT, 'src/cli/main.ts'), 'ledger', 'audit'], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  assert.match(books, /R\$.950,00 +R\$.19,90[\s\S]*The books agree\./)
})
