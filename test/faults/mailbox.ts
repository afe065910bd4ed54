import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'

/** The folder that mails are written to. */
export type Mailbox = {
  /** The newest code that was mailed to an address, if its mail is newer than an id. */
  codeFor(address: string, since: string): Promise<string | null>
  count(): Promise<number>
}

type Letter = { to: string; code: string | null }

export function openMailbox(folder: string): Mailbox {
  /** By the name of the file, which is the mail's id and so sorts by time. */
  const letters = new Map<string, Letter>()
  const list = async () => {
    // The first mail makes the folder.
    const names = await readdir(folder).catch(() => [])
    return names.filter((name) => name.endsWith('.eml')).sort()
  }
  return {
    async codeFor(address, since) {
      for (const name of (await list()).reverse()) {
        if (name < since) return null
        const letter = letters.get(name) ?? (await read(join(folder, name)))
        letters.set(name, letter)
        if (letter.to === address && letter.code !== null) return letter.code
      }
      return null
    },
    count: async () => (await list()).length,
  }
}

async function read(path: string): Promise<Letter> {
  const { to, text } = await PostalMime.parse(await readFile(path))
  return { to: to?.[0]?.address ?? '', code: /^\s*([0-9]{6})\s*$/m.exec(text ?? '')?.[1] ?? null }
}
