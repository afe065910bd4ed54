import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { bareEnvironment, type Environment } from '../../config.ts'
import { ClientFault } from '../command.ts'
import { typedPath } from '../typed-path.ts'

/** What the commands of a client read from the environment. The reference page lists them. */
export const CLIENT_OPTIONS = {
  VINTEM_URL: 'The server that the commands of a client ask, such as https://pix.example.com.',
  VINTEM_KEY: 'The API key that they send. VINTEM_KEY_FILE names a file that holds it.',
  VINTEM_PROFILE: 'The saved profile that they use in place of the current one.',
  VINTEM_WEBHOOK_SECRET: 'The secret with which vintem listen signs, such as that of a webhook.',
} as const

export type ClientEnvironment = {
  url: string | null
  key: string | null
  /** Whether the address is only in ./.env, and the key that is there beside it. */
  isUrlOfFile: boolean
  keyOfFile: string | null
  profile: string | null
  webhookSecret: string | null
  /** The folder in which this user keeps profiles. */
  folder: string
  /** The file in which local mode writes the address and the key of its sandbox. */
  sandboxFile: string | null
}

/** The environment, and ./.env for what it lacks. What is in the file changes nothing else here. */
export function readEnvironment(): ClientEnvironment {
  const shell = readerOf(bareEnvironment())
  const file = readerOf(existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {})
  const either = (name: string) => shell(name) ?? file(name)
  return {
    url: either('VINTEM_URL'),
    key: keyOf(shell, typedPath) ?? keyOf(file, resolve),
    isUrlOfFile: shell('VINTEM_URL') === null && file('VINTEM_URL') !== null,
    keyOfFile: file('VINTEM_KEY'),
    profile: either('VINTEM_PROFILE'),
    webhookSecret: either('VINTEM_WEBHOOK_SECRET'),
    folder: join(
      shell('XDG_CONFIG_HOME') ?? shell('APPDATA') ?? join(homeFolder(), '.config'),
      'vintem',
    ),
    sandboxFile: either('DATABASE_URL')
      ? null
      : join(either('DATA_DIR') ?? '.data', 'sandbox.json'),
  }
}

type Reader = (name: string) => string | null

const readerOf =
  (env: Environment): Reader =>
  (name) =>
    env[name]?.trim() || null

function keyOf(read: Reader, pathOf: (named: string) => string): string | null {
  const file = read('VINTEM_KEY_FILE')
  return read('VINTEM_KEY') ?? (file && keyInFile(pathOf(file)))
}

function keyInFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new ClientFault(`VINTEM_KEY_FILE: ${path} is missing or cannot be read.`)
  }
}

/** A user whom the system does not know has no home. As in containers, that is the root folder. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return '/'
  }
}
