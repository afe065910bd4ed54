import { ClientFault } from '../command.ts'

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
