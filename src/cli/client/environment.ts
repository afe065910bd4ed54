import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Environment, loadEnvironment } from '../../config.ts'
import { ClientFault } from '../command.ts'

/** What the commands of a client read from the environment. The reference page lists them. */
export const CLIENT_OPTIONS = {
  VINTEM_URL: 'The server that the commands of a client ask, such as https://pix.example.com.',
  VINTEM_KEY: 'The API key that they send. VINTEM_KEY_FILE names a file that holds it.',
  VINTEM_PROFILE: 'The saved profile that they use in place of the current one.',
} as const

export type ClientEnvironment = {
  url: string | null
  key: string | null
  profile: string | null
  /** The folder in which this user keeps profiles. */
  folder: string
  /** The file in which local mode writes the address and the key of its sandbox. */
  sandboxFile: string | null
}

export function readEnvironment(env: Environment = loadEnvironment()): ClientEnvironment {
  const text = (name: string) => env[name]?.trim() || null
  return {
    url: text('VINTEM_URL'),
    key: text('VINTEM_KEY') ?? keyInFile(text('VINTEM_KEY_FILE')),
    profile: text('VINTEM_PROFILE'),
    folder: join(
      text('XDG_CONFIG_HOME') ?? text('APPDATA') ?? join(homedir(), '.config'),
      'vintem',
    ),
    sandboxFile: text('DATABASE_URL') ? null : join(text('DATA_DIR') ?? '.data', 'sandbox.json'),
  }
}

function keyInFile(path: string | null): string | null {
  if (path === null) return null
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new ClientFault(`VINTEM_KEY_FILE: ${path} is missing or cannot be read.`)
  }
}
