import { assert } from '../lib/assert.ts'

const CODE_MAX = 512
const GUI = 'br.gov.bcb.pix'

const NAME_MAX = 25
const CITY_MAX = 15
const TEXT_MAX = 72
const VALUE_MAX = 99
const AMOUNT_MAX = 999_999_999_999

const FORMAT = '000201'
const SINGLE_USE = '010212'
const GUI_FIELD = field('00', GUI)
const NO_CATEGORY_BRL = '520400005303986'
const COUNTRY = '5802BR'
const NO_TXID = '***'
const TXID = /^[A-Za-z0-9]{1,25}$/
// A key or a location. The template has space for 77 characters after the GUI.
const REFERENCE = /^[\x21-\x7e]{1,77}$/

type Merchant = { name: string; city: string }

type StaticCodeInput = Merchant & {
  key: string
  /** Integer cents. If it is missing, the payer types the amount. */
  amount?: number | undefined
  txid?: string | undefined
  /** Shown to the payer. It is cut to the space that the key leaves in the template. */
  text?: string | undefined
}

type LocationCodeInput = Merchant & {
  /** As the bank returns it: host and path, without a scheme. */
  location: string
}

/** A code that holds the key itself, and can be paid any number of times. */
export function staticCode(input: StaticCodeInput): string {
  const { key, amount, txid = NO_TXID, text = '' } = input
  assert(REFERENCE.test(key), 'a key is 1 to 77 printable characters')
  assert(txid === NO_TXID || TXID.test(txid), 'a txid is 1 to 25 alphanumerics')
  const account = GUI_FIELD + field('01', key)
  const shown = printable(text, Math.min(TEXT_MAX, Math.max(0, VALUE_MAX - account.length - 4)))
  const template = field('26', shown === '' ? account : account + field('02', shown))
  const price = amount === undefined ? '' : field('54', decimal(amount))
  return withChecksum(FORMAT + template + NO_CATEGORY_BRL + price + merchantFields(input, txid))
}

/** A code that points to one charge at the bank, and is paid once. */
export function dynamicCode(input: LocationCodeInput): string {
  const template = field('26', GUI_FIELD + locationField(input.location))
  return withChecksum(
    FORMAT + SINGLE_USE + template + NO_CATEGORY_BRL + merchantFields(input, NO_TXID),
  )
}

/** Journey 2 of Pix Automático: the payer agrees to a recurrence, and pays nothing yet. */
export function recurrenceCode(input: LocationCodeInput): string {
  const charge = field('26', GUI_FIELD)
  const recurrence = field('80', GUI_FIELD + locationField(input.location))
  return withChecksum(
    FORMAT + charge + NO_CATEGORY_BRL + merchantFields(input, NO_TXID) + recurrence,
  )
}

function merchantFields({ name, city }: Merchant, txid: string): string {
  // Both fields are mandatory. If nothing of a name can be printed, use another text.
  const nameField = field('59', printable(name, NAME_MAX) || 'PIX')
  const cityField = field('60', printable(city, CITY_MAX) || 'BRASIL')
  return COUNTRY + nameField + cityField + field('62', field('05', txid))
}

function locationField(location: string): string {
  assert(REFERENCE.test(location), 'a location is 1 to 77 printable characters')
  assert(!location.includes('://'), 'a location has no scheme')
  return field('25', location)
}

