import { newId, toPublic } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { ChargeOrder, Provider } from '../../provider/port.ts'
import { accepted } from '../../provider/providers.ts'
import type { App, Uses } from '../app.ts'
import type { Company } from '../companies/rules.ts'
import { findCompany } from '../companies/store.ts'
import { openPerson } from '../customers/sealing.ts'
import { LEASE_S } from '../due.ts'
import { type IdempotencyRef, inProgress } from '../idempotency.ts'
import { retryIn_s } from '../orders.ts'
import type { AppWithCharges } from './group.ts'
import * as store from './intent-store.ts'
import { type Charge, expiryOf } from './rules.ts'

type Ordered = Pick<
  Charge,
  'companyId' | 'id' | 'amount' | 'expiresAt' | 'description' | 'payer' | 'due'
>

/** A charge as its bank gets it, with the payer's tax id, which is sealed here. */
export function orderOf({ vault }: Pick<App, 'vault'>, charge: Ordered): ChargeOrder {
  const { companyId, id, amount, expiresAt, description, payer, due } = charge
  const taxId = payer && openPerson(vault, companyId, payer).taxId
  return {
    id,
    amount,
    expiresAt,
    description,
    payer: payer && taxId ? { name: payer.name, taxId } : null,
    due,
  }
}

/** The id and the times of a charge, and the code that its bank has issued. */
export type BankCode = Omit<store.Intent, 'companyId' | 'hasDueDate'> & { brCode: string }

type Wanted = Pick<Charge, 'amount' | 'devMode' | 'description' | 'payer' | 'due'> & {
  lifetime_s: number
}

const later = (now: Date, seconds: number): Date => new Date(now.getTime() + seconds * 1000)

function newIntent({ clock }: Uses<'clock'>, company: Company, wanted: Wanted): store.Intent {
  const createdAt = clock.now()
  return {
    companyId: company.id,
    id: newId(),
    createdAt,
    expiresAt: expiryOf(wanted, createdAt),
    hasDueDate: wanted.due !== null,
  }
}

/**
 * Asks the bank for the code of a new charge, and lets `write` insert the charge with it. If
 * `write` fails, a task removes the charge at the bank later, because no payer has its code.
 */
export async function withBankCode<T>(
  app: AppWithCharges,
  company: Company,
  wanted: Wanted,
  guard: IdempotencyRef | null,
  write: (code: BankCode) => Promise<T>,
): Promise<T> {
  const provider = app.providers.of(company, wanted.devMode)
  if (provider !== app.providers.simulator) {
    return withRealBankCode(app, company, provider, wanted, guard, write)
  }
  // The simulated bank answers without a network, so no answer of it can be lost.
  const intent = newIntent(app, company, wanted)
  const { amount, due } = wanted
  const { brCode } = accepted(await provider.issueCharge(company, { ...intent, amount, due }))
  return write({ ...intent, brCode })
}

/**
 * Writes an intent before the bank gets the order. If the bank does not answer, it may know the
 * charge: the same request continues from the intent, or a task removes the charge at the bank.
 */
async function withRealBankCode<T>(
  app: AppWithCharges,
  company: Company,
  provider: Provider,
  wanted: Wanted,
  guard: IdempotencyRef | null,
  write: (code: BankCode) => Promise<T>,
): Promise<T> {
  const intent = await begin(app, company, wanted, guard)
  const began_ms = performance.now()
  const brCode = await issue(app, company, provider, {
    ...intent,
    ...orderOf(app, { ...wanted, ...intent }),
  })
  const written = await renewIfOld(app, intent, began_ms)
    .then(() => write({ ...intent, brCode }))
    .catch(async (error) => {
      await release(app, intent).catch(ignore)
      throw error
    })
  app.charges.removeIntent(intent).catch(ignore)
  return written
}

const ignore = () => {}

/** The code that the bank issues. If it rejects the charge, the intent is not needed any more. */
async function issue(
  app: Uses<'db' | 'systemClock'>,
  company: Company,
  provider: Provider,
  charge: store.Intent & ChargeOrder,
): Promise<string> {
  const outcome = await provider.issueCharge(company, charge).catch(async (error) => {
    await release(app, charge)
    throw error
  })
  if (outcome.kind === 'rejected') await store.remove(app.db, [charge])
  if (outcome.kind === 'unknown') await release(app, charge)
  return accepted(outcome, provider).brCode
}

