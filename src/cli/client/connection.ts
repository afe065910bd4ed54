import { readFileSync } from 'node:fs'
import { Vintem } from '../../../packages/client/src/index.ts'
import { type Args, ClientFault, type Option, UsageFault } from '../command.ts'
import { type ClientEnvironment, readEnvironment } from './environment.ts'
import { readProfiles, type Target } from './profiles.ts'

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
export function connect(args: Args): Vintem {
  return new Vintem({ ...targetOf(args), timeout_ms: 30_000 })
}

/**
 * The server and the key: as typed, of the environment, of a profile, or of the sandbox that local
 * mode has here. The key of a profile goes to the server of that profile only.
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
  if (url !== null && key !== null) return { url, key }
  const saved = savedTarget(env)
  if (url === null && saved === null) throw new ClientFault(NOT_NAMED)
  if (url === null) return { url: saved!.url, key: key ?? saved!.key }
  if (saved?.url === url) return { url, key: saved.key }
  throw new ClientFault(`No key is saved for ${url}: give --key, or set VINTEM_KEY.`)
}

const NOT_NAMED =
  'No server is named: give --url and --key, set VINTEM_URL and VINTEM_KEY, or save both once with vintem profile add.'

function profileNamed({ folder }: ClientEnvironment, name: string): Target {
  const found = readProfiles(folder).saved.get(name)
  if (found) return found
  throw new ClientFault(`No profile is called ${name}. "vintem profile list" shows them all.`)
}

function savedTarget(env: ClientEnvironment): Target | null {
  if (env.profile !== null) return profileNamed(env, env.profile)
  const { current, saved } = readProfiles(env.folder)
  if (current !== null) return saved.get(current)!
  return env.sandboxFile === null ? null : readSandbox(env.sandboxFile)
}

/** The sandbox that local mode has made in this folder. */
function readSandbox(path: string): Target | null {
  try {
    const { url, apiKey } = JSON.parse(readFileSync(path, 'utf8'))
    return { url, key: apiKey }
  } catch {
    return null
  }
}

/** The address without a slash at its end. Null stays null. */
export function checkedUrl<T extends string | null>(text: T, name: string): T
export function checkedUrl(text: string | null, name: string): string | null {
  if (text === null) return null
  const url = URL.canParse(text) ? new URL(text) : null
  const isHttp = url !== null && /^https?:$/.test(url.protocol)
  if (!isHttp || url.search || url.hash || url.username || url.password)
    throw new ClientFault(`${name}: must be an address such as https://pix.example.com.`)
  return url.href.replace(/\/+$/, '')
}

/** Anything else could not be sent as a header. The server decides whether the key is right. */
export function checkedKey<T extends string | null>(text: T, name: string): T
export function checkedKey(text: string | null, name: string): string | null {
  if (text === null || /^[\x21-\x7e]{1,255}$/.test(text)) return text
  throw new ClientFault(`${name}: is no API key, which is vk_ and letters and digits.`)
}

export function readKey(typed: string): string {
  if (typed !== '-') return typed
  if (process.stdin.isTTY)
    throw new ClientFault('--key -: pipe the key in, or save it with vintem profile add.')
  return readFileSync(0, 'utf8').trim()
}