function decimal(cents: number): string {
  const valid = Number.isSafeInteger(cents) && cents >= 1 && cents <= AMOUNT_MAX
  assert(valid, 'an amount is 1 to 999999999999 cents')
  const digits = String(cents).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function field(id: string, value: string): string {
  const { length } = value
  assert(length >= 1 && length <= VALUE_MAX, 'a field holds 1 to 99 characters')
  return `${id}${length < 10 ? '0' : ''}${length}${value}`
}

function withChecksum(body: string): string {
  const start = `${body}6304`
  const code = start + crc16(start)
  assert(code.length <= CODE_MAX, 'a code has at most 512 characters')
  return code
}

type StaticCode = Merchant & {
  kind: 'static'
  key: string
  amount?: number
  txid?: string
  text?: string
  recurrenceLocation?: string
}

type DynamicCode = Merchant & {
  kind: 'dynamic'
  location: string
  recurrenceLocation?: string
}

type RecurrenceCode = Merchant & { kind: 'recurrence'; recurrenceLocation: string }

export type BrCode = StaticCode | DynamicCode | RecurrenceCode

export type Fault = {
  kind: 'fault'
  reason:
    | 'too-long'
    | 'bad-character'
    | 'bad-crc'
    | 'bad-length'
    | 'repeated-field'
    | 'missing-field'
    | 'bad-value'
  /** The field with the fault, such as `62` or `62.05`; absent if it is in the whole text. */
  field?: string
}

type Fields = Map<string, string>

const RULES: { id: string; pattern: RegExp; optional?: boolean }[] = [
  { id: '00', pattern: /^01$/ },
  { id: '01', pattern: /^1[12]$/, optional: true },
  { id: '52', pattern: /^\d{4}$/ },
  { id: '53', pattern: /^986$/ },
  { id: '54', pattern: /^\d{1,10}\.\d{2}$/, optional: true },
  { id: '58', pattern: /^BR$/ },
  { id: '59', pattern: /./ },
  { id: '60', pattern: /./ },
]

/**
 * Reads a copy-and-paste text. People type and paste it, so a bad text gives a fault with its
 * reason, and no exception.
 */
export function parse(text: string): BrCode | Fault {
  if (text.length > CODE_MAX) return fault('too-long')
  if (!isPrintable(text)) return fault('bad-character')
  // Check the checksum first, because after one wrong character any other reason would mislead.
  if (!/6304[0-9A-Fa-f]{4}$/.test(text)) return fault('missing-field', '63')
  if (crc16(text.slice(0, -4)) !== text.slice(-4).toUpperCase()) return fault('bad-crc')
  const fields = readFields(text)
  return fields instanceof Map ? interpret(fields) : fields
}

function interpret(fields: Fields): BrCode | Fault {
  const broken = firstBrokenRule(fields)
  if (broken) return broken
  const txid = readTxid(fields)
  if (typeof txid !== 'string') return txid
  const account = findTemplate(fields, 26, 51)
  if (!account) return fault('missing-field', '26')
  const recurrenceLocation = findTemplate(fields, 80, 99)?.get('25')
  const merchant = { name: fields.get('59')!, city: fields.get('60')! }
  const recurrence = recurrenceLocation === undefined ? {} : { recurrenceLocation }
  const [key, location] = [account.get('01'), account.get('25')]
  if (key !== undefined && location !== undefined) return fault('bad-value', '26')
  if (location !== undefined) return { kind: 'dynamic', location, ...merchant, ...recurrence }
  if (key !== undefined) {
    const details = staticDetails(txid, account.get('02'), fields.get('54'))
    return { kind: 'static', key, ...details, ...merchant, ...recurrence }
  }
  if (recurrenceLocation === undefined) return fault('missing-field', '26.25')
  return { kind: 'recurrence', recurrenceLocation, ...merchant }
}

function firstBrokenRule(fields: Fields): Fault | undefined {
  const ids = [...fields.keys()]
  if (ids[0] !== '00') return fault('missing-field', '00')
  if (ids.at(-1) !== '63') return fault('missing-field', '63')
  for (const { id, pattern, optional } of RULES) {
    const value = fields.get(id)
    if (value === undefined && !optional) return fault('missing-field', id)
    if (value !== undefined && !pattern.test(value)) return fault('bad-value', id)
  }
  return undefined
}

function staticDetails(txid: string, text: string | undefined, price: string | undefined) {
  return {
    ...(txid !== NO_TXID && { txid }),
    ...(text !== undefined && { text }),
    ...(price !== undefined && { amount: Number(price.replace('.', '')) }),
  }
}

function readTxid(fields: Fields): string | Fault {
  const additional = readFields(fields.get('62') ?? '')
  if (!(additional instanceof Map)) return { ...additional, field: '62' }
  const txid = additional.get('05')
  if (txid === undefined) return fault('missing-field', '62.05')
  return txid === NO_TXID || TXID.test(txid) ? txid : fault('bad-value', '62.05')
}

// Any template may be the one of Pix. The others belong to other schemes and are not checked.
function findTemplate(fields: Fields, first: number, last: number): Fields | undefined {
  for (let id = first; id <= last; id++) {
    const template = readFields(fields.get(String(id)) ?? '')
    if (template instanceof Map && template.get('00')?.toLowerCase() === GUI) return template
  }
  return undefined
}

function readFields(text: string): Fields | Fault {
  const fields: Fields = new Map()
  for (let at = 0; at < text.length; ) {
    const head = /^(\d\d)(\d\d)/.exec(text.slice(at, at + 4))
    if (!head) return fault('bad-length')
    const [id, length] = [head[1]!, Number(head[2])]
    const value = text.slice(at + 4, at + 4 + length)
    if (length === 0 || value.length < length) return fault('bad-length', id)
    if (fields.has(id)) return fault('repeated-field', id)
    fields.set(id, value)
    at += 4 + length
  }
  return fields
}

/** One field of a code, named as in faults: `59`, or `26.25` in a template. */
type WrittenField = { id: string; value: string }

/** All fields of a code that `parse` has read, in their order. Templates give their own fields. */
export function writtenFields(text: string): WrittenField[] {
  const fields = readFields(text)
  if (!(fields instanceof Map)) return []
  return [...fields].flatMap(([id, value]) => {
    const inner = isTemplate(Number(id)) ? readFields(value) : null
    if (!(inner instanceof Map)) return [{ id, value }]
    return [...inner].map(([innerId, text]) => ({ id: `${id}.${innerId}`, value: text }))
  })
}

const isTemplate = (id: number): boolean => (id >= 26 && id <= 51) || id === 62 || id >= 80

function fault(reason: Fault['reason'], field?: string): Fault {
  return field === undefined ? { kind: 'fault', reason } : { kind: 'fault', reason, field }
}

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)
  return crc
})

