import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../db/database.ts'
import { type Notifications, openNotifications } from '../../db/notifications.ts'
import { describeError, type Log } from '../../lib/log.ts'
import type { Vault } from '../../lib/vault.ts'
import { findSecretKeyId, learnSecrets } from '../installation.ts'

/** Where it is announced that another secret is present. */
const CHANNEL = 'vintem_secret'
/** A process shows by the name of a connection which secrets it knows, the present one first. */
const NAME = 'vintem keys'

/** How soon the present secret is read again if that has failed. */
const RETRY_MS = 500

const nameOf = ({ each }: Vault): string => [NAME, ...each.map(({ keyId }) => keyId)].join(' ')

/** Announces, in the transaction of the change, that another secret is present. */
export const announceSecret = (tx: Tx, keyId: string) =>
  tx.query({ text: 'select pg_notify($1, $2)', values: [CHANNEL, keyId] })

/**
 * Follows which secret is present, and shows by a connection to the control database that it does.
 * Whoever replaces a secret waits until no process shows the former one first. Resolves when the
 * connection is there, so that a process that begins to work is seen. While it is lost, so is what
 * it shows, and the present secret is read again as soon as it is back.
 */
export async function followSecret(
  { db, vault, log }: { db: Tx; vault: Vault; log: Log },
  url: string,
): Promise<() => Promise<void>> {
  await learnSecrets(db, vault)
  const started = Promise.withResolvers<void>()
  let isClosed = false
  let shownName = nameOf(vault)
  let shown = show()
  /** A connection keeps its name. It is closed when another one has taken its place. */
  let before: Notifications | null = null

  function show(): Notifications {
    const lost = (error: Error) =>
      log.warn(describeError(error), 'the connection that follows the present secret was lost')
    const notifications = openNotifications(url, shownName, [CHANNEL], lost)
    notifications.on(CHANNEL, () => void readUntilDone(notifications))
    return notifications
  }

  async function readUntilDone(notifications: Notifications): Promise<void> {
    while (!isClosed && notifications.alive()) {
      try {
        return await read(notifications)
      } catch (error) {
        log.warn(describeError(error), 'the present secret could not be read')
        await pause(RETRY_MS, undefined, { ref: false })
      }
    }
  }

  async function read(notifications: Notifications): Promise<void> {
    const present = await findSecretKeyId(db)
    const isKnown = vault.each.some(({ keyId }) => keyId === present)
    if (present !== null && present !== vault.keyId && isKnown) {
      vault.use(present)
      log.info({ secret: present }, 'another secret is present')
    }
    started.resolve()
    if (isClosed || shown !== notifications) return
    if (nameOf(vault) === shownName) {
      await before?.close()
      before = null
      return
    }
    shownName = nameOf(vault)
    before = notifications
    shown = show()
  }

  await started.promise
  return async () => {
    isClosed = true
    await Promise.all([shown.close(), before?.close()])
  }
}

/** A running process, by its connection: the ids of the secrets that it knows. */
export type Follower = { keyIds: string[]; address: string; pid: number }

/** The processes that are connected to the control database. */
export async function listFollowers(tx: Tx): Promise<Follower[]> {
  const rows = await tx.query<{ name: string; address: string | null; pid: number }>({
    text: `select application_name as name, host(client_addr) as address, pid
           from pg_stat_activity
           where application_name ^@ $1 and datname = current_database() order by pid`,
    values: [NAME],
  })
  return rows.map(({ name, address, pid }) => ({
    keyIds: name.slice(NAME.length).trim().split(' '),
    address: address ?? 'this machine',
    pid,
  }))
}
