import type { Row, Tx } from '../../db/database.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { PixPayer } from '../../provider/port.ts'
import type { Charge } from '../charges/rules.ts'
import { openShipping } from '../charges/shipping.ts'
import { openPerson } from '../customers/sealing.ts'
import { list as listCustomers } from '../customers/store.ts'
import { comparedTaxIds, isWholeName } from '../payments/likely-charge.ts'
import { openPayer } from '../payments/sealing.ts'
import { chargesOf, recurrencesOf, type Subject } from './store.ts'
import { addTo, addTraits, type Matcher, matcherOf, type Traits } from './traits.ts'

/** A payment that matched no charge, whose payer is named by a bank. */
export type NamedPayment = { endToEndId: string; source: string }

/** The records of a payer in one company. */
export type Survey = {
  subject: Subject
  traits: Traits
  matcher: Matcher
  charges: Uuid[]
  plans: Uuid[]
  recurrences: Uuid[]
  endToEndIds: string[]
  payments: NamedPayment[]
  /** The ids of all of them, as clients know them. */
  publicIds: Set<string>
  /** Why the data cannot be erased yet. */
  blockers: Blockers
}

/** What has to end before, because it goes on only with the payer. */
export type Blockers = {
  /** Open charges. */
  charges: Uuid[]
  /** Subscriptions that wait for their payer or are active. */
  recurrences: Uuid[]
  /** Disputes whose defense is on its way to the bank. */
  disputes: Uuid[]
}

export const isBlocked = ({ charges, recurrences, disputes }: Blockers): boolean =>
  charges.length + recurrences.length + disputes.length > 0

type App = { db: Tx; vault: Vault }

/** Reads all records of a payer, and all by which texts are known to be about them. */
export async function surveyPayer(
  app: App,
  companyId: Uuid,
  subject: Subject,
  known: Traits,
): Promise<Survey> {
  const { db, vault } = app
  const survey: Survey = {
    subject,
    traits: structuredClone(known),
    matcher: matcherOf(known),
    charges: [],
    plans: [],
    recurrences: [],
    endToEndIds: [],
    payments: [],
    publicIds: new Set([...subject.owned, ...subject.shared].map((id) => toPublic('clnt', id))),
    blockers: { charges: [], recurrences: [], disputes: [] },
  }
  await addCustomers(app, companyId, survey)
  const texts: (string | null)[] = []
  for await (const page of chargesOf(db, companyId, subject)) {
    for (const charge of page) addCharge(vault, survey, charge, texts)
  }
  for (const one of await recurrencesOf(db, companyId, subject)) {
    survey.recurrences.push(one.id)
    survey.publicIds.add(toPublic('rec', one.id))
    if (one.payer) {
      addTraits(survey.traits, { name: one.payer.name, ...openPerson(vault, companyId, one.payer) })
    }
    if (one.status === 'OPEN') survey.blockers.recurrences.push(one.id)
  }
  await addPayments(app, companyId, survey)
  await addDisputes(db, companyId, survey)
  texts.push(...(await referencesOfPlans(db, companyId, survey.plans)))
  const matcher = matcherOf(survey.traits)
  for (const text of texts)
    if (text !== null && matcher.names(text)) addTo(survey.traits.references, text)
  return { ...survey, matcher: matcherOf(survey.traits) }
}

async function addCustomers({ db, vault }: App, companyId: Uuid, survey: Survey): Promise<void> {
  for (const taxId of survey.traits.taxIds.slice(0, 1)) {
    const found = { taxId, limit: survey.subject.owned.length + 1, after: null }
    for (const one of await listCustomers(db, vault, companyId, found)) {
      if (!survey.subject.owned.includes(one.id)) continue
      const { companyId: _, id, status: __, createdAt, updatedAt, ...person } = one
      addTraits(survey.traits, person)
    }
  }
}

