import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ClientFault } from '../command.ts'
import { requirePrivate, writePrivate } from './private-file.ts'

/** A server and a key of it. */
export type Target = { url: string; key: string }

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

/** A target that was saved, checked as one that is typed. Null if it is damaged. */
export function savedTarget({ url, key }: { url?: unknown; key?: unknown }): Target | null {
  if (typeof url !== 'string' || typeof key !== 'string') return null
  try {
    return { url: checkedUrl(url, 'url'), key: checkedKey(key, 'key') }
  } catch {
    return null
  }
}

/** What a user has saved, by name, and the name of the profile that is used if none is named. */
type Profiles = { current: string | null; saved: Map<string, Target> }

const NAME_FORM = /^[\w.-]{1,64}$/

const pathIn = (folder: string): string => join(folder, 'profiles.json')

export function requireName(name: string): void {
  if (!NAME_FORM.test(name))
    throw new ClientFault('<name>: 1 to 64 letters, digits, dots, dashes and underscores.')
}

export function readProfiles(folder: string): Profiles {
  const path = pathIn(folder)
  const text = readIfPresent(path)
  if (text === null) return { current: null, saved: new Map() }
  requirePrivate(path, 'keys')
  const { current, profiles } = parse(path, text)
  const saved = new Map(Object.entries(profiles))
  return { current: saved.has(current ?? '') ? current! : null, saved }
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw new ClientFault(`The profiles cannot be read: ${(error as Error).message}.`)
  }
}

type Stored = { current?: string | null; profiles: Record<string, Target> }

const isWhole = (entry: readonly [string, Target | null]): entry is [string, Target] =>
  entry[1] !== null

function parse(path: string, text: string): Stored {
  try {
    const stored = JSON.parse(text) as Stored
    const targets = Object.entries(stored.profiles).map(
      ([name, target]) => [name, savedTarget(target)] as const,
    )
    if (targets.every(isWhole)) return { ...stored, profiles: Object.fromEntries(targets) }
  } catch {
    // It is reported below.
  }
  throw new ClientFault(`${path} is damaged: repair or remove it, then add the profiles again.`)
}

export function writeProfiles(folder: string, { current, saved }: Profiles): string {
  const path = pathIn(folder)
  const stored: Stored = { current, profiles: Object.fromEntries(saved) }
  writePrivate(path, `${JSON.stringify(stored, null, 2)}\n`, 'profiles')
  return path
}
