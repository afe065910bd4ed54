import type { Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'

/** A shipping address as the payer wrote it. */
export type Shipping = {
  postalCode: string
  address: string
  number: string
  /** Flat, block, or whatever else a courier needs to know. */
  line1?: string
  district: string
  city: string
  state: string
}

export type ShippingField = keyof Shipping
export const SHIPPING_FIELDS: ShippingField[] = [
  'postalCode',
  'address',
  'number',
  'line1',
  'district',
  'city',
  'state',
]

/** The first five digits of the CEPs of each state, from and to. The form has them too. */
export const CEPS: Record<string, [from: number, to: number][]> = {
  AC: [[69900, 69999]],
  AL: [[57000, 57999]],
  AM: [
    [69000, 69299],
    [69400, 69899],
  ],
  AP: [[68900, 68999]],
  BA: [[40000, 48999]],
  CE: [[60000, 63999]],
  DF: [
    [70000, 72799],
    [73000, 73699],
  ],
  ES: [[29000, 29999]],
  GO: [
    [72800, 72999],
    [73700, 76799],
  ],
  MA: [[65000, 65999]],
  MG: [[30000, 39999]],
  MS: [[79000, 79999]],
  MT: [[78000, 78899]],
  PA: [[66000, 68899]],
  PB: [[58000, 58999]],
  PE: [[50000, 56999]],
  PI: [[64000, 64999]],
  PR: [[80000, 87999]],
  RJ: [[20000, 28999]],
  RN: [[59000, 59999]],
  RO: [[76800, 76999]],
  RR: [[69300, 69399]],
  RS: [[90000, 99999]],
  SC: [[88000, 89999]],
  SE: [[49000, 49999]],
  SP: [[1000, 19999]],
  TO: [[77000, 77999]],
}

export const STATES = Object.keys(CEPS)

/** The state of a CEP. Null if no state has it. */
export function stateOfPostalCode(postalCode: string): string | null {
  if (!/^[0-9]{8}$/.test(postalCode)) return null
  const start = Number(postalCode.slice(0, 5))
  const covers = ([from, to]: [number, number]) => from <= start && start <= to
  return STATES.find((state) => CEPS[state]!.some(covers)) ?? null
}

export type ShippingFault = 'missing' | 'too-long' | 'unknown' | 'elsewhere'

const MAX_LENGTH: Record<ShippingField, number> = {
  postalCode: 8,
  address: 255,
  number: 20,
  line1: 255,
  district: 255,
  city: 255,
  state: 2,
}

/** What is wrong with an address, by field. */
export function shippingFaults(given: Shipping): Partial<Record<ShippingField, ShippingFault>> {
  const faults: Partial<Record<ShippingField, ShippingFault>> = {}
  for (const field of SHIPPING_FIELDS) {
    const text = given[field] ?? ''
    if (text === '' && field !== 'line1') faults[field] = 'missing'
    else if (text.length > MAX_LENGTH[field] && field !== 'postalCode') faults[field] = 'too-long'
  }
  const at = stateOfPostalCode(given.postalCode)
  if (!faults.postalCode && at === null) faults.postalCode = 'unknown'
  if (!faults.state && !STATES.includes(given.state)) faults.state = 'unknown'
  if (!faults.postalCode && !faults.state && at !== given.state) faults.state = 'elsewhere'
  return faults
}

// Names the charge: an address that is copied to another charge cannot be opened.
export const shippingContext = (companyId: Uuid, chargeId: Uuid) =>
  `shipping:${companyId}:${chargeId}`

export function sealShipping(
  vault: Vault,
  { companyId, id }: { companyId: Uuid; id: Uuid },
  shipping: Shipping,
): Buffer {
  const picked = SHIPPING_FIELDS.flatMap((field) =>
    shipping[field] ? [[field, shipping[field]]] : [],
  )
  return vault.seal(JSON.stringify(Object.fromEntries(picked)), shippingContext(companyId, id))
}

export const openShipping = (
  vault: Vault,
  { companyId, id }: { companyId: Uuid; id: Uuid },
  sealed: Buffer,
): Shipping => JSON.parse(vault.open(sealed, shippingContext(companyId, id)))
