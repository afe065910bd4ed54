const PRINTABLE = /^[\x20-\x7e]+$/

export function isPrintable(text: string): boolean {
  return PRINTABLE.test(text)
}

/**
 * Makes a text fit a BR Code field: printable ASCII, at most `max` characters, no outer spaces. The
 * result may be empty. The caller then uses another text.
 */
export function printable(text: string, max: number): string {
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
