/** Divides a long text into pieces of about this many characters, to be encoded one by one. */
export function* piecesOf(text: string, length: number): Generator<string> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + length
    // If a piece would end inside of a pair of surrogates, it takes both.
    if (text.codePointAt(end - 1)! > 0xffff) end++
    yield text.slice(start, end)
  }
}
