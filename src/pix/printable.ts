const PRINTABLE = /^[\x20-\x7e]+$/

export function isPrintable(text: string): boolean {
  return PRINTABLE.test(text)
}

/**
 * Makes any text fit a BR Code field: printable ASCII, at most `max` characters, no outer spaces.
 * The result may be empty; the caller knows what to say instead.
 */
export function printable(text: string, max: number): string {
  // Banks cut a code where it counts characters or bytes differently, so nothing beyond ASCII may
  // pass. Most names are ASCII already and skip the costly normalization.
  const ascii = isPrintable(text) ? text : toAscii(text)
  return ascii.trim().slice(0, max).trimEnd()
}

function toAscii(text: string): string {
  return (
    text
      // Compatibility forms too, so that "1º" reads "1o" and full-width letters survive.
      .normalize('NFKD')
      // Accents and invisible joiners leave no gap behind.
      .replace(/[\p{M}\p{Cf}]/gu, '')
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[\u2010-\u2015]/g, '-')
      .replace(/[^\x21-\x7e]+/g, ' ')
  )
}
