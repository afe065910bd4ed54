import type { Database, Tx } from '../../db/database.ts'
import { OperatorFault } from '../../lib/operator-fault.ts'
import type { Vault } from '../../lib/vault.ts'
import { recordForInstallation } from '../activity/record.ts'
import type { Author } from '../activity/rules.ts'
import { findFormerSecrets, hashingContext } from '../installation.ts'
import { listMoving } from '../places/store.ts'
import { SEALED, type SealedTable } from './columns.ts'
import { type Counts, countPart, type Key, type Resealed, resealPart } from './reseal.ts'
import { announceSecret, listFollowers } from './watch.ts'

/** Of a class of its own: only one process replaces a secret at a time. */
const ROTATING = 1986618991

export type Progress = Resealed & { place: number; table: string; isDone: boolean }

export type Rotation = {
  /** Of all places, the control database first. */
  databases: Database[]
  vault: Vault
  /** Who has given the command. */
  author: Author
  report(progress: Progress): void
  /** Says what is waited for. */
  say(line: string): void
  pause(ms: number): Promise<void>
  /** How long a request may take. Less in tests. */
  request_ms?: number
}

/** What is left when everything is sealed again. */
export type Rotated = { former: string; present: string; resealed: number; unreadable: number }

/**
 * Replaces the present secret by the other one that is known, and seals again what the former one
 * has sealed. If it is interrupted anywhere, the same call goes on. Null: there is nothing to do.
 */
export function rotate(rotation: Rotation): Promise<Rotated | null> {
  return alone(rotation, async () => {
    const former = (await unfinished(rotation)) ?? (await begin(rotation))
    if (former === null) return null
    await switchAll(rotation, former)
    const since_ms = await untilFollowed(rotation, former)
    const { resealed, unreadable } = await resealAll(rotation, former, since_ms)
    await finish(rotation, former)
    return { former, present: rotation.vault.keyId, resealed, unreadable }
  })
}

async function alone<R>({ databases }: Rotation, act: () => Promise<R>): Promise<R> {
  const { client, release } = await databases[0]!.connect()
  try {
    const { rows } = await client.query<{ taken: boolean }>(
      `select pg_try_advisory_lock(${ROTATING}, 0) as taken`,
    )
    if (!rows[0]!.taken) throw new OperatorFault('Another command is replacing the secret now.')
    return await act()
  } finally {
    // The lock ends with the connection.
    release(true)
  }
}

async function unfinished({ databases }: Rotation): Promise<string | null> {
  const formers = await findFormerSecrets(databases[0]!)
  return formers.find(({ gone_at }) => gone_at === null)?.id ?? null
}

/** Makes the other secret the present one in the control database, if all processes know it. */
async function begin(rotation: Rotation): Promise<string | null> {
  const { databases, vault, author } = rotation
  const [present, next] = vault.each
  if (!next) return null
  await requireQuiet(databases)
  if (await reopen(rotation, next.keyId)) return next.keyId
  await requireKnown(rotation, next.keyId)
  vault.use(next.keyId)
  await databases[0]!.transaction(async (tx, control) => {
    await store(tx, vault, present!.keyId)
    const details = { former: present!.keyId, present: next.keyId }
    await recordForInstallation(control, author, { action: 'secret.rotate', details })
  })
  return present!.keyId
}

/**
 * If it was replaced before, looks through everything again: a backup, or a server that hung, may
 * have brought back what was sealed with it.
 */
async function reopen({ databases }: Rotation, former: string): Promise<boolean> {
  const reopened = await databases[0]!.query({
    text: `update secret_keys set gone_at = null, progress = '{}' where id = $1 returning 1`,
    values: [former],
  })
  return reopened.length > 0
}

/** What is kept of the former secret, and which one is present, are written together. */
async function store(tx: Tx, vault: Vault, former: string): Promise<void> {
  const keys = vault.each.find(({ keyId }) => keyId === former)!
  await tx.query({
    text: `insert into secret_keys (id, hashing, replaced_at) values ($1, $2, now())
           on conflict (id) do update set gone_at = null,
             progress = case when secret_keys.gone_at is null then secret_keys.progress else '{}' end`,
    values: [former, vault.seal(keys.hashing(), hashingContext(former))],
  })
  await tx.query({
    text: 'update installation set secret_key_id = $1',
    values: [vault.keyId],
  })
  await announceSecret(tx, vault.keyId)
}

