import { isAway } from '../../db/away.ts'
import type { Database } from '../../db/database.ts'
import { type Migrating, migrate } from '../../db/migrate.ts'
import type { Vault } from '../../lib/vault.ts'
import { learnSecrets, requirePlaces, requireRestored, requireSameSecret } from '../installation.ts'

/**
 * Brings all places to this version, and refuses those that do not belong together. The first is
 * needed by everybody. Returns the numbers of others that do not answer: only their companies are
 * missed.
 */
export async function preparePlaces(
  urls: string[],
  databases: readonly Database[],
  vault: Vault,
  { report, warn, ...by }: Migrating,
): Promise<number[]> {
  const answers: boolean[] = []
  for (const [i, url] of urls.entries()) {
    const place = urls.length > 1 ? `place ${i + 1}: ` : ''
    const own: Migrating = {
      ...by,
      report: (line) => report?.(`${place}${line}`),
      warn: (line) => warn?.(`${place}${line}`),
    }
    answers.push(await isPrepared(url, i > 0, own))
  }
  const there = databases.map((db, i) => (answers[i] ? db : null))
  const [control] = there
  await learnSecrets(control!, vault)
  for (const db of there) {
    if (db) await requireSameSecret(db, vault)
    if (db) await requireRestored(db)
  }
  await requirePlaces(there)
  return answers.flatMap((isThere, i) => (isThere ? [] : [i + 1]))
}

async function isPrepared(url: string, mayMiss: boolean, by: Migrating): Promise<boolean> {
  try {
    await migrate(url, undefined, by)
    return true
  } catch (error) {
    if (!mayMiss || !isAway((error as Error).cause)) throw error
    return false
  }
}
