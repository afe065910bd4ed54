import { existsSync, readFileSync } from 'node:fs'
import { type ReceivedResponse, Vintem } from '../../../packages/client/src/index.ts'
import { type Args, ClientFault, type Option, UsageFault } from '../command.ts'
import { type ClientEnvironment, readEnvironment } from './environment.ts'
import { plain } from './output.ts'
import { checkedKey, checkedUrl, readProfiles, savedTarget, type Target } from './profiles.ts'

/** The options of every command that asks a server. */
export const connectionOptions = {
  url: { value: 'URL', help: 'the server (default VINTEM_URL, or the profile)' },
  key: {
    value: 'KEY',
    help: 'the API key, or - to read it from standard input (default VINTEM_KEY, or the profile); other users of this machine can see a key that is typed here',
  },
  profile: { value: 'NAME', help: 'a saved server and key (default the current profile)' },
} satisfies Record<string, Option>

/** The client of the server that was named. No database is opened. */
export const connect = (args: Args): Vintem => clientOf(targetOf(args))

export const clientOf = (target: Target): Vintem =>
  new Vintem({ ...target, timeout_ms: 30_000, strict: false, onResponse: warn })

/** What was sent has been carried out, so that is not the place to fail. */
function warn({ ignoredFields }: ReceivedResponse): void {
  if (ignoredFields.length === 0) return
  const names = plain(ignoredFields.join(', '))
  process.stderr.write(`The server knows no such field and has left it out: ${names}.\n`)
}

/**
 * The server and the key: as typed, of the environment, of a profile, or of the sandbox that local
 * mode has here. The key of a profile goes to the server of that profile only. Files of this folder
 * may be of a stranger, so an address in one of them gets the key beside it and no other.
 */
export function targetOf({ options }: Pick<Args, 'options'>): Target {
  const env = readEnvironment()
  const { profile, url: typedUrl, key: typedKey } = options
  if (profile !== undefined && (typedUrl ?? typedKey) !== undefined)
    throw new UsageFault('--profile names the server and the key: give it, or --url and --key.')
  if (profile !== undefined) return profileNamed(env, profile)
  const url = checkedUrl(typedUrl ?? env.url, typedUrl === undefined ? 'VINTEM_URL' : '--url')
  const key = checkedKey(
    typedKey === undefined ? env.key : readKey(typedKey),
    typedKey === undefined ? 'VINTEM_KEY' : '--key',
  )
  const isUrlOfFile = typedUrl === undefined && env.isUrlOfFile
  if (url !== null && key !== null) {
    if (!isUrlOfFile || key === env.keyOfFile) return { url, key }
    const sandbox = readSandbox(env.sandboxFile)
    if (sandbox?.key === key) return sandbox
    throw new ClientFault('VINTEM_URL comes from ./.env, but the key does not: give --url.')
  }
  const saved = usualProfile(env)
  const found = saved ?? readSandbox(env.sandboxFile)
  if (url !== null && found?.url === url) return found
  if (url !== null)
    throw new ClientFault(`No key is saved for ${url}: give --key, or set VINTEM_KEY.`)
  if (found === null) throw new ClientFault(NOT_NAMED)
  if (key === null || key === found.key) return found
  if (saved !== null) return { url: saved.url, key }
  throw new ClientFault(`The key is not the one in ${env.sandboxFile}: give --url.`)
}

const NOT_NAMED =
  'No server is named: give --url and --key, set VINTEM_URL and VINTEM_KEY, or save both once with vintem profile add.'

function profileNamed({ folder }: ClientEnvironment, name: string): Target {
  const found = readProfiles(folder).saved.get(name)
  if (found) return found
  throw new ClientFault(`No profile is called ${name}. "vintem profile list" shows them all.`)
}

function usualProfile(env: ClientEnvironment): Target | null {
  if (env.profile !== null) return profileNamed(env, env.profile)
  const { current, saved } = readProfiles(env.folder)
  return current === null ? null : saved.get(current)!
}

/** The sandbox that local mode has made in this folder. */
function readSandbox(path: string | null): Target | null {
  if (path === null || !existsSync(path)) return null
  const found = savedTarget(readJson(path))
  if (found) return found
  throw new ClientFault(`${path} is damaged: start the server again, or give --url and --key.`)
}

function readJson(path: string): { url?: unknown; key?: unknown } {
  try {
    const { url, apiKey: key } = JSON.parse(readFileSync(path, 'utf8'))
    return { url, key }
  } catch {
    return {}
  }
}

const readKey = (typed: string): string =>
  typed === '-' ? readPiped('--key -: pipe the key in, or save it with vintem profile add.') : typed

/** What is piped in. In a terminal nobody would know what to type. */
export function readPiped(advice: string): string {
  if (process.stdin.isTTY) throw new ClientFault(advice)
  return readFileSync(0, 'utf8').trim()
}
