import { readdir, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'

/** The folder that mails are written to. */
export type Mailbox = {
  /** The newest code that was mailed to an address, if its mail is newer than an id. */
  codeFor(address: string, since: string): Promise<string | null>
}

/** Its name is the mail's id, and so sorts by time. */
type Letter = { name: string; to: string; code: string }

const CODE = /^\s*([0-9]{6})\s*$/m

/** Takes out what it has read, so that however long it runs, there is little to look through. */
export function openMailbox(folder: string): Mailbox {
  const newest = new Map<string, Letter>()
  let emptying: Promise<void> | null = null

  async function empty(): Promise<void> {
    // The first mail makes the folder.
    const names = await readdir(folder).catch(() => [])
    for (const name of names.filter((one) => one.endsWith('.eml'))) {
      const letter = await take(join(folder, name), name)
      if (letter && name >= (newest.get(letter.to)?.name ?? '')) newest.set(letter.to, letter)
    }
  }

  return {
    async codeFor(address, since) {
      emptying ??= empty().finally(() => {
        emptying = null
      })
      await emptying
      const letter = newest.get(address)
      return letter && letter.name >= since ? letter.code : null
    },
  }
}

/** Null if there is no code in it. */
async function take(path: string, name: string): Promise<Letter | null> {
  const bytes = await readFile(path)
  await unlink(path)
  // Most are receipts, which need not be taken apart.
  if (!CODE.test(bytes.toString('latin1'))) return null
  const { to, text } = await PostalMime.parse(bytes)
  const code = CODE.exec(text ?? '')?.[1]
  return code === undefined ? null : { name, to: to?.[0]?.address ?? '', code }
}
