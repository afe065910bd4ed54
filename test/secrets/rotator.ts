import { SERVICE } from '../../src/core/activity/rules.ts'
import { learnSecrets } from '../../src/core/installation.ts'
import { rotate } from '../../src/core/secrets/rotate.ts'
import { openDatabase } from '../../src/db/database.ts'
import { createVault } from '../../src/lib/vault.ts'

/** Replaces a secret as the command does, without the time that requests may take. */
const [former, next, ...urls] = process.argv.slice(2)
const read = (text: string | undefined) => Buffer.from(text!, 'base64')
const vault = createVault(read(former), read(next))
const databases = urls.map((url) => openDatabase(url, 2))
await learnSecrets(databases[0]!, vault)
const rotated = await rotate({
  databases,
  vault,
  author: SERVICE,
  report: (progress) => process.stdout.write(`${JSON.stringify(progress)}\n`),
  say: (line) => process.stdout.write(`${line}\n`),
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  request_ms: 0,
})
process.stdout.write(`${JSON.stringify(rotated)}\n`)
await Promise.all(databases.map((db) => db.end()))
