/** The items of a text with commas between them. */
export const listOf = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
