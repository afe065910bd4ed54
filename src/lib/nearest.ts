/** Longer words are not compared letter by letter: the work grows with the square of the length. */
const MAX_LETTERS = 40

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** The name that was probably meant, if one is near enough to be obvious: case, dashes, a typo. */
export function nearest(text: string, names: string[]): string | null {
  if (text.length > MAX_LETTERS) return null
  const given = lettersOf(text)
  const max = given.length < 5 ? 1 : 2
  const [best] = names
    .map((name) => ({ name, distance: distanceOf(given, lettersOf(name)) }))
    .filter(({ distance }) => distance <= max)
    .sort((a, b) => a.distance - b.distance)
  return best?.name ?? null
}

/** How many letters have to be put in, taken out or replaced (Levenshtein). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const above = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1))
    }
  }
  return row[b.length]!
}
