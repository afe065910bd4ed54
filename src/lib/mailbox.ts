/** One mail address, with the name before it; empty where there is none. */
export type Mailbox = { name: string; address: string }

const MAX_CHARACTERS = 254
const ADDRESS = /^[^\s@<>"(),:;\\[\]\p{Cc}]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*$/iu
const NAMED = /^"?([^<>"\p{Cc}]*?)"? *<([^<>]+)>$/u

/** Exactly one address, and nothing that a header or an SMTP command could take for more. */
export const isAddress = (text: string): boolean =>
  text.length <= MAX_CHARACTERS && ADDRESS.test(text)

/** Reads `Name <address>` or a bare address; null when the text is neither. */
export function readMailbox(text: string): Mailbox | null {
  const named = NAMED.exec(text)
  const [name, address] = named ? [named[1]!, named[2]!] : ['', text]
  return isAddress(address) ? { name, address } : null
}

/** The form of an e-mail address: one `@`, and a host with a dot. */
export const EMAIL_FORM = /^[^\s@<>"(),:;\\[\]]{1,64}@[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+$/
