import { appendFileSync } from 'node:fs'
import pg from 'pg'

/**
 * Lets this process write each distinct statement that it sends to PostgreSQL into the file
 * TEST_STATEMENTS, as JSON on a line of its own. `npm run test:citus -- --statements` reads it.
 */
const path = process.env.TEST_STATEMENTS!
const known = new Set<string>()
const { query } = pg.Client.prototype as { query: (...asked: unknown[]) => unknown }

Object.assign(pg.Client.prototype, {
  query(this: pg.Client, ...asked: unknown[]) {
    const [first] = asked
    const text = typeof first === 'string' ? first : (first as { text?: string } | undefined)?.text
    if (text !== undefined && !known.has(text)) {
      known.add(text)
      appendFileSync(path, `${JSON.stringify(text)}\n`)
    }
    return query.apply(this, asked)
  },
})
