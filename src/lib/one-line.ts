/**
 * Text of others as one plain line: what breaks lines, ends strings or changes the direction
 * of reading becomes a space, so that nobody can write a line of ours.
 */
export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