function addCharge(vault: Vault, survey: Survey, charge: Charge, texts: (string | null)[]): void {
  const { companyId, id, payer, shipping, due, endToEndId } = charge
  survey.charges.push(id)
  survey.publicIds.add(toPublic('charge', id))
  if (payer) addTraits(survey.traits, { name: payer.name, ...openPerson(vault, companyId, payer) })
  if (shipping) addTraits(survey.traits, { ...openShipping(vault, charge, shipping) })
  if (due?.plan && !survey.plans.includes(due.plan.id)) survey.plans.push(due.plan.id)
  if (endToEndId !== null) survey.endToEndIds.push(endToEndId)
  if (charge.status === 'OPEN') survey.blockers.charges.push(id)
  texts.push(charge.externalId)
}

/** Whether a bank means the payer. Some banks mask tax ids, and some leave them out. */
function isPayer(payer: PixPayer, { taxIds, names }: Traits, paysCharge: boolean): boolean {
  const given = payer.taxId ?? null
  const compared = taxIds.map((taxId) => comparedTaxIds(given, taxId))
  if (compared.includes('same')) return true
  if (compared.every((one) => one === 'different')) return false
  return paysCharge || names.some((name) => isWholeName(payer.name ?? null, name))
}

type PaymentRow = Row & {
  id: Uuid
  end_to_end_id: string
  source: string
  charge_id: Uuid | null
  settled_charge_id: Uuid | null
  payer_sealed: Buffer
}

const STATES = ['UNMATCHED', 'ACCEPTED', 'REFUNDING', 'REFUNDED', 'DISPUTED']
const PAGE = 500
const LOWEST = '00000000-0000-0000-0000-000000000000'

/** The payments of a company with the name of a payer: only those that matched no charge. */
async function* namedPayments(db: Tx, companyId: Uuid): AsyncGenerator<PaymentRow[]> {
  for (const status of STATES) {
    for (let after = LOWEST; ; ) {
      const rows = await db.query<PaymentRow>({
        text: `select id, end_to_end_id, source, charge_id, settled_charge_id, payer_sealed
               from payments where company_id = $1 and reason is not null and status = $2
                 and id > $3
               order by id limit ${PAGE}`,
        values: [companyId, status, after],
      })
      yield rows.filter(({ payer_sealed }) => payer_sealed !== null)
      if (rows.length < PAGE) break
      after = rows.at(-1)!.id
    }
  }
}

async function addPayments({ db, vault }: App, companyId: Uuid, survey: Survey): Promise<void> {
  const charges = new Set(survey.charges)
  const isOfCharge = ({ charge_id: named, settled_charge_id: settled }: PaymentRow) =>
    (named !== null && charges.has(named)) || (settled !== null && charges.has(settled))
  for await (const page of namedPayments(db, companyId)) {
    for (const row of page) {
      const { end_to_end_id: endToEndId, source, payer_sealed } = row
      const payer = openPayer(vault, { companyId, endToEndId }, payer_sealed)
      if (!isPayer(payer, survey.traits, isOfCharge(row))) continue
      survey.payments.push({ endToEndId, source })
      survey.endToEndIds.push(endToEndId)
      addTo(survey.traits.names, payer.name)
    }
  }
}

async function addDisputes(db: Tx, companyId: Uuid, survey: Survey): Promise<void> {
  const rows = await db.query<{ id: Uuid }>({
    text: `select id from disputes
           where company_id = $1 and end_to_end_id = any ($2::text[])
             and next_attempt_at is not null and defense_sealed is not null`,
    values: [companyId, survey.endToEndIds],
  })
  survey.blockers.disputes.push(...rows.map(({ id }) => id))
}

async function referencesOfPlans(
  db: Tx,
  companyId: Uuid,
  plans: Uuid[],
): Promise<(string | null)[]> {
  const rows = await db.query<{ external_id: string | null }>({
    text: 'select external_id from charge_plans where company_id = $1 and id = any ($2::uuid[])',
    values: [companyId, plans],
  })
  return rows.map(({ external_id }) => external_id)
}
