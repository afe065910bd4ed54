import Type from 'typebox'
import { splitFaults } from '../../core/charges/split.ts'
import { findSplit } from '../../core/charges/split-recipients.ts'
import {
  changeLink,
  createLink,
  findLink,
  itemsOf,
  priceFaults,
  type WholeLink,
} from '../../core/links/commands.ts'
import type { ReusableLink } from '../../core/links/rules.ts'
import { list } from '../../core/links/store.ts'
import {
  NewReusableLink,
  ReusableLinkChange,
  ReusableLinkQuery,
  ReusableLinkView,
  showReusableLink,
} from '../../core/links/view.ts'
import { Problem } from '../../lib/problems.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { type Call, route } from '../route.ts'
import { changed, listed, newest } from '../samples.ts'

type Asked = Pick<Call, 'app' | 'company'>

const show = ({ app }: Asked, { link, items }: WholeLink) => showReusableLink(link, app, items)

/** A link of which only the parts of a split depend on its products, which may be gone. */
async function whole({ app, company }: Asked, link: ReusableLink): Promise<WholeLink> {
  if (link.split === null) return { link, items: [] }
  const items = await itemsOf(app.db, company.id, link).catch((error) => {
    if (error instanceof Problem) return []
    throw error
  })
  return { link, items }
}

const create = route({
  method: 'POST',
  path: '/link',
  operationId: 'createReusableLink',
  client: ['reusableLinks', 'create'],
  changes: { record: 'link', pt: 'Link criado', en: 'Link created' },
  sample: changed('getReusableLink'),
  tag: 'Links',
  summary: 'Create a link that many payers use',
  description:
    'Send exactly one of amount, items and openAmount. Each payer opens the page, gives a name and a CPF or CNPJ, and gets a charge of their own: an ordinary charge of kind LINK with the `linkId`, whose `externalId` is the slug of the link.',
  scope: 'payments:write',
  body: NewReusableLink,
  example: { title: 'Ingresso Festa Junina', amount: 4500, maxQuantity: 4, stock: 200 },
  check: (body) => [...priceFaults(body, true), ...splitFaults(body)],
  data: ReusableLinkView,
  status: 201,
  message: 'Link created.',
  problems: ['product_not_found', 'recipient_not_found'],
  async handle(call) {
    const { app, company, body } = call
    const split = await findSplit(app, company.id, body.split)
    return call.commit(async (tx) => ({
      data: show(call, await createLink(tx, app, company.id, body, split)),
    }))
  },
})

const listAll = route({
  method: 'GET',
  path: '/link',
  operationId: 'listReusableLinks',
  client: ['reusableLinks', 'list'],
  sample: listed,
  tag: 'Links',
  summary: 'List links, newest first',
  description: 'Without the parts of their splits, which `GET /link/{id}` has.',
  scope: 'payments:read',
  query: ReusableLinkQuery,
  data: Type.Array(ReusableLinkView),
  status: 200,
  message: 'Links listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const wanted = { enabled: query.enabled ?? null }
    return readPage(
      page(call, 'link'),
      (part) => list(app.db, company.id, { ...part, ...wanted }),
      (link) => showReusableLink({ ...link, split: null }, app),
    )
  },
})

const get = route({
  method: 'GET',
  path: '/link/{id}',
  operationId: 'getReusableLink',
  client: ['reusableLinks', 'get'],
  sample: newest('listReusableLinks'),
  tag: 'Links',
  summary: 'Get a link with its figures',
  scope: 'payments:read',
  data: ReusableLinkView,
  status: 200,
  message: 'Link found.',
  problems: ['link_not_found'],
  async handle(call) {
    const { app, company, params } = call
    const link = await findLink(app.db, company.id, params.id)
    return { data: show(call, await whole(call, link)) }
  },
})

const change = route({
  method: 'PUT',
  path: '/link/{id}',
  operationId: 'changeReusableLink',
  client: ['reusableLinks', 'update'],
  changes: { record: 'link', pt: 'Link alterado', en: 'Link changed' },
  sample: changed('getReusableLink'),
  tag: 'Links',
  summary: 'Change a link, or switch it on or off',
  description:
    'Only the fields sent are changed; null removes description, endsAt, stock, successUrl and split. amount, items and openAmount replace each other. A payer who has the page open pays what it says, or is shown the new price first. Charges that were made stay as they are. Former addresses lead to the new one.',
  scope: 'payments:write',
  body: ReusableLinkChange,
  example: { enabled: false },
  check: (body) => [...priceFaults(body, false), ...splitFaults(body)],
  data: ReusableLinkView,
  status: 200,
  message: 'Link changed.',
  problems: ['link_not_found', 'product_not_found', 'recipient_not_found'],
  async handle(call) {
    const { app, company, params, body } = call
    const split = body.split ? await findSplit(app, company.id, body.split) : body.split
    return call.commit(async (tx) => ({
      data: show(call, await changeLink(tx, app, company.id, params.id, body, split)),
    }))
  },
})

export const linkRoutes = [create, listAll, get, change]
