import { isIPv4, isIPv6 } from 'node:net'

const GROUPS = 8

/**
 * The name under which the requests of an address are counted: an IPv4 address itself, of an IPv6
 * address its first 64 bits, since whoever has one has a whole /64 to send from. An IPv4 address in
 * IPv6 notation, as a socket for both families reports it, counts as the IPv4 address. What is no
 * address shares one name.
 */
export function clientName(address: string | undefined): string {
  const plain = address?.replace(/%.*$/, '') ?? ''
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return 'unknown'
  const groups = groupsOf(plain)
  const [high, low] = groups.slice(6) as [number, number]
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/**
 * The addresses of X-Forwarded-For. Some proxies add the port from which somebody connected, and
 * then write IPv6 addresses in brackets.
 */
export const withoutPorts = (forwarded: string): string =>
  forwarded
    .split(',')
    .map((one) => one.trim().replace(/^([\d.]+):\d+$|^\[([^\]]*)\](?::\d+)?$/, '$1$2'))
    .join(', ')

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const [head, tail] = address.split('::').map(partOf) as [number[], number[]?]
  if (!tail) return head
  const zeros = new Array(GROUPS - head.length - tail.length).fill(0)
  return [...head, ...zeros, ...tail]
}

/** Groups on one side of `::`, of which the last two may be written as an IPv4 address. */
function partOf(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a, b, c, d] = group.split('.').map(Number) as [number, number, number, number]
    return [a * 256 + b, c * 256 + d]
  })
}
