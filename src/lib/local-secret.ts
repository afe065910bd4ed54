import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from './make-folder.ts'

/** The secret of a data directory, which is made when it is first asked for. */
export function localSecretKey(dataDir: string, fault: (rule: string) => void): Buffer {
  const path = join(dataDir, 'secret.key')
  try {
    makeFolder(dataDir)
    if (!existsSync(path)) writeNew(path, `${randomBytes(32).toString('base64')}\n`)
    const key = Buffer.from(readFileSync(path, 'utf8'), 'base64')
    if (key.length < 32) fault(`holds a damaged secret: restore ${path} from a backup`)
    return key
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    fault(`must be a folder that Vintém can write to; ${path} gave ${code}`)
    return Buffer.alloc(0)
  }
}

/** If two processes start together, the second one uses the file that the first has written. */
function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
