import type { Row, Tx } from '../../db/database.ts'
import type { Vault } from '../../lib/vault.ts'
import { SEALED } from '../secrets/columns.ts'

/** How many values of each kind are opened, the first and the last of the table. */
const OF_EACH_END = 50

/** Opens a sample of what is sealed. Returns how much there was, and what could not be opened. */
export async function openSample(
  tx: Tx,
  vault: Vault,
): Promise<{ kinds: number; opened: number; faults: string[] }> {
  let [kinds, opened] = [0, 0]
  const faults: string[] = []
  for (const { name, sealed } of SEALED) {
    for (const [column, contextOf] of Object.entries(sealed)) {
      const rows = await readSample(tx, name, column)
      const wrong = rows.filter((row) => !opens(vault, row[column] as Buffer, contextOf(row)))
      if (rows.length > 0) kinds += 1
      opened += rows.length - wrong.length
      if (wrong.length === 0) continue
      faults.push(`${wrong.length} of ${rows.length} values of ${name}.${column} do not open`)
    }
  }
  return { kinds, opened, faults }
}

function opens(vault: Vault, sealed: Buffer, context: string): boolean {
  try {
    vault.open(sealed, context)
    return true
  } catch {
    return false
  }
}

function readSample(tx: Tx, table: string, column: string): Promise<Row[]> {
  const end = (order: string) =>
    `(select * from ${table} where length(${column}) > 0 order by ctid ${order} limit ${OF_EACH_END})`
  return tx.query({ text: `${end('asc')} union all ${end('desc')}` })
}
