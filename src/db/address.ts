import { OperatorFault } from '../lib/operator-fault.ts'

/** Everything before the hosts, the hosts, and the rest. */
const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s

/** What a server has to be for us, in the words of PostgreSQL's own clients. */
const WRITABLE = ['read-write', 'primary']
const ATTRIBUTES = 'target_session_attrs'

/**
 * The address of each server that a DATABASE_URL names: postgres://user@first:5432,second:5432/name
 * has two. An address that is none of PostgreSQL stays as it is.
 */
export function splitHosts(url: string): string[] {
  const [, start, hosts = '', rest] = PARTS.exec(url) ?? []
  if (start === undefined) return [url]
  return hosts.split(',').map((host) => withoutAttributes(`${start}${host}${rest}`))
}

/** What is wrong with the kind of server that an address asks for, after the setting's name. */
function attributesFault(url: string): string | null {
  const [, wanted] = new RegExp(`[?&]${ATTRIBUTES}=([^&#]*)`).exec(url) ?? []
  if (wanted === undefined || WRITABLE.includes(wanted)) return null
  return `asks for ${ATTRIBUTES}=${wanted}, but Vintém writes: leave it out, or make it read-write.`
}

/** node-postgres does not know the parameter. We want what it asks for in any case. */
function withoutAttributes(url: string): string {
  if (!url.includes(ATTRIBUTES) || !URL.canParse(url)) return url
  const fault = attributesFault(url)
  if (fault) throw new OperatorFault(`DATABASE_URL ${fault}`)
  const address = new URL(url)
  address.searchParams.delete(ATTRIBUTES)
  return address.href
}

/** Where a server listens. */
export type Address = { host: string; port: number }

export function addressOf(url: string): Address {
  const { hostname, port } = new URL(url)
  const host = decodeURIComponent(hostname).replace(/^\[(.+)\]$/, '$1')
  return { host: host || 'localhost', port: Number(port || 5432) }
}

export const nameOf = (url: string): string => {
  const { host, port } = addressOf(url)
  return `${host}:${port}`
}

/** Whether it is an address of PostgreSQL, with one host or several. */
export const isAddress = (url: string): boolean =>
  splitHosts(url).every(
    (one) => URL.canParse(one) && /^postgres(ql)?:$/.test(new URL(one).protocol),
  )

/** A process has connections to each place. */
const MAX_PLACES = 64

/** What is wrong with the addresses of several databases. */
export function placesFaults(urls: string[], first: string | null): string[] {
  const attributes = urls.map(attributesFault).find((fault) => fault !== null)
  if (attributes) return [attributes]
  const rules: [boolean, string][] = [
    [
      urls.every(isAddress),
      'must be addresses that start with postgres:// or postgresql://, with spaces between them',
    ],
    [urls.length <= MAX_PLACES, `must name at most ${MAX_PLACES} databases`],
    [new Set(urls).size === urls.length, 'must name each database once'],
    [
      urls.length === 0 || first === null || first === urls[0],
      'must begin with DATABASE_URL, or DATABASE_URL must be empty',
    ],
  ]
  return rules.filter(([isKept]) => !isKept).map(([, rule]) => rule)
}
