/** Longer words are not compared letter by letter: the work grows with the square of the length. */
const MAX_LETTERS = 40

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

/** The name that was probably meant, if one is near enough to be obvious: case, dashes, a typo. */
export function nearest(
  text: string,
  names: string[],
  max = lettersOf(text.slice(0, MAX_LETTERS)).length < 5 ? 1 : 2,
): string | null {
  if (text.length > MAX_LETTERS) return null
  const given = lettersOf(text)
  const [best] = names
    .map((name) => ({ name, letters: lettersOf(name) }))
    // A letter more or less is a mistake, so most names need not be compared letter by letter.
    .filter(({ letters }) => Math.abs(letters.length - given.length) <= max)
    .map(({ name, letters }) => ({ name, distance: distanceOf(given, letters) }))
    .filter(({ distance }) => distance <= max)
    .sort((a, b) => a.distance - b.distance)
  return best?.name ?? null
}

/** How many letters are to be put in, taken out, replaced, or swapped with the next (Damerau). */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  let above: number[] = []
  for (let i = 1; i <= a.length; i++) {
    const aboveThat = above
    above = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? aboveThat[j - 2]! + 1 : replaced
      row.push(Math.min(replaced, swapped, above[j]! + 1, row[j - 1]! + 1))
    }
  }
  return row[b.length]!
}
