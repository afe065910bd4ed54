import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { ControlTx, Tx } from '../../db/database.ts'
import { createBatcher, LOOKUPS } from '../../lib/batch.ts'
import { newId, packPair, type Uuid, unpackPair } from '../../lib/ids.ts'
import { problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Connection } from '../../provider/bacen/connection.ts'
import { completeProfile } from '../../provider/bacen/profiles.ts'
import { announceChange } from '../companies/announce.ts'
import type { Company } from '../companies/rules.ts'
import { updateDestinationChange } from '../companies/store.ts'
import type { Reader } from '../letters/layout.ts'
import { type BankChange, composeBankChange } from '../letters/members.ts'
import { mailOwners } from '../people/owner-mails.ts'
import { reconcileSoon } from '../reconciliation-schedule.ts'
import {
  type BankRecord,
  bankContext,
  deleteBank,
  findBank,
  findCallbackIds,
  lockBank,
  saveBank,
} from './store.ts'

/** What an operator gives to connect a company's bank. */
export type NewBank = Omit<Connection, 'id'> & {
  payouts: BankRecord['payouts']
  payoutKey?: string | null
  certificateEndsAt: Date
}

/** Refuses to change another connection than the one that somebody has looked at. */
async function requireExpected(tx: Tx, companyId: Uuid, expected: Uuid | null): Promise<void> {
  if (expected === null) return
  if ((await lockBank(tx, companyId)) !== expected) throw problem('bank_changed')
}

/**
 * Connects a company to its bank, instead of the bank that it had. The callback URL stays the same,
 * because it may be registered at the bank. If `expected` is given, only that connection is replaced.
 */
export async function connectBank(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { payouts, payoutKey = null, certificateEndsAt, ...connection }: NewBank,
  now: Date,
  expected: Uuid | null = null,
): Promise<BankRecord> {
  await requireExpected(tx, companyId, expected)
  const id = newId()
  const before = await findBank(tx, companyId)
  const known = before && (await openConnection(tx, vault, companyId))
  const isSame = known?.profile.baseUrl === connection.profile.baseUrl
  const bank: BankRecord = {
    companyId,
    id,
    profile: connection.profile.name,
    payouts,
    payoutKey,
    certificateEndsAt,
    sealed: vault.seal(JSON.stringify(connection), bankContext(companyId, id)),
    callbackId: before?.callbackId ?? randomUUID(),
    // If only the credentials change, payments that arrived while the old ones failed count too.
    connectedAt: before && isSame ? before.connectedAt : now,
  }
  await saveBank(tx, bank)
  await reconcileSoon(tx, companyId, now)
  await announceChange(tx, companyId)
  return bank
}

/** Deletes a company's bank with its credentials. Returns false if there was none. */
export async function disconnectBank(
  tx: Tx,
  companyId: Uuid,
  expected: Uuid | null = null,
): Promise<boolean> {
  await requireExpected(tx, companyId, expected)
  const isGone = await deleteBank(tx, companyId)
  if (isGone) await announceChange(tx, companyId)
  return isGone
}

/** Whether money goes where it went before, as when only a certificate is renewed. */
export async function keepsDestination(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
  { profile, clientId, payoutKey = null }: NewBank,
): Promise<boolean> {
  const before = await findBank(tx, companyId)
  const known = before && (await openConnection(tx, vault, companyId))
  if (!before || !known) return false
  const isSame = known.profile.baseUrl === profile.baseUrl && known.clientId === clientId
  return isSame && before.payoutKey === payoutKey
}

/** Decrypts the connection to a company's bank; null when it has none. */
export async function openConnection(
  tx: Tx,
  vault: Vault,
  companyId: Uuid,
): Promise<Connection | null> {
  const bank = await findBank(tx, companyId)
  if (!bank) return null
  const connection = JSON.parse(vault.open(bank.sealed, bankContext(companyId, bank.id)))
  return { ...connection, profile: completeProfile(connection.profile), id: bank.id }
}

const CALLBACKS = '/bank/callbacks/'

/** The callback URL of a company's bank. Whoever knows it can only make us ask the bank. */
export const callbackUrl = (
  publicUrl: string,
  { companyId, callbackId }: Pick<BankRecord, 'companyId' | 'callbackId'>,
): string => `${publicUrl}${CALLBACKS}${packPair(companyId, callbackId)}`

/** Finds the company whose bank calls an address for callbacks, or null. */
export function createCallbackFinder(tx: Tx): (token: string) => Promise<Uuid | null> {
  const findId = createBatcher((ids: Uuid[]) => findCallbackIds(tx, ids), LOOKUPS)
  return async (token) => {
    const named = unpackPair(token)
    const callbackId = named && (await findId(named.companyId))
    if (!callbackId) return null
    const isRight = timingSafeEqual(Buffer.from(callbackId), Buffer.from(named.id))
    return isRight ? named.companyId : null
  }
}

/**
 * Somebody has changed in the dashboard where the company's money goes, and may be a thief. So all
 * owners get a mail at once, and withdrawals wait until they have had the time to read it.
 */
export async function guardBankChange(
  tx: Tx,
  control: ControlTx,
  vault: Vault,
  company: Company,
  change: BankChange,
  personId: Uuid,
  now: Date,
): Promise<void> {
  await updateDestinationChange(tx, company.id, personId, now)
  await announceChange(tx, company.id)
  return mailBankChange(tx, control, vault, company, change, now)
}

/** An operator is trusted, so nothing waits. */
export const BY_OPERATOR = { by: null, waitHours: 0 } as const

/** Tells the company and all owners where the company's money goes from now on. */
export function mailBankChange(
  tx: Tx,
  control: ControlTx,
  vault: Vault,
  company: Company,
  change: BankChange,
  now: Date,
): Promise<void> {
  const letterTo = (reader: Reader) => composeBankChange(company, reader, change, now)
  return mailOwners(tx, control, vault, company, 'bank-changed', letterTo, now)
}
