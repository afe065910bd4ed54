import pg from 'pg'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'

/**
 * A process of its own that owns an embedded database, so that a test can kill it, interrupt it,
 * or run it as another user: `embedded-child.ts <data directory>`. It prints one line of JSON, the
 * database's URL or why there is none, and stops the database on Ctrl-C or when stdin ends.
 */
const [dataDir = ''] = process.argv.slice(2)
const settings = { fsync: 'off' }

try {
  const database = await startEmbedded({ dataDir, settings })
  const stop = async () => {
    await answerLastRequest(database.url)
    await database.stop()
    process.exit(0)
  }
  process.on('SIGINT', stop)
  process.stdin.on('end', stop).resume()
  console.log(JSON.stringify({ url: database.url }))
} catch (fault) {
  console.log(JSON.stringify({ refused: (fault as Error).name, message: (fault as Error).message }))
}

// Like a server that answers what is in flight before it goes, on a connection it has to open.
async function answerLastRequest(url: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query('SELECT pg_sleep(0.1)')
  await client.end()
}
