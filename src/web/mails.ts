import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime, { type Email } from 'postal-mime'
import { isUuid, type Uuid } from '../lib/ids.ts'

/** A mail as it was written to a file. */
export type SentMail = {
  id: Uuid
  to: string
  from: string
  subject: string
  at: Date
  text: string
  html: string
  /** The one-time code, which is alone on a line of the text. */
  code: string | null
}

const FILE = /^(.+)\.eml$/

/** The ids of the mails in a folder, newest first, because ids sort by time. */
export async function listMails(folder: string): Promise<Uuid[]> {
  const names = await readdir(folder).catch(orNone<string[]>([]))
  const ids = names.map((name) => FILE.exec(name)?.[1] ?? '').filter(isUuid)
  return ids.sort().reverse()
}

/** Null when there is no such mail. */
export async function readMail(folder: string, id: string): Promise<SentMail | null> {
  if (!isUuid(id)) return null
  const file = await readFile(join(folder, `${id}.eml`)).catch(orNone(null))
  return file && toMail(id, await PostalMime.parse(file))
}

function toMail(id: Uuid, mail: Email): SentMail {
  const text = mail.text ?? ''
  return {
    id,
    text,
    html: mail.html ?? '',
    subject: mail.subject ?? '',
    to: mail.to?.map(({ address }) => address).join(', ') ?? '',
    from: mail.from?.name || (mail.from?.address ?? ''),
    at: new Date(mail.date ?? 0),
    code: /^[0-9]{6}$/m.exec(text.replaceAll('\r', ''))?.[0] ?? null,
  }
}

/** Before the first mail the folder does not exist. */
const orNone =
  <T>(none: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return none
    throw error
  }