/**
 * CRC-16/CCITT-FALSE of an ASCII text as four upper-case hexadecimal digits, as in field 63. It
 * uses a table instead of eight shifts per character, because it runs over the whole code of every
 * charge.
 */
export function crc16(text: string): string {
  let crc = 0xffff
  for (let i = 0; i < text.length; i++) {
    crc = ((crc << 8) & 0xffff) ^ TABLE[(crc >>> 8) ^ (text.charCodeAt(i) & 0xff)]!
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

const PRINTABLE = /^[\x20-\x7e]+$/

function isPrintable(text: string): boolean {
  return PRINTABLE.test(text)
}

/**
 * Makes a text fit a BR Code field: printable ASCII, at most `max` characters, no outer spaces. The
 * result may be empty. The caller then uses another text.
 */
function printable(text: string, max: number): string {
  // Some banks count bytes and others characters, so only ASCII is allowed. Most names are ASCII
  // already and need no slow normalization.
  const ascii = isPrintable(text) ? text : toAscii(text)
  return ascii.trim().slice(0, max).trimEnd()
}

function toAscii(text: string): string {
  return (
    text
      // Compatibility forms too, so that "1º" becomes "1o" and full-width letters are kept.
      .normalize('NFKD')
      // Accents and invisible joiners are removed and not replaced by a space.
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[\u2010-\u2015]/g, '-')
      .replace(/[^\x21-\x7e]+/g, ' ')
  )
}
