import { companyTableOf } from '../../db/columns.ts'
import type { Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { ReusableLink } from './rules.ts'

const LINK = companyTableOf<ReusableLink>('links', {
  companyId: ['company_id', 'uuid'],
  id: ['id', 'uuid'],
  slug: ['slug', 'text'],
  title: ['title', 'text'],
  description: ['description', 'text'],
  amount: ['amount', 'int8'],
  items: ['items', 'json'],
  openAmount: ['open_amount', 'json'],
  minQuantity: ['min_quantity', 'int8'],
  maxQuantity: ['max_quantity', 'int8'],
  endsAt: ['ends_at', 'timestamptz'],
  stock: ['stock', 'int8'],
  enabled: ['enabled', 'bool'],
  needShipping: ['need_shipping', 'bool'],
  successUrl: ['success_url', 'text'],
  lifetime_s: ['lifetime_s', 'int8'],
  split: ['split', 'json'],
  opened: ['opened', 'int8'],
  made: ['made', 'int8'],
  used: ['used', 'int8'],
  paid: ['paid', 'int8'],
  received: ['received', 'cents'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

/** What is counted is changed only by what is counted. */
const CHANGING = LINK.without(
  'companyId',
  'id',
  'opened',
  'made',
  'used',
  'paid',
  'received',
  'createdAt',
)

const SAVE = `${LINK.insertInto('links')}
  on conflict (company_id, id) do update set ${CHANGING.assigned('excluded')}`

/** Inserts a link, or overwrites its terms if it exists. */
export async function save(tx: Tx, link: ReusableLink): Promise<void> {
  await tx.query({ text: SAVE, values: LINK.values([link]) })
}

export const { find, list } = LINK

/** The link that has the address, or had it once. */
export async function findBySlug(
  tx: Tx,
  companyId: Uuid,
  slug: string,
): Promise<ReusableLink | null> {
  const rows = await tx.query({
    name: 'find_link_by_slug',
    text: `select ${LINK.select('l')} from link_slugs s
           join links l on l.company_id = s.company_id and l.id = s.link_id
           where s.company_id = $1 and s.slug = $2`,
    values: [companyId, slug],
  })
  return rows[0] ? LINK.read(rows[0]) : null
}

/** Gives a link an address. Returns false if another link has it. */
export async function takeSlug(
  tx: Tx,
  { companyId, id }: Pick<ReusableLink, 'companyId' | 'id'>,
  slug: string,
  now: Date,
): Promise<boolean> {
  const rows = await tx.query({
    text: `insert into link_slugs as s (company_id, slug, link_id, created_at)
           values ($1, $2, $3, $4)
           on conflict (company_id, slug) do update set created_at = excluded.created_at
             where s.link_id = excluded.link_id
           returning link_id`,
    values: [companyId, slug, id, now],
  })
  return rows.length === 1
}

/** So many addresses of a link lead to it: the present one and those before it. */
const KEPT_SLUGS = 10

export async function forgetOldSlugs(
  tx: Tx,
  { companyId, id }: Pick<ReusableLink, 'companyId' | 'id'>,
): Promise<void> {
  await tx.query({
    text: `delete from link_slugs where company_id = $1 and slug in (
             select slug from link_slugs where company_id = $1 and link_id = $2
             order by created_at desc, slug offset $3)`,
    values: [companyId, id, KEPT_SLUGS],
  })
}

/** How many links are on and off, of at most so many of the newest. */
export async function countLinks(
  tx: Tx,
  companyId: Uuid,
  most: number,
): Promise<{ on: number; off: number }> {
  const [row] = await tx.query<{ on: number; off: number }>({
    name: 'count_links',
    text: `select count(*) filter (where enabled) as on, count(*) filter (where not enabled) as off
           from (select enabled from links where company_id = $1 order by id desc limit $2) l`,
    values: [companyId, most],
  })
  return row!
}

type LinkId = Pick<ReusableLink, 'companyId' | 'id'>

/** Counts a charge that the link has made, which takes a place of its stock. */
export async function countMade(tx: Tx, { companyId, id }: LinkId): Promise<void> {
  await tx.query({
    name: 'count_made_by_link',
    text: `update links set made = made + 1, used = used + 1
           where company_id = $1 and id = $2`,
    values: [companyId, id],
  })
}

export async function countOpened(tx: Tx, { companyId, id }: LinkId): Promise<void> {
  await tx.query({
    name: 'count_opened_link',
    text: 'update links set opened = opened + 1 where company_id = $1 and id = $2',
    values: [companyId, id],
  })
}
