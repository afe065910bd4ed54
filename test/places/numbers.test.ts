import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requirePlaces, requireSameSecret } from '../../src/core/installation.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { createVault } from '../../src/lib/vault.ts'
import { cloneDatabase } from '../support/database.ts'

const vault = createVault(Buffer.alloc(32, 1))
const open: Database[] = []
after(() => Promise.all(open.map((db) => db.end())))

/** Databases that are no places yet. */
async function fresh(count: number): Promise<Database[]> {
  const urls = await Promise.all(Array.from({ length: count }, () => cloneDatabase()))
  const databases = urls.map((url) => openDatabase(url, 2))
  open.push(...databases)
  for (const db of databases) await requireSameSecret(db, vault)
  return databases
}

/** The same database, which does something else after it was first read. */
function interrupted(db: Database, meanwhile: () => Promise<void>): Database {
  let isFirst = true
  return {
    ...db,
    async query(query) {
      const rows = await db.query(query)
      if (isFirst) {
        isFirst = false
        await meanwhile()
      }
      return rows as never
    },
  }
}

test('a setting that is refused numbers nothing, and the corrected one is accepted', async () => {
  const [first, second, third] = (await fresh(3)) as [Database, Database, Database]
  await requirePlaces([first, second])
  await assert.rejects(requirePlaces([first, third, second]), /database 3 is place 2/)
  await requirePlaces([first, second])
  await requirePlaces([first, second, third])
  await assert.rejects(requirePlaces([first, second]), /names 2 of 3 places/)
})

test('servers that start at the same moment agree on the numbers', async () => {
  for (const slow of [0, 1]) {
    const databases = await fresh(2)
    const late = databases.map((db, i) =>
      i === slow ? interrupted(db, () => requirePlaces(databases)) : db,
    )
    await requirePlaces(late)
    await requirePlaces(databases)
  }
})
