import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { caller, payer } from '../support/api.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { cloneDatabase } from '../support/database.ts'
import { readSandbox, secretOf, startServer, temporaryFolder } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { startSmtp } from '../support/smtp.ts'
import { until } from '../support/until.ts'
import { makeAgeKeys } from './keys.ts'

test('a server on a restored database goes on from the backup, and sends nothing a second time', async () => {
  const [smtp, receiver] = [await startSmtp(), await startReceiver()]
  const [home, first, second] = [temporaryFolder(), temporaryFolder(), temporaryFolder()]
  const keys = await makeAgeKeys(home)
  const vintem = hostedVintemIn(home)
  const environment = (dataDir: string) => ({ DATA_DIR: dataDir, SMTP_URL: smtp.url })

  // Without a worker everything is still due in the backup.
  const former = await startServer(environment(first), ['--role', 'api'])
  const { apiKey } = readSandbox(first)
  const at = (url: string) => {
    const call = caller(url)
    return async (method: string, path: string, json?: unknown) => {
      const options = json === undefined ? {} : { json }
      const reply = await call(method, path, { ...options, headers: { 'X-API-KEY': apiKey } })
      return { ...reply, data: reply.body?.data }
    }
  }
  const charge = (amount: number) => ({ amount, customer: payer() })
  const shop = at(former.url)
  const hook = { url: receiver.url, name: 'Loja', events: ['charge.pending'] }
  assert.equal((await shop('POST', '/webhook', hook)).status, 201)
  const saved = (await shop('POST', '/charge/pix', charge(1000))).data.id
  assert.equal((await shop('PUT', '/company', { email: 'antiga@example.com' })).status, 200)

  const [file, copy] = [join(home, 'backup.vintem'), join(home, 'secret.copy')]
  copyFileSync(join(first, 'secret.key'), copy)
  const made = await vintem(
    ['backup', file, '--recipient', keys.recipient, '--secret-copy', copy],
    environment(first),
  )
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stdout, /on the same disk as the secret key/)
  const lost = (await shop('POST', '/charge/pix', charge(2000))).data.id

  // The former server runs on while the backup is tried in a new place.
  copyFileSync(copy, join(second, 'secret.key'))
  const restored = await vintem(
    ['restore', file, '--identity', keys.identityFile, '--verify'],
    environment(second),
  )
  assert.equal(restored.code, 0, restored.stdout + restored.stderr)
  assert.match(restored.stdout, /Held: 1 webhook deliveries\nHeld: 2 mails\n/)
  assert.match(restored.stdout, /\nVerdict: YES\. .*\n$/)
  assert.equal((await shop('GET', `/charge/${lost}`)).status, 200)
  former.child.kill('SIGKILL')
  await former.ended

  const now = await startServer(environment(second))
  const again = at(now.url)
  // What is sealed is opened, and shown masked.
  assert.equal((await again('GET', `/charge/${saved}`)).data.customer.taxId, '***.***.247-25')
  assert.equal((await again('GET', `/charge/${lost}`)).status, 404)
  const fresh = (await again('POST', '/charge/pix', charge(3000))).data.id
  await until('the new event is delivered', () => receiver.received.length > 0)
  assert.deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body).charge.id),
    [fresh],
  )
  const { data: feed } = await again('GET', '/event')
  assert.ok(feed.length >= 2)
  assert.equal((await again('PUT', '/company', { email: 'nova@example.com' })).status, 200)
  // Codes still go to the first address, so that each of the three gets one about the new one.
  await smtp.arrived(3)
  assert.deepEqual(smtp.received.flatMap(({ to }) => to).sort(), [
    'antiga@example.com',
    'nova@example.com',
    'sandbox@example.com',
  ])
  const audit = await vintem(['ledger', 'audit'], environment(second))
  assert.match(audit.stdout, /The books agree/)
})

test('a recovered database is refused while a worker uses it', async () => {
  const env = {
    SECRET_KEY: secretOf('api'),
    DATABASE_URL: await cloneDatabase(),
    PUBLIC_URL: 'https://pix.example.com',
    DATA_DIR: temporaryFolder(),
  }
  const worker = await startServer(env, ['--role', 'worker'])
  const vintem = hostedVintemIn(temporaryFolder())
  const restore = () => vintem(['restore', '--recovered-to', new Date().toISOString()], env)
  const refused = await restore()
  assert.equal(refused.code, 1)
  assert.match(refused.stdout, /^Verdict: NO\. Servers use this database\. Stop them first/)
  worker.child.kill('SIGTERM')
  await worker.ended
  const done = await restore()
  assert.equal(done.code, 0, done.stdout)
})
