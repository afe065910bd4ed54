/** A text with names in braces, cut at them. */
type Template = { pieces: string[]; names: string[]; to: string }

const NAME = /\{(\w+)\}/g
/** Ours have fewer texts in one another. What a client has sent may look like more. */
const MOST_NESTED = 4

export const namesIn = (text: string): string[] => [...text.matchAll(NAME)].map(([, name]) => name!)

const templateOf = ([from, to]: [string, string]): Template => ({
  pieces: from.split(/\{\w+\}/),
  names: namesIn(from),
  to,
})

const lengthOf = ({ pieces }: Template): number => pieces.join('').length

/** What stands for the names, or null if the text has another form. It takes linear time. */
function valuesIn(text: string, { pieces, names }: Template): Record<string, string> | null {
  const last = pieces.at(-1)!
  if (!text.startsWith(pieces[0]!)) return null
  const values: Record<string, string> = {}
  let at = pieces[0]!.length
  for (const [i, name] of names.entries()) {
    const isLast = i === names.length - 1
    const end = isLast ? text.length - last.length : text.indexOf(pieces[i + 1]!, at)
    if (end < at || (isLast && !text.endsWith(last))) return null
    values[name] = text.slice(at, end)
    at = end + pieces[i + 1]!.length
  }
  return at === text.length ? values : null
}

/**
 * Translates texts that were made from known ones. Of several that fit, the one that says most
 * counts. What stands for a name is translated too. Null: the text is not known.
 */
export function createTranslator(texts: Record<string, string>): (text: string) => string | null {
  const whole = new Map(Object.entries(texts).filter(([from]) => namesIn(from).length === 0))
  const templates = Object.entries(texts)
    .filter(([from]) => !whole.has(from))
    .map(templateOf)
    .sort((a, b) => lengthOf(b) - lengthOf(a))

  function translate(text: string, depth: number): string | null {
    const known = whole.get(text)
    if (known !== undefined) return known
    for (const template of templates) {
      const values = valuesIn(text, template)
      if (values === null) continue
      const inner = (value: string) => (depth < MOST_NESTED ? translate(value, depth + 1) : null)
      return template.to.replace(NAME, (_, name) => inner(values[name]!) ?? values[name]!)
    }
    return null
  }
  return (text) => translate(text, 0)
}
