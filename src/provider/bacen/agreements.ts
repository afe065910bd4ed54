import { suffixOf, type Uuid } from '../../lib/ids.ts'
import { createRecent, type Recent } from '../../lib/memo.ts'
import { formatDecimal } from '../../lib/money.ts'
import { kindOfTaxId } from '../../pix/tax-id.ts'
import type {
  Agreement,
  AgreementOrder,
  AgreementStatus,
  Frequency,
  Outcome,
  Payee,
  Provider,
} from '../port.ts'
import { accept, notAnswered, notDone, type Reply, reject, unsure } from './answers.ts'
import type { AtBank, Bank } from './client.ts'
import { agreementCode } from './codes.ts'
import { readAt } from './moments.ts'
import { readList } from './pages.ts'
import { cut, type Fields, fieldsOf, listOf, textOf } from './text.ts'

type Agreeing = Pick<Provider, 'createAgreement' | 'findAgreement' | 'cancelAgreement'>

/** The location of an agreement's payload. A bank accepts one agreement for each. */
type PayloadLocation = { id: number; location: string | null }

export function agreeing(at: AtBank): Agreeing {
  const underWay = new Map<Uuid, Promise<Outcome<Agreement>>>()
  const locations = createRecent<PayloadLocation>(2_000)
  return {
    // If it is being ordered already, waits for that answer, because the bank would make two.
    createAgreement(payee, order) {
      const known = underWay.get(order.id)
      if (known) return known
      const ordered = at(payee, (bank) => create(bank, payee, order, locations)).finally(() => {
        underWay.delete(order.id)
      })
      underWay.set(order.id, ordered)
      return ordered
    },
    findAgreement: (payee, { id, externalId }) =>
      at(payee, (bank) => (externalId ? read(bank, payee, externalId) : search(bank, payee, id))),
    cancelAgreement: (payee, { externalId }) =>
      at(payee, (bank) => cancel(bank, payee, externalId)),
  }
}

/**
 * Orders an agreement once. A bank makes another one with every order, so it is asked first, and
 * asked again if the order fails. A repeated order uses the same location, because a bank that has
 * made the agreement in the meantime then refuses the second.
 */
async function create(
  bank: Bank,
  payee: Payee,
  order: AgreementOrder,
  locations: Recent<PayloadLocation>,
): Promise<Outcome<Agreement>> {
  const { rec, locrec } = bank.connection.profile.paths
  if (rec === null || locrec === null)
    return reject('the bank is not known to offer Pix Automático')
  const before = await search(bank, payee, order.id)
  if (before.kind !== 'accepted') return before
  if (before.value) return accept(before.value)
  const location = locations.get(order.id) ?? (await newLocation(bank))
  if ('kind' in location) return location
  locations.set(order.id, location)
  const reply = await bank.ask({
    method: 'POST',
    resource: 'rec',
    path: '',
    body: bodyOf(order, location),
  })
  const externalId = reply.kind === 'done' ? textOf(reply.body.idRec) : null
  if (reply.kind === 'done' && externalId) {
    const made = await read(bank, payee, externalId)
    if (made.kind === 'accepted' && made.value) return accept(made.value)
    return agreementOf(bank, payee, {
      ...reply.body,
      loc: fieldsOf(reply.body.loc).location ? reply.body.loc : location,
    })
  }
  const after = await search(bank, payee, order.id)
  if (after.kind !== 'accepted') return after
  if (after.value) return accept(after.value)
  return reply.kind === 'done' ? unsure('the bank does not name the agreement') : notDone(reply)
}

async function newLocation(bank: Bank): Promise<PayloadLocation | Outcome<never>> {
  const reply = await bank.ask({ method: 'POST', resource: 'locrec', path: '' })
  if (reply.kind !== 'done') return notDone(reply)
  const id = Number(reply.body.id ?? Number.NaN)
  if (!Number.isSafeInteger(id)) return unsure('the bank names no location for the agreement')
  return { id, location: textOf(reply.body.location) }
}

const PERIODS: Record<Frequency, string> = {
  WEEKLY: 'SEMANAL',
  MONTHLY: 'MENSAL',
  SEMIANNUAL: 'SEMESTRAL',
  ANNUAL: 'ANUAL',
}
const SUBJECT_MAX = 35
const NAME_MAX = 140

