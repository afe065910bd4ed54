import { join } from 'node:path'
import { describeSettings, loadConfig } from '../config.ts'
import { recordForInstallation } from '../core/activity/record.ts'
import type { Ending } from '../core/backups/format.ts'
import { openSnapshot } from '../core/backups/snapshot.ts'
import { filesOf } from '../core/backups/write.ts'
import {
  noteBackup,
  requirePlaces,
  requireRestored,
  requireSameSecret,
} from '../core/installation.ts'
import { requireLock, sealInto } from '../lib/age-file.ts'
import { invalid } from '../lib/problems.ts'
import { writeTar } from '../lib/tar.ts'
import { createVault } from '../lib/vault.ts'
import { readLock, requireSavedSecret } from './backup-keys.ts'
import type { Args, Command } from './command.ts'
import { intoNewFile, newFileFault } from './new-file.ts'
import { type Connection, commandAuthor, openConnection } from './session.ts'
import { typedPath } from './typed-path.ts'

const MIB = 1024 * 1024

export const backup: Command = {
  name: 'backup',
  summary: 'Save database, mails and settings into one encrypted file, while servers run.',
  example:
    'vintem backup /backups/2026-11-19.vintem --recipient age1… --secret-copy /usb/secret.key',
  operands: ['file'],
  options: {
    recipient: {
      value: 'AGE_KEY',
      many: true,
      help: 'encrypt for this public key of age (age-keygen makes one)',
    },
    'passphrase-file': { value: 'FILE', help: 'or encrypt with the passphrase in this file' },
    'secret-copy': {
      value: 'FILE',
      help: 'show the copy of SECRET_KEY that is kept elsewhere; needed once for each key',
    },
  },
  async run(args) {
    const lock = readLock(args)
    requireLock(lock)
    const path = typedPath(args.operands[0]!)
    const fault = newFileFault('<file>', path)
    if (fault) throw invalid(fault)
    const config = loadConfig()
    const connection = await openConnection(config)
    try {
      return await save(args, path, config, connection, (source) =>
        intoNewFile(path, async (file) => {
          await sealInto(file, lock, source)
          return (await file.stat()).size
        }),
      )
    } finally {
      await connection.close()
    }
  },
}

type Write = (source: AsyncIterable<Uint8Array>) => Promise<number>

async function save(
  { options }: Args,
  path: string,
  config: ReturnType<typeof loadConfig>,
  { urls, databases, db }: Connection,
  write: Write,
) {
  const vault = createVault(config.secretKey, config.secretKeyNext)
  const snapshot = await openSnapshot(urls, config.databaseSetting)
  try {
    for (const one of databases) {
      await requireSameSecret(one, vault)
      await requireRestored(one)
    }
    await requirePlaces(databases)
    const { secretKeyId } = snapshot.beginning
    const notice = await requireSavedSecret(config, secretKeyId, db, options['secret-copy'])
    const began_ms = performance.now()
    const mailFolder = config.smtpUrl === null ? join(config.dataDir, 'mail') : null
    const at = new Date(snapshot.beginning.at)
    const besides = { configuration: describeSettings(), mailFolder }
    let ending: Ending | null = null
    const files = filesOf(snapshot, besides, (all) => {
      ending = all
    })
    const bytes = await write(writeTar(files, at))
    for (const one of databases) await noteBackup(one, at)
    const details = { places: databases.length, rows: rowsIn(ending!) }
    await recordForInstallation(db.control, commandAuthor(), { action: 'backup.create', details })
    const seconds = (performance.now() - began_ms) / 1000
    return {
      json: { file: path, at: at.toISOString(), ...details, bytes, secretKeyId },
      text:
        `${path} has everything as of ${at.toISOString()}: ${details.rows} rows, ${(bytes / MIB).toFixed(1)} MiB, in ${seconds.toFixed(1)} s.\n` +
        `It needs the secret key ${secretKeyId}, which is not in it. Try it: vintem restore ${path} --verify, into a new database.\n${notice}`,
    }
  } finally {
    await snapshot.close()
  }
}

const rowsIn = ({ places }: Ending): number =>
  places.flatMap(({ tables }) => Object.values(tables)).reduce((sum, { rows }) => sum + rows, 0)