/** Companies that move, and charges that are still indexed, would be missed. */
async function requireQuiet(databases: Database[]): Promise<void> {
  for (const [i, db] of databases.entries()) {
    if ((await listMoving(db)).length > 0) {
      throw new OperatorFault(
        `A company is being moved from or to place ${i + 1}. Finish that first: see "vintem doctor".`,
      )
    }
    const backfills = await db.query({ text: 'select from backfills limit 1' })
    if (backfills.length === 0) continue
    throw new OperatorFault(
      `Place ${i + 1} still indexes old charges, which its workers do. Try again in some minutes.`,
    )
  }
}

/** A process that does not know the new secret could not open what others seal with it. */
async function requireKnown({ databases }: Rotation, keyId: string): Promise<void> {
  const followers = await listFollowers(databases[0]!)
  const behind = followers.filter(({ keyIds }) => !keyIds.includes(keyId))
  if (behind.length === 0) return
  const named = behind.map(({ address, pid }) => `${address} (connection ${pid})`)
  throw new OperatorFault(
    `Running servers do not know the new secret: ${named.join(', ')}. Set SECRET_KEY_NEXT on each of them, start it again, and repeat this command.`,
  )
}

/** Each place has a row of its own, with which it is written down how far it has come. */
async function switchAll({ databases, vault }: Rotation, former: string): Promise<void> {
  const present = vault.each.find(({ keyId }) => keyId !== former)
  if (!present || !vault.each.some(({ keyId }) => keyId === former)) {
    throw new OperatorFault(`Both secrets are needed to go on: ${former} and the one after it.`)
  }
  vault.use(present.keyId)
  for (const db of databases) await db.transaction((tx) => store(tx, vault, former))
}

const FOLLOWED_MS = 200
const SAID_MS = 5_000

/**
 * Until every process seals with the new secret, more could be sealed with the former one. Returns
 * the moment since when none does, or, if none did from the beginning, when it was replaced.
 */
async function untilFollowed(rotation: Rotation, former: string): Promise<number> {
  const { databases, say, pause } = rotation
  for (let waited_ms = 0; ; waited_ms += FOLLOWED_MS) {
    const behind = (await listFollowers(databases[0]!)).filter(({ keyIds }) => keyIds[0] === former)
    if (behind.length === 0) {
      return performance.now() - (waited_ms > 0 ? 0 : await ageOf(databases[0]!, former))
    }
    if (waited_ms % SAID_MS === 0 && waited_ms > 0) {
      const named = behind.map(({ address, pid }) => `${address} (connection ${pid})`)
      say(`Waiting for a server that still seals with the former secret: ${named.join(', ')}.`)
    }
    await pause(FOLLOWED_MS)
  }
}

async function ageOf(tx: Tx, former: string): Promise<number> {
  const [row] = await tx.query<{ age_ms: number }>({
    text: `select (extract(epoch from now() - replaced_at) * 1000)::float8 as age_ms
           from secret_keys where id = $1`,
    values: [former],
  })
  return row!.age_ms
}

/**
 * A request may have sealed something long before it writes it: a batch of 1,000 charges waits for
 * a bank that answers slowly for eight minutes.
 */
const REQUEST_MS = 600_000

async function untilWritten(rotation: Rotation, since_ms: number): Promise<void> {
  const { databases, say, pause, request_ms = REQUEST_MS } = rotation
  const left_ms = since_ms + request_ms - performance.now()
  if (left_ms <= 0 || (await listFollowers(databases[0]!)).length === 0) return
  say(
    `Everything is sealed again. In ${Math.ceil(left_ms / 1000)} seconds, when all requests from before are over, it is looked through once more.`,
  )
  await pause(left_ms)
}

/** How a table is walked: with hashes or without, and if it is written down how far it has come. */
type Manner = { withHashes: boolean; former: string | null }

