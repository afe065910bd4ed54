import { EMAIL_FORM } from '../../lib/email-form.ts'
import { fromPublic, type Uuid, unpackPair } from '../../lib/ids.ts'
import { readReais } from '../../lib/money.ts'
import { MAX_AMOUNT } from '../../pix/amounts.ts'
import { isTaxIdShape, isValidTaxId, plainTaxId } from '../../pix/tax-id.ts'
import { namedBy } from '../../provider/txid.ts'

/** What a text in the search box may be. */
export const SOUGHT = [
  'charge',
  'txid',
  'endToEndId',
  'taxId',
  'email',
  'amount',
  'externalId',
  'name',
] as const
export type Sought = (typeof SOUGHT)[number]

/** One meaning of a text, in the form that a search takes. */
export type Meaning =
  | { kind: 'charge'; value: Uuid }
  | { kind: 'amount'; value: number }
  | { kind: Exclude<Sought, 'charge' | 'amount'>; value: string }

const MAX_CHARACTERS = 255
const END_TO_END_ID = /^E\d{20}[A-Za-z0-9]{11}$/
const TAX_ID_AS_TYPED = /^[A-Za-z0-9.\-/\s]+$/
/** Without a comma or "R$" a number may as well be somebody's own reference. */
const AMOUNT_FOR_SURE = /^R\$|,\d{1,2}$|\.\d{2}$/i
const TWO_LETTERS = /\p{L}.*\p{L}/u

/**
 * What a text in the search box may mean, the most probable first. They are tried in this order
 * until one finds something.
 */
export function meaningsOf(typed: string): Meaning[] {
  const text = cleanedOf(typed)
  if (text === '') return []
  const charge = chargeIn(text)
  if (charge !== null) return [{ kind: 'charge', value: charge }]
  if (EMAIL_FORM.test(text)) return [{ kind: 'email', value: text }, ownReference(text)]
  const amount = amountIn(text)
  const isAmount = amount !== null && AMOUNT_FOR_SURE.test(text)
  return [
    isAmount && amount,
    txidIn(text),
    endToEndIdIn(text),
    taxIdIn(text),
    ownReference(text),
    !isAmount && amount,
    nameIn(text),
  ].filter((meaning) => meaning !== null && meaning !== false)
}

/** Pasted texts have spaces around them, and sometimes characters that nobody sees. */
const cleanedOf = (typed: string): string =>
  typed
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, MAX_CHARACTERS)
    .toWellFormed()

const ownReference = (value: string): Meaning => ({ kind: 'externalId', value })

/** The id of a charge, or the address of its page. */
function chargeIn(text: string): Uuid | null {
  const id = /charge_[0-9a-z]{26}/i.exec(text)?.[0].toLowerCase()
  if (id && (id.length === text.length || text.includes('://'))) return fromPublic('charge', id)
  const token = /:\/\/[^/]+\/pay\/([^/?#]+)/.exec(text)?.[1]
  return token ? (unpackPair(token.slice(0, 43))?.id ?? null) : null
}

const txidIn = (text: string): Meaning | null =>
  namedBy(text) === null ? null : { kind: 'txid', value: text }

function endToEndIdIn(text: string): Meaning | null {
  const id = text.replace(/^e/, 'E')
  return END_TO_END_ID.test(id) ? { kind: 'endToEndId', value: id } : null
}

/** A CNPJ may have letters. Then it counts only with right check digits. */
function taxIdIn(text: string): Meaning | null {
  if (!TAX_ID_AS_TYPED.test(text)) return null
  const value = plainTaxId(text)
  const isTaxId = isTaxIdShape(value) && (/^\d+$/.test(value) || isValidTaxId(value))
  return isTaxId ? { kind: 'taxId', value } : null
}

function amountIn(text: string): Meaning | null {
  const value = readReais(text)
  const isPayable = value !== null && value >= 1 && value <= MAX_AMOUNT
  return isPayable ? { kind: 'amount', value } : null
}

const nameIn = (text: string): Meaning | null =>
  TWO_LETTERS.test(text) ? { kind: 'name', value: text } : null
