/**
 * Text of others as one plain line: what breaks lines, ends strings or changes the direction
 * of reading becomes a space, so that nobody can write a line of ours.
 */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()

/** Characters that nobody sees. Those right after an emoji belong to it. */
const UNSEEN =
  /(?<!\p{Extended_Pictographic}\ufe0f?)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu

/** Where mail programs find addresses, and where a space divides them. */
const ADDRESS_PARTS = [
  // A dot before a letter.
  /(?<=[.．。｡․])(?=\p{L})/gu,
  // A sign for "at" between two texts.
  /(?<=\S)(?=[@＠﹫]\S)|(?<=\S[@＠﹫])(?=\S)/gu,
  // The end of a scheme, such as "tel:", and two slashes.
  /(?<=\p{L}[:：])(?=\S)|(?<=[/\\／])(?=[/\\／])/gu,
]

/**
 * Text of others as one plain line in which no mail program finds an address that it would make a
 * link of: spaces divide what looks like one.
 */
export function withoutLinks(text: string): string {
  const seen = oneLine(text.replace(UNSEEN, ' '))
  return oneLine(ADDRESS_PARTS.reduce((line, part) => line.replace(part, ' '), seen))
}
