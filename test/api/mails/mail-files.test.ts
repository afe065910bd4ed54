import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { removeOld } from '../../../src/worker/retention.ts'
import { startApi } from '../../support/api.ts'

test('mails that are kept as files are removed after a day, and nothing else is', async () => {
  const api = await startApi()
  const folder = join(api.app.config.dataDir, 'mail')
  await removeOld(api.app)
  mkdirSync(folder, { recursive: true })
  const now_s = api.clock.now().getTime() / 1000
  const write = (name: string, age_s: number) => {
    writeFileSync(join(folder, name), '')
    utimesSync(join(folder, name), now_s - age_s, now_s - age_s)
  }
  write('old.eml', 86_401)
  write('.half.part', 86_401)
  write('notes.txt', 86_401)
  write('new.eml', 86_399)
  await removeOld(api.app)
  assert.deepEqual(readdirSync(folder).sort(), ['new.eml', 'notes.txt'])
})
