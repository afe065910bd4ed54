import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from './folders.ts'

const MIN_BYTES = 32

/** Null: the text is not base64 throughout. Long keys may be wrapped into lines. */
function readBase64(text: string): Buffer | null {
  const plain = text.replace(/\s+/g, '')
  const bytes = Buffer.from(plain, 'base64')
  const unpadded = (base64: string) => base64.replace(/=+$/, '')
  return unpadded(bytes.toString('base64')) === unpadded(plain) ? bytes : null
}

/** The secret key in a text, as a setting or a file has it. Null: it is none. */
export function readSecretText(text: string): Buffer | null {
  const key = readBase64(text)
  return key && key.length >= MIN_BYTES ? key : null
}

/** Where local mode keeps its secret. */
export const localSecretPath = (dataDir: string): string => join(dataDir, 'secret.key')

/** The secret of a data directory, which is made when it is first asked for. */
export function localSecretKey(dataDir: string, fault: (rule: string) => void): Buffer {
  const path = localSecretPath(dataDir)
  try {
    makeFolder(dataDir)
    if (!existsSync(path)) writeNew(path, `${randomBytes(MIN_BYTES).toString('base64')}\n`)
    const key = Buffer.from(readFileSync(path, 'utf8'), 'base64')
    if (key.length < MIN_BYTES) fault(`holds a damaged secret: restore ${path} from a backup`)
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
