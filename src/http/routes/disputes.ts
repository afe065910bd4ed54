import Type from 'typebox'
import { defend } from '../../core/disputes/commands.ts'
import { type NewFile, readFile } from '../../core/disputes/files.ts'
import type { Dispute } from '../../core/disputes/rules.ts'
import * as store from '../../core/disputes/store.ts'
import {
  DisputeQuery,
  DisputeView,
  filesOf,
  NewDefense,
  showDispute,
} from '../../core/disputes/view.ts'
import { acceptDispute } from '../../core/refunds/commands.ts'
import type { Tx } from '../../db/database.ts'
import { fromPublic, type Uuid } from '../../lib/ids.ts'
import { invalid, problem } from '../../lib/problems.ts'
import type { Vault } from '../../lib/vault.ts'
import { readPage } from '../lists.ts'
import { page } from '../page.ts'
import { type Call, route } from '../route.ts'
import { asList, disputed, newest } from '../samples.ts'

export function disputeIdOf({ params }: { params: Record<string, string> }): Uuid {
  const id = fromPublic('dispute', params.id ?? '')
  if (!id) throw problem('dispute_not_found')
  return id
}

async function findDispute(call: Pick<Call, 'app' | 'company' | 'params'>): Promise<Dispute> {
  const dispute = await store.find(call.app.db, call.company.id, disputeIdOf(call))
  if (!dispute) throw problem('dispute_not_found')
  return dispute
}

/** A dispute as it is shown, with its files. */
export async function shown(tx: Tx, vault: Vault, dispute: Dispute) {
  const files = await store.listFiles(tx, dispute.companyId, [dispute.id])
  return showDispute(vault, dispute, files)
}

const list = route({
  method: 'GET',
  path: '/dispute',
  operationId: 'listDisputes',
  client: ['disputes', 'list'],
  sample: asList(disputed),
  tag: 'Disputes',
  summary: 'List disputes, newest first',
  description:
    'A dispute is the claim of a payer to get a Pix back (MED). Its money is held until the bank has decided.',
  scope: 'payments:read',
  query: DisputeQuery,
  data: Type.Array(DisputeView),
  status: 200,
  message: 'Disputes listed.',
  problems: [],
  async handle(call) {
    const { app, company, query } = call
    const { status = null, chargeId: named } = query
    const chargeId = named === undefined ? null : fromPublic('charge', named)
    if (named !== undefined && chargeId === null) {
      throw invalid('chargeId: must be the id of a charge')
    }
    return readPage(
      page(call, 'dispute'),
      async (part) => {
        const found = await store.list(app.db, company.id, { ...part, status, chargeId })
        const ids = found.map(({ id }) => id)
        const files = await store.listFiles(app.db, company.id, ids)
        return found.map((dispute) => ({ ...dispute, files: filesOf(files, dispute) }))
      },
      (dispute) => showDispute(app.vault, dispute, dispute.files),
    )
  },
})

const get = route({
  method: 'GET',
  path: '/dispute/{id}',
  operationId: 'getDispute',
  client: ['disputes', 'get'],
  sample: newest('listDisputes'),
  tag: 'Disputes',
  summary: 'Get a dispute',
  scope: 'payments:read',
  data: DisputeView,
  status: 200,
  message: 'Dispute found.',
  problems: ['dispute_not_found'],
  async handle(call) {
    const { app } = call
    return { data: await shown(app.db, app.vault, await findDispute(call)) }
  },
})

const accept = route({
  method: 'POST',
  path: '/dispute/{id}/accept',
  operationId: 'acceptDispute',
  client: ['disputes', 'accept'],
  changes: { record: 'dispute', pt: 'Disputa aceita', en: 'Dispute accepted' },
  sample: disputed,
  tag: 'Disputes',
  summary: 'Return the disputed money',
  description:
    'You agree with the payer: what is held goes back through the bank, as a refund whose id is `refundId`. If the bank rejects that refund, the dispute is open again. Repeated, it changes nothing.',
  scope: 'payments:write',
  unknownFields: 'refused',
  data: DisputeView,
  status: 200,
  message: 'Dispute accepted.',
  problems: [
    'dispute_not_found',
    'dispute_not_open',
    'refund_not_possible',
    'provider_unavailable',
  ],
  async handle(call) {
    const { app, company } = call
    const seen = await findDispute(call)
    return call.commit(async (tx) => {
      const { dispute, changed } = await acceptDispute(tx, app, company, seen)
      return { data: await shown(tx, app.vault, dispute), changed }
    })
  },
})

const defense = route({
  method: 'POST',
  path: '/dispute/{id}/defense',
  operationId: 'defendDispute',
  client: ['disputes', 'defend'],
  changes: { record: 'dispute', pt: 'Defesa da disputa enviada', en: 'Defense of a dispute sent' },
  sample: disputed,
  tag: 'Disputes',
  summary: 'Defend yourself against a dispute',
  description:
    'A text and up to 5 files (PDF, PNG or JPEG, in base64). They are stored sealed. The bank gets the text, if it takes defenses by its API; `defense.sentAt` says when. Possible once, while the dispute is OPEN and before its deadline.',
  scope: 'payments:write',
  unknownFields: 'refused',
  body: NewDefense,
  example: {
    text: 'The order was delivered on 12 August to the address of the payer, who signed for it.',
  },
  data: DisputeView,
  status: 200,
  message: 'Defense recorded.',
  problems: ['dispute_not_found', 'dispute_not_open'],
  async handle(call) {
    const { app, company, body } = call
    const id = disputeIdOf(call)
    const files = (body.files ?? []).map(toFile)
    return call.commit(async (tx) => {
      const dispute = await defend(tx, app, company, id, { text: body.text, files })
      return { data: await shown(tx, app.vault, dispute) }
    })
  },
})

/** The pattern of a schema would fail for a long text, which fills the stack of the engine. */
function toFile({ name, content }: { name: string; content: string }, i: number): NewFile {
  const field = `files[${i}].content`
  if (/[^A-Za-z0-9+/=]/.test(content)) throw invalid(`${field}: must be a file in base64`)
  return readFile(name, Buffer.from(content, 'base64'), field)
}

export const disputeRoutes = [list, get, accept, defense]
