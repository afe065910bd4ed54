import { randomInt } from 'node:crypto'
import { packPair, suffixOf, type Uuid } from '../../lib/ids.ts'
import type { Cents } from '../../lib/money.ts'
import { dynamicCode, staticCode } from '../../pix/brcode.ts'
import type { Provider, ReceivedPix } from '../port.ts'

/**
 * A number no participant of the scheme has, so that simulated payments can never pass for real
 * ones.
 */
const ISPB = '99999999'
const LOCATION_PATH = '/cob/'
const LOCATION_MAX = 77
const TOKEN_LENGTH = 43
const ALPHANUMERIC = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * A location has 77 characters in all: a host too long for it is replaced by a short name of no
 * meaning.
 */
function locationHost(publicUrl: string): string {
  const { host } = new URL(publicUrl)
  return host.length + LOCATION_PATH.length + TOKEN_LENGTH <= LOCATION_MAX ? host : 'pix.localhost'
}

/**
 * The simulated bank: the provider of every sandbox company and of every dev-mode charge. It
 * accepts at once and needs no memory of what it issued, because the code itself names company and
 * charge.
 */
export function createSimulator(publicUrl: string): Provider {
  const host = locationHost(publicUrl)
  return {
    name: 'simulator',
    issueCharge: async (payee, { id }) => {
      const location = `${host}${LOCATION_PATH}${packPair(payee.id, id)}`
      return {
        kind: 'accepted',
        value: { brCode: dynamicCode({ location, name: payee.name, city: payee.city }) },
      }
    },
    removeCharge: async () => ({ kind: 'accepted', value: null }),
    issueStaticCode: async ({ name, city, pixKey: key }, { id, amount }) => {
      const brCode = staticCode({ key, amount, name, city, txid: staticTxid(id) })
      return { kind: 'accepted', value: { brCode } }
    },
    check: async () => null,
  }
}

/** A static code has room for 25 characters; the first of an id's 26 is 0 until the year 3084. */
export const staticTxid = (id: Uuid): string => suffixOf(id).slice(1)

/** What the scheme would report when the payer's bank has sent the money. */
export function simulatePix(charge: { id: Uuid; amount: Cents }, now: Date): ReceivedPix {
  const minute = now.toISOString().replace(/\D/g, '').slice(0, 12)
  const unique = Array.from({ length: 11 }, () => ALPHANUMERIC[randomInt(ALPHANUMERIC.length)])
  return {
    endToEndId: `E${ISPB}${minute}${unique.join('')}`,
    txid: suffixOf(charge.id),
    amount: charge.amount,
    receivedAt: now,
  }
}
