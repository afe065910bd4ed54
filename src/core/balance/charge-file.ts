import type { Tx } from '../../db/database.ts'
import { findPostings } from '../../ledger/statement.ts'
import { type Column, csvWriter } from '../../lib/csv.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { BRAZILIAN } from '../../pix/brazilian-csv.ts'
import { csvColumnsForPeople, emailColumn } from '../charges/csv.ts'
import type { Charge } from '../charges/rules.ts'
import { findFirstCompleted } from '../withdrawals/store.ts'

/** A charge and the first withdrawal after its money was released. */
type DatedCharge = Charge & { withdrawnAt: Date | null }

/**
 * Adds the first completed withdrawal that was asked for after the money of a charge was released.
 * A balance is one sum, so nobody can say in which withdrawal the money of one charge has left. It
 * cannot have left before this one.
 */
export async function withWithdrawals(
  tx: Tx,
  companyId: Uuid,
  charges: Charge[],
): Promise<DatedCharge[]> {
  const refs = charges.flatMap(({ booked, endToEndId }) => (booked && endToEndId) || [])
  const released = await findPostings(tx, companyId, ['CHARGE_SETTLED'], refs)
  const moments = released.map(({ createdAt }) => createdAt)
  const first = await findFirstCompleted(tx, companyId, moments)
  const found = new Map(released.map(({ ref }, i) => [ref, first[i]!]))
  return charges.map((charge) => {
    const ref = charge.booked ? charge.endToEndId : null
    return { ...charge, withdrawnAt: (ref && found.get(ref)) || null }
  })
}

/** What was added to the amount of a charge with a due date, or taken off it, when it was paid. */
const PARTS = [
  ['fine', 'Multa', 1],
  ['interest', 'Juros', 1],
  ['discount', 'Desconto', -1],
  ['rebate', 'Abatimento', -1],
] as const

const partColumn = ([part, title, sign]: (typeof PARTS)[number]): Column<DatedCharge> => ({
  name: `${part}_cents`,
  title,
  of: ({ due }) => {
    const cents = due?.paid?.[part] ?? 0
    return { cents, signed: sign * cents }
  },
})

const columnsOf = (vault: Vault, isWhole: boolean): Column<DatedCharge>[] => [
  ...csvColumnsForPeople(vault, isWhole),
  {
    name: 'first_withdrawal_at',
    title: 'Primeiro saque após a liberação',
    of: ({ withdrawnAt }) => withdrawnAt,
  },
  {
    name: 'shortfall_cents',
    title: 'Faltou',
    of: ({ shortfall }) => ({ cents: shortfall, signed: 0 - shortfall }),
  },
  { name: 'due_date', title: 'Vencimento', of: ({ due }) => due?.terms.dueDate ?? null },
  ...PARTS.map(partColumn),
  emailColumn(vault, isWhole),
]

/**
 * The file of charges that people download. New columns are added at the end. `isWhole`: the person
 * may see tax ids and e-mail addresses of payers.
 */
export const chargeFileWriter = (vault: Vault, isWhole: boolean) =>
  csvWriter(columnsOf(vault, isWhole), BRAZILIAN)
