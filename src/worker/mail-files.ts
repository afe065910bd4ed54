import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FullApp } from '../core/full-app.ts'

/** Mails contain one-time codes and names of payers, so files are kept for one day. */
const KEPT_MS = 24 * 3600 * 1000

/** Deletes old mails from the folder that is used if there is no mail server. */
export async function removeOldMails({ config, systemClock }: FullApp): Promise<void> {
  const folder = join(config.dataDir, 'mail')
  const names = await readdir(folder).catch(() => [])
  const before_ms = systemClock.now().getTime() - KEPT_MS
  for (const name of names.filter((one) => /\.(eml|part)$/.test(one))) {
    const path = join(folder, name)
    const written = await stat(path).catch(() => null)
    if (written && written.mtimeMs < before_ms) await rm(path, { force: true })
  }
}
