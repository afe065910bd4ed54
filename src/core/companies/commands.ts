import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import { openBooks, post } from '../../ledger/post.ts'
import { opening } from '../../ledger/recipes.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { startReconciling } from '../payments/reconcile-store.ts'
import { announceChange } from './announce.ts'
import { makeKey } from './keys.ts'
import {
  type Company,
  companyFaults,
  DEFAULT_CITY,
  DEFAULT_COLOR,
  type NewCompany,
  SANDBOX_OPENING,
  SCOPES,
  type Scope,
  SETTLEMENT_DELAY_S,
} from './rules.ts'
import * as store from './store.ts'

export async function createCompany(
  tx: Tx,
  fields: NewCompany & { apiVersion: string },
  now: Date,
): Promise<Company> {
  const faults = companyFaults(fields)
  if (faults) throw faults
  const company: Company = {
    id: newId(),
    name: fields.name,
    taxId: fields.taxId,
    email: fields.email,
    color: fields.color ?? DEFAULT_COLOR,
    imageUrl: fields.imageUrl ?? null,
    // The simulated bank gives a sandbox company a random Pix key, as a bank would.
    pixKey: fields.pixKey ?? randomUUID(),
    city: fields.city ?? DEFAULT_CITY,
    mode: fields.mode,
    apiVersion: fields.apiVersion,
    language: fields.language ?? 'pt',
    settlementDelay_s: fields.settlementDelay_s ?? SETTLEMENT_DELAY_S[fields.mode],
    staticSalesLimit: fields.staticSalesLimit ?? null,
    mailsReceipts: fields.mailsReceipts ?? true,
    clockAhead_ms: 0,
    bankId: null,
    payouts: null,
    payoutKey: null,
    createdAt: now,
    updatedAt: now,
  }
  await store.insertCompany(tx, company)
  await openBooks(tx, company.id)
  await startReconciling(tx, company.id, now)
  if (company.mode === 'sandbox') await post(tx, company.id, [opening(SANDBOX_OPENING)], now)
  return company
}

/** The key's text is shown to the caller once; the database keeps a keyed hash. */
export async function createKey(
  tx: Tx,
  vault: Vault,
  company: Company,
  options: { name: string; scopes?: Scope[] },
  now: Date,
): Promise<{ id: Uuid; text: string }> {
  const { id, text } = makeKey(company.mode)
  await store.insertKey(tx, {
    companyId: company.id,
    id,
    name: options.name,
    hash: vault.hashKey(text),
    scopes: options.scopes ?? SCOPES,
    createdAt: now,
  })
  return { id, text }
}

export async function revokeKey(tx: Tx, companyId: Uuid, id: Uuid, now: Date): Promise<boolean> {
  const revoked = await store.revokeKey(tx, companyId, id, now)
  if (revoked) await announceChange(tx, companyId)
  return revoked
}

export async function pinVersion(
  tx: Tx,
  companyId: Uuid,
  version: string,
  now: Date,
): Promise<boolean> {
  const pinned = await store.updateVersion(tx, companyId, version, now)
  if (pinned) await announceChange(tx, companyId)
  return pinned
}
