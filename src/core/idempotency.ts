import { texts, timestamps, uuids } from '../db/arrays.ts'
import type { Act, Database, Tx } from '../db/database.ts'
import { deleteOldest } from '../db/delete-oldest.ts'
import { type Batcher, createBatcher, LOOKUPS } from '../lib/batch.ts'
import type { Uuid } from '../lib/ids.ts'
import { problem } from '../lib/problems.ts'
import type { Vault } from '../lib/vault.ts'

/**
 * An answer that is given again, byte for byte, to whoever repeats the request. It may hold a
 * payer's data or a secret that is shown once, so it is sealed like those.
 */
export type StoredResponse = {
  key: string
  fingerprint: Buffer
  status: number
  sealedBody: Buffer
  /** The header X-Warnings. It has amounts only, so it is not sealed. */
  warnings: string | null
}

/** A client's Idempotency-Key, and the request that it belongs to. */
export type IdempotencyRef = Pick<StoredResponse, 'key' | 'fingerprint'>

/**
 * The key of a part of a request, which no client can send, because it is made with our secret: the
 * first one, so that a retry finds it when the secret was replaced.
 */
export const guardOfPart = (
  vault: Vault,
  { key, fingerprint }: IdempotencyRef,
  part: string,
): IdempotencyRef => ({
  key: `part:${vault.first.fingerprint([key, part]).toString('base64url')}`,
  fingerprint,
})

export const inProgress = () =>
  problem('idempotency_in_progress', undefined, { 'Retry-After': '1' })

export const answerContext = (companyId: Uuid, key: string) => `${companyId}:answer:${key}`

export function sealAnswer(
  vault: Vault,
  guard: IdempotencyRef & { companyId: Uuid },
  { status, body, warnings }: { status: number; body: string; warnings: string | null },
): StoredResponse {
  const { companyId, key, fingerprint } = guard
  const sealedBody = vault.seal(body, answerContext(companyId, key))
  return { key, fingerprint, status, sealedBody, warnings }
}

export const openAnswer = (vault: Vault, companyId: Uuid, response: StoredResponse): string =>
  vault.open(response.sealedBody, answerContext(companyId, response.key))

const STORED_HOURS = 24

/** `now` is always of `clockWatch`: a machine with a wrong clock would forget what is kept. */
const oldestStored = (now: Date) => new Date(now.getTime() - STORED_HOURS * 3_600_000)

/** The answer that is stored under a key now, or null. */
type Wanted = { companyId: Uuid; key: string; now: Date }

async function findMany(tx: Tx, wanted: Wanted[]): Promise<(StoredResponse | null)[]> {
  const rows = await tx.query<StoredResponse & { position: number }>({
    name: 'find_stored',
    text: `select k.position::int, s.* from unnest($1::uuid[], $2::text[], $3::timestamptz[])
             with ordinality k (company_id, key, oldest, position)
           cross join lateral (
             select key, fingerprint, status, sealed_body as "sealedBody", warnings
             from idempotency_keys where company_id = k.company_id and key = k.key
               and created_at > k.oldest limit 1) s`,
    values: [
      uuids(wanted.map(({ companyId }) => companyId)),
      texts(wanted.map(({ key }) => key)),
      timestamps(wanted.map(({ now }) => oldestStored(now))),
    ],
  })
  const found = wanted.map((): StoredResponse | null => null)
  for (const { position, ...response } of rows) found[position - 1] = response
  return found
}

/** Finds the answer under a key with those that are looked for at the same time. */
export type FindStored = Batcher<Wanted, StoredResponse | null>

export const groupFinds = (db: Database): FindStored =>
  createBatcher((wanted) => findMany(db.hot, wanted), {
    ...LOOKUPS,
    concurrency: 1,
    ownerOf: ({ companyId }) => companyId,
  })

/**
 * Stores an answer in the transaction of its effect; a key older than a day is overwritten. False
 * when the key is taken: another process was first, and its transaction has ended by the time we
 * know.
 */
export async function store(
  tx: Tx,
  companyId: Uuid,
  response: StoredResponse,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    name: 'store_response',
    text: `insert into idempotency_keys as k
             (company_id, key, fingerprint, status, sealed_body, created_at, warnings)
           values ($1, $2, $3, $4, $5, $6, $8)
           on conflict (company_id, key) do update set fingerprint = excluded.fingerprint,
             status = excluded.status, sealed_body = excluded.sealed_body,
             created_at = excluded.created_at, warnings = excluded.warnings
             where k.created_at <= $7
           returning key`,
    values: [
      companyId,
      response.key,
      response.fingerprint,
      response.status,
      response.sealedBody,
      now,
      oldestStored(now),
      response.warnings,
    ],
  })
  return rows.length === 1
}

/**
 * Takes the key before the effect, so that the same request elsewhere waits for this transaction.
 */
export const claim = (tx: Tx, companyId: Uuid, key: string, fingerprint: Buffer, now: Date) =>
  store(
    tx,
    companyId,
    { key, fingerprint, status: 0, sealedBody: Buffer.alloc(0), warnings: null },
    now,
  )

/** Writes the answer into the claimed key. */
export async function complete(tx: Tx, companyId: Uuid, response: StoredResponse): Promise<void> {
  await tx.query({
    name: 'complete_stored',
    text: `update idempotency_keys set status = $3, sealed_body = $4, warnings = $5
           where company_id = $1 and key = $2`,
    values: [companyId, response.key, response.status, response.sealedBody, response.warnings],
  })
}

/**
 * Runs a command once, and stores its answer in the same transaction. If it was run before with the
 * same key, returns the answer of that time. The answer must be the same as JSON.
 */
export function runOnce<T>(
  db: Database,
  vault: Vault,
  guard: IdempotencyRef & { companyId: Uuid },
  now: Date,
  act: Act<T>,
): Promise<T> {
  const { companyId, key, fingerprint } = guard
  return db.transaction(async (tx, control) => {
    if (!(await claim(tx, companyId, key, fingerprint, now))) {
      const [stored] = await findMany(tx, [{ companyId, key, now }])
      if (!stored || !vault.isSameRequest(stored.fingerprint, fingerprint)) {
        throw problem('idempotency_key_reused')
      }
      return JSON.parse(openAnswer(vault, companyId, stored))
    }
    const answer = await act(tx, control)
    const shown = { status: 200, body: JSON.stringify(answer), warnings: null }
    const response = sealAnswer(vault, guard, shown)
    await complete(tx, companyId, response)
    return answer
  })
}

/** Deletes a key that is older than a day, if the worker has not deleted it yet. */
export async function forgetOld(tx: Tx, companyId: Uuid, key: string, now: Date): Promise<void> {
  await tx.query({
    text: 'delete from idempotency_keys where company_id = $1 and key = $2 and created_at <= $3',
    values: [companyId, key, oldestStored(now)],
  })
}

export const purgeStored = (tx: Tx, now: Date, max: number): Promise<number> =>
  deleteOldest(tx, 'idempotency_keys', 'created_at', oldestStored(now), max)
