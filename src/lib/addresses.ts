import { BlockList, isIP } from 'node:net'

/** IPv4 networks in which nobody on the public internet is reached. */
const RESERVED_V4 = [
  '0.0.0.0/8', // this network; on Linux 0.0.0.0 is the machine itself
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carriers' NAT, and a cloud's metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's metadata, though formally public
  '169.254.0.0/16', // link-local, and most clouds' metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and a cloud's metadata
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // relays of 6to4, abandoned
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
]

/**
 * Where public IPv6 addresses lie: global unicast, and the prefix under which a network without
 * IPv4 finds IPv4 hosts. What is not listed is refused, and so need not be known: loopback, unique
 * local, link-local, site-local, multicast, discard, and IPv4 addresses mapped, compatible or
 * translated, which do not belong in the name of a host.
 */
const NAT64 = '64:ff9b::'
const PUBLIC_V6 = ['2000::/3', `${NAT64}/96`]

/** The parts of it that are not public after all. */
const RESERVED_V6 = [
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which hides an IPv4 address and is abandoned
  '3ffe::/16', // 6bone, given back
  '3fff::/20', // documentation
  ...RESERVED_V4.map((network) => {
    const [address, length] = network.split('/')
    return `${NAT64}${address}/${96 + Number(length)}`
  }),
]

const publicV6 = listOf(PUBLIC_V6, 'ipv6')
const reservedV6 = listOf(RESERVED_V6, 'ipv6')
const reservedV4 = listOf(RESERVED_V4, 'ipv4')

function listOf(networks: string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', length] = network.split('/')
    list.addSubnet(address, Number(length), family)
  }
  return list
}

/** Whether an IP address belongs to somebody out on the internet. What is no address does not. */
export function isPublic(address: string): boolean {
  // An address with a zone is meant for one of this machine's own links.
  if (address.includes('%')) return false
  const family = isIP(address)
  if (family === 4) return !reservedV4.check(address, 'ipv4')
  return family === 6 && publicV6.check(address, 'ipv6') && !reservedV6.check(address, 'ipv6')
}

// 0.0.0.0 and :: are addresses to listen on, and lead to the machine itself.
const loopbackV4 = listOf(['0.0.0.0/8', '127.0.0.0/8'], 'ipv4')
const loopbackV6 = listOf(['::/127', '::ffff:127.0.0.0/104'], 'ipv6')

const nameOf = (host: string): string => host.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')

/** Whether a host leads everybody to their own machine. It takes the `hostname` of a parsed URL. */
export function isLoopback(host: string): boolean {
  const name = nameOf(host)
  const family = isIP(name)
  if (family === 4) return loopbackV4.check(name, 'ipv4')
  return family === 6 ? loopbackV6.check(name, 'ipv6') : /(^|\.)localhost$/.test(name)
}

const unspecifiedV4 = listOf(['0.0.0.0/8'], 'ipv4')
const unspecifiedV6 = listOf(['::/128', '::ffff:0.0.0.0/104'], 'ipv6')

/** Whether listening on it means listening on every address of the machine. */
export function isUnspecified(host: string): boolean {
  const name = nameOf(host)
  const family = isIP(name)
  if (family === 4) return unspecifiedV4.check(name, 'ipv4')
  return family === 6 && unspecifiedV6.check(name, 'ipv6')
}

/** Endings under which no public name exists. */
const LOCAL_ENDING =
  /\.(localhost|localdomain|local|internal|intranet|private|corp|home|lan|home\.arpa)$/

/**
 * Why a host must not be called, or null. It takes the `hostname` of a parsed URL, where an IP
 * address has only one form left, however it was written. A name that passes may still lead to a
 * private address: that is seen when it is resolved.
 */
export function hostFault(host: string): string | null {
  const name = nameOf(host)
  if (isIP(name)) return isPublic(name) ? null : 'must not be a private or reserved address'
  const isNamed = /^[^.]+(\.[^.]+)+$/.test(name) && !LOCAL_ENDING.test(name)
  return isNamed ? null : 'must be a public name'
}
