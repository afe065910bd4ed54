import type { Static } from 'typebox'
import { createBatch, isRefused, mayPass, type Outcome } from '../../core/charges/batch.ts'
import { BatchView, MAX_BATCH, NewBatch } from '../../core/charges/batch-view.ts'
import { pixDraft, pixFaults } from '../../core/charges/commands.ts'
import type { Draft } from '../../core/charges/drafts.ts'
import type { Charge } from '../../core/charges/rules.ts'
import { findNamed, splitOf } from '../../core/charges/split-recipients.ts'
import { NewPixCharge, showWithoutImage } from '../../core/charges/view.ts'
import { matchBeforeReplacement } from '../../core/payments/paid-charges.ts'
import { itemsIn, Problem } from '../../lib/problems.ts'
import { forEachInTurns } from '../../lib/turns.ts'
import { canonical, textFaults } from '../body.ts'
import { inputReader } from '../input.ts'
import { type Call, route } from '../route.ts'
import { batched } from '../samples.ts'

const KIB = 1024
/**
 * So much for each charge on the average, which is more than most have. More values at once would
 * keep the event loop for longer than any request may.
 */
const LARGE_BODY = { bytes: MAX_BATCH * KIB, values: MAX_BATCH * 20 }

/** Where a single charge is created: a charge of a batch is the same request. */
const SINGLE = '/charge/pix'

const readCharge = inputReader({
  body: NewPixCharge,
  check: (body, { session }) => pixFaults(session!.company, body),
})

type BatchCall = Call<unknown, Static<typeof NewBatch>, Static<typeof BatchView>>

type Body = Static<typeof NewPixCharge>

/** What it makes, or why it makes nothing. */
function attempt<T>(make: () => T): T | Problem {
  try {
    return make()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/** The charges of a batch, in turns of the event loop. Some are refused before they are tried. */
async function readCharges(call: BatchCall): Promise<(Draft | Problem)[]> {
  const { app, company, scopes, author } = call
  const session = { app, company, scopes: new Set(scopes), keyId: company.id, author }
  const bodies: (Body | Problem)[] = []
  await forEachInTurns(company.id, call.body.charges, (value: unknown) => {
    const given = { query: {}, body: { value, faults: textFaults(value) }, session }
    bodies.push(attempt(() => readCharge(given).body as Body))
  })
  const parts = bodies.flatMap((body) => (body instanceof Problem ? [] : (body.split ?? [])))
  const named = await findNamed(app, company.id, parts)
  const draftOf = (body: Body, sent: unknown) => {
    const split = body.split ? splitOf(body.split, named) : null
    const fingerprint = () => app.vault.fingerprint([SINGLE, canonical(sent)])
    return pixDraft(app, company, body, fingerprint, split)
  }
  const drafts: (Draft | Problem)[] = []
  await forEachInTurns(company.id, bodies.entries(), ([i, body]) => {
    const isRefused = body instanceof Problem
    drafts.push(isRefused ? body : attempt(() => draftOf(body, call.body.charges[i])))
  })
  return drafts
}

async function showBatch(
  { app, company, language }: BatchCall,
  outcomes: Outcome[],
): Promise<Static<typeof BatchView>> {
  const items: Static<typeof BatchView>['items'] = []
  await forEachInTurns(company.id, outcomes.entries(), ([index, outcome]) => {
    if (isRefused(outcome)) {
      items.push({ index, errors: itemsIn(outcome.refusal.items, language) })
    } else {
      const charge = showWithoutImage(outcome.charge, app)
      items.push({ index, charge, ...(outcome.repeated && { replayed: true }) })
    }
  })
  const refused = outcomes.filter(isRefused).length
  return { accepted: outcomes.length - refused, refused, items }
}

const PAYER = { name: 'Maria da Silva', taxId: '12345678909' }

const create = route({
  method: 'POST',
  path: '/charge/batch',
  operationId: 'createChargeBatch',
  client: ['charges', 'createBatch'],
  changes: { record: 'company', pt: 'Lote de cobranças criado', en: 'Batch of charges created' },
  sample: batched,
  tag: 'Charges',
  summary: 'Create up to 1,000 dynamic Pix charges',
  description:
    'Each is accepted or refused by itself, with the errors that it would have alone. Send an Idempotency-Key: after a lost answer the same request creates what is missing, and nothing twice. If the bank stops answering, the answer is not kept, and the same request tries again what was refused for that. Answers have no images of codes; `GET /charge/{id}` has them. A body may have 1,000 KiB and 20,000 values.',
  scope: 'payments:write',
  body: NewBatch,
  largeBody: LARGE_BODY,
  example: {
    charges: [
      { amount: 1990, customer: PAYER, externalId: 'order-1042', devMode: true },
      { amount: 4990, customer: PAYER, dueDate: '2099-12-10' },
    ],
  },
  data: BatchView,
  status: 200,
  message: 'Batch processed.',
  problems: ['provider_rejected', 'provider_unavailable'],
  async handle(call) {
    const { app, company, guard, pace } = call
    const drafts = await readCharges(call)
    return call.commitInGroup(async () => {
      const matchPaid = (charge: Charge) => matchBeforeReplacement(app, company, charge)
      const outcomes = await createBatch(app, company, drafts, { guard, pace, matchPaid })
      const data = await showBatch(call, outcomes)
      const isFinal = !outcomes.some((outcome) => isRefused(outcome) && mayPass(outcome))
      return { data, isFinal, changed: data.accepted > 0 }
    })
  },
})

export const chargeBatchRoutes = [create]