/**
 * Walks all tables of all places, and again when requests from before have written what they had
 * sealed or hashed. Then those with envelopes until nothing is found any more: while a table was
 * walked, a record may have been copied to another one as it was.
 */
async function resealAll(rotation: Rotation, former: string, since_ms: number): Promise<Resealed> {
  const all = { read: 0, resealed: 0, unreadable: 0 }
  const walkAll = async (tables: readonly SealedTable[], manner: Manner) => {
    const found = { read: 0, resealed: 0, unreadable: 0 }
    for (const [i, db] of rotation.databases.entries()) {
      for (const table of tables) {
        const walked = await walk(rotation, { db, place: i + 1 }, table, manner)
        for (const name of ['read', 'resealed', 'unreadable'] as const) found[name] += walked[name]
      }
    }
    all.read += found.read
    all.resealed += found.resealed
    all.unreadable = found.unreadable
    return found
  }
  await walkAll(SEALED, { withHashes: true, former })
  await untilWritten(rotation, since_ms)
  await walkAll(SEALED, { withHashes: true, former: null })
  const withEnvelopes = SEALED.filter(({ sealed }) => Object.keys(sealed).length > 0)
  for (;;) {
    const { resealed } = await walkAll(withEnvelopes, { withHashes: false, former: null })
    if (resealed === 0) return all
  }
}

/** Walks a table. If `former` is given, it is written down how far it has come. */
async function walk(
  { vault, report, pause }: Rotation,
  { db, place }: { db: Database; place: number },
  table: SealedTable,
  { withHashes, former }: Manner,
): Promise<Resealed> {
  const { name } = table
  const progress = { place, table: name, read: 0, resealed: 0, unreadable: 0, isDone: false }
  const note = (tx: Tx, last: Key) =>
    former ? noteProgress(tx, former, name, last) : Promise.resolve()
  let after = former ? await findProgress(db, former, name) : null
  // An empty key says that the table is done.
  if (after?.length === 0) return progress
  for (;;) {
    const began_ms = performance.now()
    const part = await resealPart(db, vault, table, { after, withHashes, note })
    progress.read += part.read
    progress.resealed += part.resealed
    progress.unreadable += part.unreadable
    after = part.last
    progress.isDone = after === null
    if (progress.isDone && former) await noteProgress(db, former, name, [])
    report(progress)
    if (progress.isDone) return progress
    // Half of the time is for others.
    await pause(performance.now() - began_ms)
  }
}

const noteProgress = (tx: Tx, former: string, table: string, last: Key) =>
  tx.query({
    text: `update secret_keys set progress = progress || jsonb_build_object($2::text, $3::jsonb)
           where id = $1`,
    values: [former, table, JSON.stringify(last)],
  })

async function findProgress(tx: Tx, former: string, table: string): Promise<Key | null> {
  const [row] = await tx.query<{ last: Key | null }>({
    text: 'select progress -> $2 as last from secret_keys where id = $1',
    values: [former, table],
  })
  return row?.last ?? null
}

/** Limits on mails to a mailbox are counted under hashes of it. They begin anew. */
const FORGET_MAILBOXES = `delete from mail_budgets where name like '% to %'`

async function finish({ databases }: Rotation, former: string): Promise<void> {
  await requireQuiet(databases)
  for (const db of databases.toReversed()) {
    await db.transaction(async (tx) => {
      await tx.query({ text: FORGET_MAILBOXES })
      await tx.query({
        text: 'update secret_keys set gone_at = now() where id = $1',
        values: [former],
      })
    })
  }
}

/** What is sealed with which secret, in one table of one place. */
export type Sealing = { place: number; table: string; counts: Counts }

/** Counts all envelopes. Reads whole tables, in parts. */
export async function countSealed(databases: Database[]): Promise<Sealing[]> {
  const all: Sealing[] = []
  for (const [i, db] of databases.entries()) {
    for (const table of SEALED) {
      const counts: Counts = new Map()
      if (Object.keys(table.sealed).length === 0) continue
      for (let after: Key | null = null, isFirst = true; isFirst || after; isFirst = false) {
        after = await countPart(db, table, after, counts)
      }
      all.push({ place: i + 1, table: table.name, counts })
    }
  }
  return all
}
