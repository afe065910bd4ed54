/** A text in code, with `{}` for each expression, and what stands before it on its line or call. */
export type Literal = { text: string; before: string }

const REGEX = /^\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\/[a-z]*/

/** All texts of TypeScript code, those inside of others too. */
export function literalsOf(code: string): Literal[] {
  const found: Literal[] = []
  let i = 0

  function text(): void {
    const [start, quote] = [i, code[i]]
    let read = ''
    for (i++; i < code.length && code[i] !== quote; i++) {
      if (code[i] === '\\') read += code[++i]
      else if (quote === '`' && code.startsWith('${', i)) {
        read += '{}'
        i += 2
        until('}')
      } else read += code[i]
    }
    found.push({ text: read, before: code.slice(Math.max(0, start - 80), start) })
  }

  /** Reads on to a brace that closes what is open, or to the end. */
  function until(end: string): void {
    for (let depth = 0; i < code.length; i++) {
      const one = code[i]!
      if (one === end && depth === 0) return
      if (one === '{') depth++
      else if (one === '}') depth--
      else if (`'"\``.includes(one)) text()
      else if (one === '/') i += lengthOfSlash() - 1
    }
  }

  /** Of a comment, of a regular expression, or of a division. */
  function lengthOfSlash(): number {
    if (code.startsWith('//', i)) return code.slice(i).search(/\n|$/)
    if (code.startsWith('/*', i)) return code.indexOf('*/', i) + 2 - i
    const isExpression = /[(,=:[!&|?{};>]$/.test(code.slice(0, i).trimEnd())
    return (isExpression && REGEX.exec(code.slice(i))?.[0].length) || 1
  }

  until('')
  return found
}
