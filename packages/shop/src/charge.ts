import type { Charge, CreatedPixCharge, NewPixCharge } from '@vintem/client'

/** What a shop has to say to use Vintém. */
export type Options = {
  /** Where Vintém is. */
  url: string
  /** The API key. */
  key: string
  /** The secret of the webhook, or both while it is rotated. */
  webhookSecret: string | string[]
  /** Seconds until a code expires. Default: that of Vintém, 1800. */
  expiresIn?: number
  /** Charges that a test pays without money, at a company that has money. */
  devMode?: boolean
}

/**
 * How the shop asks Vintém. It may have an order locked meanwhile, so it does not wait for long:
 * the same request can be sent again later.
 */
export const clientOf = ({ url, key }: Options) => ({ url, key, timeout_ms: 10_000, retries: 1 })

/** What the shop's pages show of a charge, and what the shop keeps of it. */
export type Code = {
  chargeId: string
  /** Cents. */
  amount: number
  /** Copy-and-paste code. */
  brCode: string
  /** PNG as data URL. */
  qrCode: string
  /** Payment page. */
  url: string
  expiresAt: string
}

/** `open`: may be paid. `paid`: the whole amount is there. `closed`: nothing more comes of it. */
export type State = 'open' | 'paid' | 'closed'

type Shown = Pick<Charge, 'status' | 'total' | 'refunded' | 'shortfall'>

/** Cents that a charge has brought and that have not gone back. */
export function leftOf({ status, total, shortfall = 0, refunded = 0 }: Shown): number {
  return status === 'COMPLETED' ? total - shortfall - refunded : 0
}

/** Whether a charge has brought exactly what is asked for, and still has it. */
export function stateOf(charge: Shown, amount: number): State {
  if (charge.status === 'OPEN') return charge.total === amount ? 'open' : 'closed'
  return charge.total === amount && leftOf(charge) === amount ? 'paid' : 'closed'
}

type Payer = NewPixCharge['customer']

/** Who pays: what the shop's page has sent, and the rest from what the shop knows. Vintém checks it. */
export function payerOf(sent: unknown, known: { [name in keyof Payer]?: unknown }): Payer {
  const all = { ...known, ...(typeof sent === 'object' ? sent : {}) }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value)) as Payer
}

/** The body of a charge for what is due in the shop. */
export function newCharge(
  { expiresIn, devMode }: Options,
  due: Pick<NewPixCharge, 'amount' | 'customer' | 'externalId'>,
): NewPixCharge {
  return {
    ...due,
    ...(expiresIn !== undefined && { expiresIn }),
    ...(devMode !== undefined && { devMode }),
  }
}

export function codeOf(charge: CreatedPixCharge): Code {
  const { id: chargeId, amount, brCode, brCodeBase64: qrCode, url, expiresAt } = charge
  return { chargeId, amount, brCode, qrCode, url, expiresAt }
}
