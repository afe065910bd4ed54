/** A random key of 32 bytes has about 30 different ones. Fewer than this happens to nobody. */
const LEAST_DIFFERENT = 16
/** Of sixteen digits, as some write a key before they write it in base64. */
const LEAST_DIGITS = 10

/** Why a secret can be guessed, as the rest of a sentence, or null. */
export function secretWeakness(secret: Buffer): string | null {
  const text = secret.toString('latin1')
  const isHex = /^[0-9a-f]{64,}\s*$/i.test(text)
  const least = isHex ? LEAST_DIGITS : LEAST_DIFFERENT
  const steps = secret.map((byte, i) => byte - secret[(i || secret.length) - 1]!)
  if (new Set(secret).size < least) return 'repeats few bytes'
  if (new Set(steps.subarray(1)).size < least) return 'repeats a pattern'
  if (/^[\t\n\r -~]+$/.test(text) && !isHex) return 'is readable text in base64'
  return null
}