function bodyOf(order: AgreementOrder, { id: loc }: PayloadLocation) {
  const { taxId, name } = order.payer
  return {
    vinculo: {
      objeto: cut(order.description, SUBJECT_MAX) || 'Assinatura',
      devedor: { [kindOfTaxId(taxId)]: taxId, nome: cut(name, NAME_MAX) },
      contrato: suffixOf(order.id),
    },
    calendario: { dataInicial: order.startsOn, periodicidade: PERIODS[order.frequency] },
    valor: { valorRec: formatDecimal(order.value) },
    politicaRetentativa: order.retries ? 'PERMITE_3R_7D' : 'NAO_PERMITE',
    loc,
  }
}

/** The bank's clock may differ from ours by so much. */
const MARGIN_ms = 300_000

/** The agreement with our id. If there are several, an approved one is preferred. */
async function search(bank: Bank, payee: Payee, id: Uuid): Promise<Outcome<Agreement | null>> {
  const made_ms = Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const now_ms = bank.clock.now().getTime()
  const listed = await readList(bank, {
    resource: 'rec',
    entries: 'recs',
    id: 'idRec',
    from: new Date(Math.min(made_ms, now_ms) - MARGIN_ms),
    to: new Date(Math.max(made_ms, now_ms) + MARGIN_ms),
  })
  if (listed.kind !== 'accepted') return listed
  const contract = suffixOf(id)
  const found = listed.value.filter(({ vinculo }) => fieldsOf(vinculo).contrato === contract)
  const best = found.sort((a, b) => rankOf(a) - rankOf(b))[0]
  if (!best) return accept(null)
  const externalId = textOf(best.idRec)
  return externalId ? read(bank, payee, externalId) : unsure('the bank does not name the agreement')
}

const rankOf = ({ status }: Fields): number =>
  status === 'APROVADA' ? 0 : status === 'CRIADA' ? 1 : 2

const ask = (bank: Bank, method: 'GET' | 'PATCH', idRec: string, body?: unknown): Promise<Reply> =>
  bank.ask({
    method,
    resource: 'rec',
    path: `/${encodeURIComponent(idRec)}`,
    ...(body === undefined ? {} : { body }),
  })

async function read(bank: Bank, payee: Payee, idRec: string): Promise<Outcome<Agreement | null>> {
  const reply = await ask(bank, 'GET', idRec)
  if (reply.kind === 'missing') return accept(null)
  return reply.kind === 'done' ? agreementOf(bank, payee, reply.body) : notAnswered(reply)
}

const STATUS = new Map<unknown, AgreementStatus>([
  ['CRIADA', 'CREATED'],
  ['APROVADA', 'APPROVED'],
  ['REJEITADA', 'REJECTED'],
  ['EXPIRADA', 'EXPIRED'],
  ['CANCELADA', 'CANCELED'],
])

/** Reads an agreement. It needs a code only while it waits for the payer. */
function agreementOf(bank: Bank, payee: Payee, body: Fields): Outcome<Agreement> {
  const status = STATUS.get(body.status)
  const externalId = textOf(body.idRec)
  const brCode = agreementCode(body, payee)
  if (!externalId) return unsure('the bank does not name the agreement')
  if (!status) return unsure('the bank gives the agreement a status that is not known')
  if (status === 'CREATED' && !brCode) return unsure('the bank gives no code to agree with')
  return accept({
    externalId,
    brCode: brCode ?? '',
    status,
    decidedAt: decidedAt(bank, body, status),
  })
}

function decidedAt(bank: Bank, body: Fields, status: AgreementStatus): Date | null {
  if (status === 'CREATED') return null
  const changes = listOf(body.atualizacao).filter((change) => change.status === body.status)
  return changes.map(({ data }) => readAt(bank, data)).findLast((at) => at !== null) ?? null
}

async function cancel(bank: Bank, payee: Payee, idRec: string): Promise<Outcome<null>> {
  const order = await ask(bank, 'PATCH', idRec, { status: 'CANCELADA' })
  if (order.kind === 'done' && (order.body.status ?? 'CANCELADA') === 'CANCELADA') {
    return accept(null)
  }
  const found = await read(bank, payee, idRec)
  if (found.kind !== 'accepted') return unsure(order.kind === 'done' ? found.reason : order.reason)
  if (found.value === null) return reject('the bank knows no such agreement')
  const { status } = found.value
  if (status === 'CANCELED') return accept(null)
  if (order.kind === 'done') return unsure('the bank is still processing it')
  const hasEnded = status === 'REJECTED' || status === 'EXPIRED'
  return hasEnded ? reject(`the agreement is ${status} and cannot be canceled`) : notDone(order)
}
