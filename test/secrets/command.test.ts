import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { keysOf } from '../../src/lib/vault.ts'
import { copySecret, makeAgeKeys } from '../backups/keys.ts'
import { payer, startApi } from '../support/api.ts'
import { hostedVintemIn } from '../support/cli.ts'
import { secretOf, temporaryFolder } from '../support/process.ts'

const api = await startApi()
const OLD = api.app.config.secretKey.toString('base64')
const NEXT = secretOf('next of the command')
const [OLD_ID, NEXT_ID] = [OLD, NEXT].map((text) => keysOf(Buffer.from(text, 'base64')).keyId)
const home = temporaryFolder()
const hosted = hostedVintemIn(home)
const vintem = (args: string[], secrets: Record<string, string>) =>
  hosted(args, { ...api.databases, PUBLIC_URL: 'https://pix.example.com', ...secrets })

const statusOf = async (secrets: Record<string, string>) => {
  const { code, stdout, stderr } = await vintem(['secret', 'status', '--json'], secrets)
  assert.equal(code, 0, stderr)
  const { secrets: known } = JSON.parse(stdout)
  return known.map(({ id, state, envelopes }: Known) => [id, state, envelopes > 0])
}
type Known = { id: string; state: string; envelopes: number }

const doctorOf = async (secrets: Record<string, string>, name = /^secret key/) => {
  const { stdout } = await vintem(['doctor', '--json'], secrets)
  const { checks } = JSON.parse(stdout) as { checks: { name: string; detail: string }[] }
  return checks.find((check) => name.test(check.name))!.detail
}

test('the commands replace a secret, say what is left, and refuse whoever lacks one', async () => {
  const client = await api.client()
  const made = await client.post('/charge/pix', { amount: 700, customer: payer() })
  assert.equal(made.status, 201)
  const [old, both, next] = [
    { SECRET_KEY: OLD },
    { SECRET_KEY: OLD, SECRET_KEY_NEXT: NEXT },
    { SECRET_KEY: NEXT },
  ]
  const alone = await vintem(['secret', 'rotate'], old)
  assert.notEqual(alone.code, 0)
  assert.match(alone.stderr, /SECRET_KEY_NEXT is missing/)
  assert.deepEqual(await statusOf(both), [
    [OLD_ID, 'present', true],
    [NEXT_ID, 'next', false],
  ])
  assert.match(await doctorOf(both), /vintem secret rotate makes it the present secret/)
  const early = await vintem(['secret', 'status'], next)
  assert.match(early.stderr, /SECRET_KEY is not the one this database was set up with/)

  const rotated = await vintem(['secret', 'rotate'], both)
  assert.equal(rotated.code, 0, rotated.stderr)
  assert.match(rotated.stdout, new RegExp(`Nothing is sealed with ${OLD_ID} any more: it can go`))
  assert.match(rotated.stdout, /vintem backup .* --secret-copy/)
  assert.match(await doctorOf(both), /was replaced, and can go/)
  const again = await vintem(['secret', 'rotate'], both)
  assert.match(again.stdout, /^0 rows were sealed again/m)

  const behind = await vintem(['secret', 'status'], old)
  assert.notEqual(behind.code, 0)
  assert.match(behind.stderr, /SECRET_KEY was replaced by another secret since/)
  assert.deepEqual(await statusOf(next), [
    [NEXT_ID, 'present', true],
    [OLD_ID, 'can go', false],
  ])
  assert.match(await doctorOf(next), /the present one of this database/)
})

test('a backup is refused after a rotation until the copy of the new secret is shown, and all say so', async () => {
  const { recipient } = await makeAgeKeys(home)
  const backUp = (name: string, secret: string, ...options: string[]) =>
    vintem(['backup', join(home, name), '--recipient', recipient, ...options], {
      SECRET_KEY: secret,
    })
  const showing = (secret: string) => ['--secret-copy', copySecret(home, secret)]
  await api.peopleRows('update installation set saved_secret_key_id = $1', [OLD_ID])
  assert.match((await backUp('nightly', NEXT)).stderr, /useless without the secret key/)

  const next = { SECRET_KEY: NEXT }
  assert.match(await doctorOf(next, /^backup/), new RegExp(`copy of the secret key ${NEXT_ID} was`))
  const { stdout } = await vintem(['secret', 'status'], next)
  assert.match(stdout, /vintem backup .* --secret-copy/)

  const shown = await backUp('shown', NEXT, ...showing(NEXT))
  assert.equal(shown.code, 0, shown.stderr)
  assert.equal((await backUp('after', NEXT)).code, 0)
  assert.match(await doctorOf(next, /^backup/), /^The last backup is of /)
  assert.doesNotMatch((await vintem(['secret', 'status'], next)).stdout, /--secret-copy/)
})

test('a server that lacks a secret with which something may be sealed is refused', async () => {
  await api.peopleRows('update secret_keys set gone_at = null')
  const refused = await vintem(['secret', 'status'], { SECRET_KEY: NEXT })
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, new RegExp(`the former secret ${OLD_ID}, which is missing`))
})
