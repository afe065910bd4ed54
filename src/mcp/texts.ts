/** The longest text in an answer, except those that are listed. */
const MAX_CHARACTERS = 140
/** Codes, addresses, and sentences of our own. */
const LONGER: Record<string, number> = {
  brCode: 512,
  emv: 512,
  url: 2048,
  externalId: 255,
  correlationID: 255,
  paymentLinkUrl: 512,
  response: 200,
  message: 500,
  description: 500,
  explanation: 2000,
  nextSteps: 500,
  what: 500,
}

/**
 * Characters that nobody sees, and that can hide an instruction from people: control and format
 * characters, ends of lines, variation selectors and private ones.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{VS}]+/gu

/** One line of visible characters, which is cut if it is too long. */
export function plainText(text: string, max = MAX_CHARACTERS): string {
  const visible = text
    .slice(0, 4 * max)
    .replace(UNSEEN, ' ')
    .trim()
  const isWhole = visible.length <= max && text.length <= 4 * max
  return isWhole ? visible : `${visible.slice(0, max - 1).toWellFormed()}…`
}

/** The same data, with plain texts only. */
export function withPlainTexts<Data>(data: Data, name = ''): Data {
  if (typeof data === 'string') return plainText(data, LONGER[name]) as Data
  if (Array.isArray(data)) return data.map((item) => withPlainTexts(item, name)) as Data
  if (typeof data !== 'object' || data === null) return data
  const fields = Object.entries(data).map(([key, value]) => [key, withPlainTexts(value, key)])
  return Object.fromEntries(fields)
}
