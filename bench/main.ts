import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Files that others use. */
const PARTS = 'main load stack bare sink setup deliver-jobs bank processor history'.split(' ')
const [name] = process.argv.slice(2)
const path = join(import.meta.dirname, `${name}.ts`)
if (!name || !existsSync(path) || PARTS.includes(name)) {
  console.error(
    'Usage: npm run bench create | read | qr | settle | deliver | bill | live | listen | cpu | grow | places',
  )
  process.exit(2)
}
const { run } = await import(path)
await run()
process.exit(0)
