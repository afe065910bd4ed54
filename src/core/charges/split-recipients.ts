import type { Static } from 'typebox'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import { type ErrorItem, invalid, Problem } from '../../lib/problems.ts'
import type { Uses } from '../app.ts'
import type { Recipient } from '../recipients/rules.ts'
import { findMany } from '../recipients/store.ts'
import type { Charge, Split } from './rules.ts'
import type { SplitField } from './split-view.ts'

type SplitBody = NonNullable<Static<typeof SplitField>>
type Known = Awaited<ReturnType<typeof findMany>>

/** The split of a body. Its recipients must be active and of the company. */
export async function findSplit(
  app: Uses<'db'>,
  companyId: Uuid,
  wanted: SplitBody | undefined,
): Promise<Split | null> {
  return wanted ? splitOf(wanted, await findNamed(app, companyId, wanted)) : null
}

const idsOf = (wanted: SplitBody) =>
  wanted.map(({ recipientId }) => fromPublic('rcpt', recipientId))

/** The recipients that the parts of a split name, or of several. */
export function findNamed(app: Uses<'db'>, companyId: Uuid, parts: SplitBody): Promise<Known> {
  const ids = new Set(idsOf(parts).filter((id) => id !== null))
  return findMany(app.db, companyId, [...ids])
}

/** Throws if one of the recipients is not known, or gets no parts any more. */
export function splitOf(wanted: SplitBody, found: Known): Split {
  const ids = idsOf(wanted)
  const [first, ...others] = wanted.flatMap((_, i) => faultOf(i, found.get(ids[i] ?? '')))
  if (first) throw new Problem([first, ...others])
  return wanted.map(({ amount, percent }, i) => ({
    recipientId: ids[i]!,
    ...(amount === undefined ? { percent: percent! } : { amount: toCents(amount) }),
  }))
}

function faultOf(i: number, recipient: Pick<Recipient, 'status'> | undefined): ErrorItem[] {
  const path = `split[${i}].recipientId`
  if (!recipient) {
    const description = `${path}: the company has no such recipient.`
    return [{ code: 'recipient_not_found', description }]
  }
  if (recipient.status === 'ACTIVE') return []
  return [{ code: 'invalid_value', description: `${path}: the recipient must be ACTIVE` }]
}

/** Throws if a recipient of a charge that is made again gets no parts any more. */
export async function requireActive(
  app: Uses<'db'>,
  { companyId, split }: Pick<Charge, 'companyId' | 'split'>,
): Promise<void> {
  if (split === null) return
  const ids = split.map(({ recipientId }) => recipientId)
  const found = await findMany(app.db, companyId, ids)
  const isActive = ({ recipientId }: { recipientId: Uuid }) =>
    found.get(recipientId)?.status === 'ACTIVE'
  if (!split.every(isActive)) {
    throw invalid('split: a recipient of the charge is not ACTIVE; create another charge')
  }
}
