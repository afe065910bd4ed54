import Type, { type Static, type TSchema } from 'typebox'
import { EMAIL_FORM } from '../lib/mailbox.ts'
import { MAX_AMOUNT } from '../pix/amounts.ts'
import { MAX_WRITTEN, PATTERNS, type Written } from '../pix/written.ts'

/**
 * Fields that several nouns share. `x-rule` is the sentence a client reads when the field is wrong;
 * it says what to send, where the schema's own words would only quote a pattern. `x-written` names
 * the plain form that the edge gives to the core. `x-other-name` is a second name of the field,
 * which the core never sees.
 */
export const ShortText = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' })
export const OptionalText = Type.String({ maxLength: 255 })

/** Text that may be written with punctuation, of which the core gets the plain form. */
const written = (kind: Written, description: string, rule: string) =>
  Type.String({
    maxLength: MAX_WRITTEN,
    pattern: PATTERNS[kind],
    description,
    'x-rule': rule,
    'x-written': kind,
  })

export const TaxId = written(
  'tax-id',
  'CPF (11 digits) or CNPJ (14 characters), with or without punctuation',
  'must be a CPF (11 digits) or a CNPJ (14 characters, the last two digits)',
)

export const Email = Type.String({
  maxLength: 254,
  pattern: EMAIL_FORM.source,
  'x-rule': 'must be an e-mail address such as maria@example.com',
})

export const Phone = written(
  'phone',
  'Area code and number, 10 or 11 digits, with or without punctuation and +55',
  'must have 10 or 11 digits: area code and number',
)

export const PostalCode = written(
  'postal-code',
  'CEP, 8 digits, with or without punctuation',
  'must have 8 digits (CEP)',
)

export const HttpUrl = Type.String({
  maxLength: 2048,
  format: 'http-url',
  pattern: '^[hH][tT][tT][pP][sS]?://[^\\s/?#]\\S*$',
  description: 'An http or https address',
  'x-rule': 'must be an address that starts with https:// or http://',
})

export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'Your own reference; searchable, not unique',
})

export const Timestamp = Type.String({
  format: 'date-time',
  'x-rule': 'must be a date and time such as 2026-08-16T12:00:00Z',
})

export const Day = (description: string) =>
  Type.String({
    format: 'date',
    description,
    'x-rule': 'must be a day of the calendar such as 2026-08-16',
  })

/** The start or the end of a period: a moment, or a whole day in São Paulo. */
export const DayOrTime = (description: string) =>
  Type.String({
    format: 'day-or-time',
    description,
    'x-rule': 'must be a day such as 2026-08-16, or a date and time such as 2026-08-16T12:00:00Z',
  })

export const Amount = (least: number, description: string) =>
  Type.Integer({ minimum: least, maximum: MAX_AMOUNT, description })

/** Money that goes out. It may be sent as `amount` too, because that is what charges call it. */
export const Value = (description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_AMOUNT, description, 'x-other-name': 'amount' })

/** One schema with two types, not a union: its violations read like those of any other field. */
export const orNull = <T extends TSchema & { type: string }>(schema: T) =>
  Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'] })

/** How many records a page has if the request does not say how many. */
export const PAGE_SIZE = 100
/** The same of the lists that were published without pages. */
export const LONG_PAGE_SIZE = 1000

const pageFields = (size: number) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: `At most this many records; default ${size}. A page of large records may have fewer`,
    }),
  ),
  after: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'The id after which the page starts, from the Link header',
    }),
  ),
})

/** `limit` and `after`, which every list takes; the next cursor comes in the Link header. */
export const PAGE = pageFields(PAGE_SIZE)
export const LONG_PAGE = pageFields(LONG_PAGE_SIZE)
