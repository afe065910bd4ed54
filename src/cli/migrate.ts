import { loadConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import type { Command } from './command.ts'
import { openConnection } from './session.ts'

export const migrateDatabase: Command = {
  name: 'migrate',
  summary: 'Bring the database to this version of Vintém.',
  example: 'vintem migrate',
  operands: [],
  options: {},
  async run() {
    const { urls, close } = await openConnection(loadConfig())
    try {
      const applied: string[] = []
      // What takes long is said beside the output.
      const report = (line: string) => process.stderr.write(`${line}\n`)
      const by = { report, warn: report }
      for (const url of urls) applied.push(...(await migrate(url, undefined, by)))
      const lines = applied.map((name) => `Applied ${name}\n`)
      return { json: { applied }, text: lines.join('') || 'The database is up to date.\n' }
    } finally {
      await close()
    }
  },
}
