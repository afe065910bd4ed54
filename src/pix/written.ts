/**
 * Values that are stored in a plain form. People and programs write them with the punctuation that
 * is usual in Brazil, or without it. The pattern accepts both.
 */
export type Written = 'tax-id' | 'phone' | 'postal-code'

/** Enough for 14 characters and their punctuation. */
export const MAX_WRITTEN = 64

/** Matching takes linear time, because no two repetitions can match the same character. */
export const PATTERNS: Record<Written, string> = {
  // 529.982.247-25, 11.222.333/0001-81, 12.abc.345/01de-35
  'tax-id': '^(?:[ ./-]*[0-9]){11}[ ./-]*$|^(?:[ ./-]*[0-9A-Za-z]){12}(?:[ ./-]*[0-9]){2}[ ./-]*$',
  // (11) 98888-8888, +55 11 98888.8888
  phone: '^(?:[ ().-]*\\+55)?(?:[ ().-]*[0-9]){10,11}[ ().-]*$',
  // 01310-100, 01.310-100
  'postal-code': '^(?:[ .-]*[0-9]){8}[ .-]*$',
}

const TO_PLAIN: Record<Written, (text: string) => string> = {
  'tax-id': (text) => text.replaceAll(/[ ./-]/g, '').toUpperCase(),
  phone: (text) => text.replace('+55', '').replaceAll(/[ ().-]/g, ''),
  'postal-code': (text) => text.replaceAll(/[ .-]/g, ''),
}

const EXPRESSIONS = new Map(
  Object.entries(PATTERNS).map(([kind, pattern]) => [kind, new RegExp(pattern, 'u')]),
)

/** The plain form. If the pattern does not accept the text, it stays as it is and is refused. */
export function toPlain(kind: Written, text: string): string {
  if (text.length > MAX_WRITTEN) return text
  return EXPRESSIONS.get(kind)!.test(text) ? TO_PLAIN[kind](text) : text
}

/**
 * A phone as it is stored, from what people write to find it: also with 55 or 0 before the area
 * code, which never begins with 0. Null if it is none.
 */
export function plainPhone(text: string): string | null {
  if (text.length > MAX_WRITTEN || /[^\d\s().+\p{Pd}]/u.test(text)) return null
  const digits = text
    .replaceAll(/\D/g, '')
    .replace(/^55(?=0?\d{10,11}$)/, '')
    .replace(/^0(?=\d{10,11}$)/, '')
  return /^\d{10,11}$/.test(digits) ? digits : null
}

const MAX_TYPED = 255

/** A text that was typed or pasted, without spaces around it and characters that nobody sees. */
export const cleanTyped = (text: string): string =>
  text
    .slice(0, 4 * MAX_TYPED)
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, MAX_TYPED)
    .toWellFormed()
