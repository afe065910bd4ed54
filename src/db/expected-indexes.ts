import { readFileSync } from 'node:fs'
import { migrationFiles } from './migrate.ts'

const CREATE = /^ *create (?:unique )?index (?:concurrently )?(?:if not exists )?(\w+)(?=\s)/gim
const DROP = /^ *drop index (?:concurrently )?(?:if exists )?(\w+)/gim

/** The indexes that the baseline and the migrations after it make and do not drop. */
export function expectedIndexes(): string[] {
  const expected = new Set<string>()
  for (const path of migrationFiles()) {
    const sql = readFileSync(path, 'utf8')
    for (const [, name] of sql.matchAll(DROP)) expected.delete(name!)
    for (const [, name] of sql.matchAll(CREATE)) expected.add(name!)
  }
  return [...expected]
}
