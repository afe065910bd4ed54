/** Null: the text is not base64 throughout. Long keys may be wrapped into lines. */
export function readBase64(text: string): Buffer | null {
  const plain = text.replace(/\s+/g, '')
  const bytes = Buffer.from(plain, 'base64')
  const unpadded = (base64: string) => base64.replace(/=+$/, '')
  return unpadded(bytes.toString('base64')) === unpadded(plain) ? bytes : null
}
