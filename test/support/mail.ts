import assert from 'node:assert/strict'
import type { SealedMail } from '../../src/core/mails/sealing.ts'
import { findLetter } from '../../src/core/receipts/letter.ts'
import type { Letter } from '../../src/lib/mailer.ts'
import type { TestApi } from './api.ts'

export type Waiting = Letter & { kind: string; expiresAt: Date | null }

/** The letters of a company or of a person that wait to be sent, oldest first. */
export async function lettersOf(api: TestApi, companyId: string): Promise<Waiting[]> {
  const text = `select company_id as "companyId", id, kind, sealed, expires_at as "expiresAt",
       created_at as "createdAt"
     from mails where company_id = $1 and sealed is not null order by id`
  const ofCompany = await api.rows<SealedMail>(text, [companyId])
  const isSame = api.places.length === 1
  const ofPerson = isSame ? [] : await api.peopleRows<SealedMail>(text, [companyId])
  // A company may write to one of its people, from its own place.
  const all = [...ofCompany, ...ofPerson].sort((one, other) => (one.id < other.id ? -1 : 1))
  const app = (await api.app.places.find(companyId)) ?? api.app
  const letters: Waiting[] = []
  for (const mail of all) {
    const letter = await findLetter(app, mail)
    if (letter) letters.push({ kind: mail.kind, expiresAt: mail.expiresAt, ...letter })
  }
  return letters
}

/** The one-time code that a letter brings. */
export function codeIn({ text }: Letter): string {
  const code = /^[0-9]{6}$/m.exec(text)?.[0]
  assert.ok(code, text)
  return code
}

/** The one-time code that was sent to a company last. */
export async function lastCode(api: TestApi, companyId: string): Promise<string> {
  const letters = await lettersOf(api, companyId)
  const letter = letters.findLast(({ kind }) => kind === 'withdrawal-code')
  assert.ok(letter, 'a code was sent')
  return codeIn(letter)
}
