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
  /(?<!\p{Extended_Pictographic}\ufe0f?)[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu
/**
 * Where mail programs find addresses: a dot before a letter, a sign for "at" between two texts, a
 * colon after a word, two slashes.
 */
const ADDRESS_PARTS =
  /(?<=[.．。｡․])(?=\p{L})|(?<=\S)(?=[@＠﹫]\S)|(?<=\S[@＠﹫])(?=\S)|(?<=\p{L}[:：])(?=\S)|(?<=[/\\／])(?=[/\\／])/gu

/**
 * Text of others as one plain line in which no mail program finds an address that it would make a
 * link of: spaces divide what looks like one.
 */
export const withoutLinks = (text: string): string =>
  oneLine(oneLine(text.replace(UNSEEN, ' ')).replace(ADDRESS_PARTS, ' '))
