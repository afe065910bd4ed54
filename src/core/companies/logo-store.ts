import { createHash } from 'node:crypto'
import type { Cleaned } from '../../../packages/images/src/cleaned-image.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'

/** An image of a company that we serve. Its name has the hash of its content. */
type Logo = Pick<Cleaned, 'type' | 'bytes'>

export const MAX_LOGO_BYTES = 256 * 1024
/** In pixels. */
export const MAX_LOGO_SIDE = 2048
/** Former logos are in mails that were sent. The newest of them are kept. */
const KEPT = 5

const HASH_DIGITS = 32
const ENDINGS = { 'image/png': 'png', 'image/jpeg': 'jpg' } as const
const NAME_FORM = /^([0-9a-f]{32})\.(?:png|jpg)$/

/** Stores a logo and returns its name. */
export async function saveLogo(
  tx: Tx,
  companyId: Uuid,
  { type, bytes }: Logo,
  now: Date,
): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, HASH_DIGITS)
  await tx.query({
    text: `insert into logos (company_id, hash, type, bytes, created_at)
           values ($1, $2, $3, $4, $5)
           on conflict (company_id, hash) do update set created_at = excluded.created_at`,
    values: [companyId, hash, type, bytes, now],
  })
  await tx.query({
    text: `delete from logos where company_id = $1 and hash not in (
             select hash from logos where company_id = $1 order by created_at desc, hash limit $2)`,
    values: [companyId, KEPT],
  })
  return `${hash}.${ENDINGS[type]}`
}

export async function findLogo(tx: Tx, companyId: Uuid, name: string): Promise<Logo | null> {
  const hash = NAME_FORM.exec(name)?.[1]
  if (!hash) return null
  const [logo] = await tx.query<Logo>({
    name: 'find_logo',
    text: 'select type, bytes from logos where company_id = $1 and hash = $2',
    values: [companyId, hash],
  })
  return logo && name.endsWith(ENDINGS[logo.type]) ? logo : null
}
