import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { toSlowKey, trust } from '../../../test/bank/certificates.ts'

const PROCESS = join(import.meta.dirname, 'certificate-process.ts')

test('a process that a certificate keeps ends by itself, if nobody kills it', async () => {
  const { client } = await trust()
  const key = toSlowKey(client, 'frase', 2048, 2_000_000_000)
  const certificate = { kind: 'pem', certificate: client.certificate, key, passphrase: 'frase' }
  const child = spawn(process.execPath, [PROCESS], { stdio: ['pipe', 'ignore', 'ignore'], env: {} })
  child.stdin.end(JSON.stringify(certificate))
  // Without its limit it would take minutes.
  const late = setTimeout(() => child.kill('SIGTERM'), 60_000)
  const [, signal] = await once(child, 'close')
  clearTimeout(late)
  assert.equal(signal, 'SIGKILL')
})
