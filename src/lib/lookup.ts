import type { LookupAddress } from 'node:dns'
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { isPublic } from './addresses.ts'

export type Lookup = (name: string) => Promise<LookupAddress[]>

/** A refusal of ours; its message is a text for those who read the log of an exchange. */
export const refusal = (message: string): Error =>
  Object.assign(new Error(message), { code: 'ERR_REFUSED' })

/** As the machine sees names, with those that it knows by itself, such as localhost. */
export const asMachine: Lookup = (name) => systemLookup(name, { all: true })

const NOT_FOUND = ['ENOTFOUND', 'ENODATA']
/** Two tries of a second leave time to connect. */
const RESOLVER = { timeout: 1000, maxTimeout: 1000, tries: 2 }
/** More are not tried: somebody else's name could make us connect to many machines. */
const MAX_ADDRESSES = 8

/**
 * As the name servers answer, and nothing the machine adds to it. Unlike the system's lookup it
 * takes no thread, of which there are few: names whose servers do not answer delay no other name.
 */
export function asNameServers(servers: string[] | null = null): Lookup {
  return async (name) => {
    // A new one reads how this machine finds its name servers now, and remembers no answers.
    const resolver = new Resolver(RESOLVER)
    if (servers) resolver.setServers(servers)
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    const found = [...addressesOf(v4, 4), ...addressesOf(v6, 6)]
    if (found.length > 0) return found
    const reasons = [v4, v6].map((answer) => (answer.status === 'rejected' ? answer.reason : null))
    throw reasons.find((reason) => !NOT_FOUND.includes(reason?.code)) ?? reasons[0]
  }
}

const addressesOf = (answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] =>
  answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []

/**
 * The hook through which a socket gets its addresses. The socket uses exactly those that were
 * checked here: nothing asks for the name a second time. If one address is not public, the
 * name is refused, because no honest one has both kinds.
 */
export function hookOf(lookup: Lookup, guarded: boolean): LookupFunction {
  const resolve = async (name: string): Promise<LookupAddress[]> => {
    const found = await lookup(name).catch(({ code }) => {
      throw refusal(NOT_FOUND.includes(code) ? 'name not found' : 'name server did not answer')
    })
    if (found.length === 0) throw refusal('name not found')
    const isAllowed = !guarded || found.every(({ address }) => isPublic(address))
    if (!isAllowed) throw refusal('address not allowed')
    return found.slice(0, MAX_ADDRESSES)
  }
  return (name, options, callback) => {
    resolve(name).then(
      (found) => {
        if (options.all) callback(null, found)
        else callback(null, found[0]!.address, found[0]!.family)
      },
      (error) => callback(error, []),
    )
  }
}