/** A new intent, or the one that the same request has left without an answer. */
async function begin(
  app: AppWithCharges,
  company: Company,
  wanted: Wanted,
  guard: IdempotencyRef | null,
): Promise<store.Intent> {
  const leasedUntil = later(app.systemClock.now(), LEASE_S)
  const intent = newIntent(app, company, wanted)
  const isInserted = await app.charges.insertIntent({ ...intent, guard, leasedUntil })
  // Without a key it is left out only if the statement was sent again after it had inserted it.
  if (isInserted || !guard) return intent
  return continueEarlier(app, { ...intent, guard, leasedUntil })
}

/** Continues from the intent that has the key of this one, if its request has ended. */
async function continueEarlier(
  app: Uses<'clock' | 'db' | 'systemClock' | 'vault'>,
  intent: store.NewIntent & { guard: IdempotencyRef },
): Promise<store.Intent> {
  const { companyId, guard, leasedUntil } = intent
  return app.db.transaction(async (tx) => {
    for (;;) {
      const earlier = await store.lockByKey(tx, companyId, guard.key)
      if (earlier?.id === intent.id) return intent
      if (!earlier) {
        const [isInserted] = await store.insert(tx, [intent])
        if (isInserted) return intent
        continue
      }
      if (!app.vault.isSameRequest(earlier.fingerprint, guard.fingerprint)) {
        throw problem('idempotency_key_reused')
      }
      const isUsable = earlier.attempts === 0
      if (isUsable && earlier.leasedUntil > app.systemClock.now()) throw inProgress()
      if (isUsable && earlier.expiresAt > app.clock.now()) {
        await store.lease(tx, earlier, leasedUntil)
        return earlier
      }
      // If it has expired, or a task removes it at the bank, make another charge with this key.
      await store.forgetKey(tx, earlier)
    }
  })
}

/** How long after a failure the task leaves an intent to a repeated request. */
const RETRY_WINDOW_S = 60

async function release(app: Uses<'db' | 'systemClock'>, intent: store.Intent): Promise<void> {
  const now = app.systemClock.now()
  await store.release(app.db, intent, now, later(now, RETRY_WINDOW_S))
}

/**
 * If the bank has taken long, renews the lease, so that the task does not remove the charge at the
 * bank while it is inserted. A write never takes as long as the rest of the lease.
 */
async function renewIfOld(
  app: Uses<'db' | 'systemClock'>,
  intent: store.Intent,
  began_ms: number,
): Promise<void> {
  if (performance.now() - began_ms <= (LEASE_S * 1000) / 6) return
  if (await store.lease(app.db, intent, later(app.systemClock.now(), LEASE_S))) return
  throw problem('provider_unavailable', 'The bank answered too late. Try again.')
}

/**
 * Removes charges of a company at its bank, which knows them although we never inserted them. If
 * the bank does not answer about one, it is not asked about the others now.
 */
export async function removeOrphans(
  app: Uses<'clock' | 'db' | 'log' | 'providers' | 'systemClock'>,
  orphans: store.Orphan[],
): Promise<void> {
  let answers = true
  for (const orphan of orphans) {
    if (orphan.isWritten) await store.remove(app.db, [orphan])
    else if (answers) answers = await removeOrphan(app, orphan)
    else await postpone(app, orphan)
  }
}

async function postpone(app: Uses<'db' | 'systemClock'>, orphan: store.Orphan): Promise<void> {
  const now = app.systemClock.now()
  await store.release(app.db, orphan, now, later(now, retryIn_s(orphan.attempts)))
}

/** Removes a charge at its bank. Returns whether the bank has answered. */
async function removeOrphan(
  app: Uses<'clock' | 'db' | 'log' | 'providers' | 'systemClock'>,
  orphan: store.Orphan,
): Promise<boolean> {
  const company = await findCompany(app.db, orphan.companyId)
  const bank = company && app.providers.bankOf(company)
  // If no bank is connected and the charge has expired, there is nothing to remove.
  if (!bank && orphan.expiresAt <= app.clock.now()) {
    await store.remove(app.db, [orphan])
    return true
  }
  const outcome = bank
    ? await bank.removeCharge(company, { id: orphan.id, due: orphan.hasDueDate ? {} : null })
    : ({ kind: 'unknown', reason: 'no bank is connected' } as const)
  const charge = toPublic('charge', orphan.id)
  if (outcome.kind !== 'accepted') {
    await postpone(app, orphan)
    app.log.warn({ charge, reason: outcome.reason }, 'the bank has not removed a charge yet')
    return false
  }
  // It was paid although nobody has its code from us. Reconciling finds the money, and the merchant
  // decides about it.
  if (outcome.value === 'paid') app.log.warn({ charge }, 'a charge was paid but never inserted')
  await store.remove(app.db, [orphan])
  return true
}
