import type { Database, Row, Tx } from '../../db/database.ts'
import { toPublic, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import type { Charge } from '../charges/rules.ts'
import { openShipping } from '../charges/shipping.ts'
import type { Company } from '../companies/rules.ts'
import { openPerson } from '../customers/sealing.ts'
import { list as listCustomers } from '../customers/store.ts'
import { showCustomer } from '../customers/view.ts'
import { openDefense, openFile } from '../disputes/files.ts'
import { find as findDispute, findFile, listFiles } from '../disputes/store.ts'
import { openNote } from '../notes/sealing.ts'
import { openPayer } from '../payments/sealing.ts'
import type { Recurrence } from '../recurrences/rules.ts'
import type { Look, Wanted } from './commands.ts'
import { scan } from './scan.ts'
import { type Counts, chargesOf, recurrencesOf, type Subject } from './store.ts'
import type { NamedPayment } from './survey.ts'

type App = { db: Database; vault: Vault }

/** What may be in an export, each with fields that people can read. */
type Shown = Record<string, unknown>

/** All that one company has of a payer, as JSON. Amounts are cents, times are UTC. */
export type PayerExport = {
  company: { id: Uuid; name: string; taxId: string }
  customers: Shown[]
  charges: Shown[]
  subscriptions: Shown[]
  payments: Shown[]
  refunds: Shown[]
  disputes: Shown[]
  notes: Shown[]
  mails: Shown[]
  webhooks: Shown[]
  /** Where else there is something, and how much. Such copies are deleted after a while. */
  places: Counts
}

/** Everything about a payer who was looked for. */
export async function exportPayer(
  app: App,
  company: Company,
  { taxId }: Wanted,
  { survey, counts }: Look,
): Promise<PayerExport> {
  const { db, vault } = app
  const { subject } = survey
  const found = { taxId, limit: subject.owned.length + 1, after: null }
  const known = await listCustomers(db, vault, company.id, found)
  const facts = await exportFacts(app, company, subject)
  const noted = [...survey.charges, ...subject.owned]
  return {
    ...facts,
    customers: known.map(showCustomer),
    payments: await namedPayments(app, company.id, survey.payments),
    notes: await notesOn(app, company.id, noted),
    places: counts,
  }
}

/** The facts of some customers' charges. After an erasure they are all that there is. */
export async function exportFacts(
  app: App,
  { id: companyId, name, taxId }: Company,
  subject: Subject,
): Promise<PayerExport> {
  const { db, vault } = app
  const charges: Charge[] = []
  for await (const page of chargesOf(db, companyId, subject)) charges.push(...page)
  const ids = charges.map(({ id }) => id)
  const endToEndIds = charges.flatMap(({ endToEndId }) => endToEndId ?? [])
  return {
    company: { id: companyId, name, taxId },
    customers: [],
    charges: charges.map((charge) => showCharge(vault, charge)),
    subscriptions: (await recurrencesOf(db, companyId, subject)).map((one) =>
      showSubscription(vault, one),
    ),
    payments: [],
    refunds: await refundsOf(db, companyId, endToEndIds),
    disputes: await disputesOf(app, companyId, endToEndIds),
    notes: [],
    mails: await mailsOf(db, companyId, ids),
    webhooks: ids.length === 0 ? [] : await webhooksOf(db, companyId),
    places: {},
  }
}

function showCharge(vault: Vault, charge: Charge): Shown {
  const { companyId, id, kind, status, paymentStatus, amount, payer, shipping, link } = charge
  return {
    id: toPublic('charge', id),
    kind,
    status,
    paymentStatus,
    amount,
    createdAt: charge.createdAt,
    expiresAt: charge.expiresAt,
    paymentDate: charge.paymentDate,
    endToEndId: charge.endToEndId,
    refunded: charge.refunded,
    description: charge.description,
    externalId: charge.externalId,
    items: link?.items.map(({ quantity, product }) => ({ quantity, name: product.name })) ?? [],
    payer: payer && { name: payer.name, ...openPerson(vault, companyId, payer) },
    shipping: shipping && openShipping(vault, charge, shipping),
  }
}

function showSubscription(vault: Vault, recurrence: Recurrence): Shown {
  const { companyId, id, payer, productName, value, frequency, status } = recurrence
  return {
    id: toPublic('rec', id),
    productName,
    value,
    frequency,
    status,
    createdAt: recurrence.createdAt,
    decidedAt: recurrence.decidedAt,
    bankId: recurrence.externalId,
    payer: payer && { name: payer.name, ...openPerson(vault, companyId, payer) },
  }
}

type PaymentRow = Row & { endToEndId: string; payer: Buffer | null }

async function namedPayments(
  { db, vault }: App,
  companyId: Uuid,
  named: NamedPayment[],
): Promise<Shown[]> {
  const rows = await db.query<PaymentRow>({
    text: `select end_to_end_id as "endToEndId", amount, status, reason,
             received_at as "receivedAt", payer_sealed as payer
           from payments where company_id = $1 and end_to_end_id = any ($2::text[])
             and payer_sealed is not null
           order by id`,
    values: [companyId, named.map(({ endToEndId }) => endToEndId)],
  })
  return rows.map(({ payer, ...payment }) => ({
    ...payment,
    payer: payer && openPayer(vault, { companyId, endToEndId: payment.endToEndId }, payer),
  }))
}

async function refundsOf(db: Tx, companyId: Uuid, endToEndIds: string[]): Promise<Shown[]> {
  const rows = await db.query<Row & { id: Uuid }>({
    text: `select id, end_to_end_id as "endToEndId", return_id as "returnId", amount, status,
             comment, created_at as "createdAt", finished_at as "finishedAt"
           from refunds where company_id = $1 and end_to_end_id = any ($2::text[]) order by id`,
    values: [companyId, endToEndIds],
  })
  return rows.map((row) => ({ ...row, id: toPublic('rfnd', row.id) }))
}

async function disputesOf(
  { db, vault }: App,
  companyId: Uuid,
  endToEndIds: string[],
): Promise<Shown[]> {
  const rows = await db.query<{ id: Uuid }>({
    text: `select id from disputes where company_id = $1 and end_to_end_id = any ($2::text[])
           order by id`,
    values: [companyId, endToEndIds],
  })
  const shown: Shown[] = []
  for (const { id } of rows) {
    const dispute = (await findDispute(db, companyId, id))!
    const files: Shown[] = []
    for (const { position, type, size } of await listFiles(db, companyId, [id])) {
      const file = await findFile(db, companyId, id, position)
      if (!file) continue
      const { name, content } = openFile(vault, file)
      files.push({ name, type, size, base64: content.toString('base64') })
    }
    const { endToEndId, amount, reason, status, openedAt, closedAt } = dispute
    const facts = { endToEndId, amount, reason, status, openedAt, closedAt }
    const defense = openDefense(vault, dispute)
    shown.push({ id: toPublic('dispute', id), ...facts, defense, files })
  }
  return shown
}

type NoteRow = Row & { id: Uuid; sealed: Buffer }

async function notesOn({ db, vault }: App, companyId: Uuid, ids: Uuid[]): Promise<Shown[]> {
  const rows = await db.query<NoteRow>({
    text: `select id, sealed, created_at as "createdAt" from notes
           where company_id = $1 and record_id = any ($2::uuid[]) order by id`,
    values: [companyId, ids],
  })
  return rows.map(({ id, sealed, ...note }) => ({
    ...note,
    text: openNote(vault, { companyId, id, sealed }),
  }))
}

/** Mails about charges: what they said is deleted when they are sent. */
async function mailsOf(db: Tx, companyId: Uuid, ids: Uuid[]): Promise<Shown[]> {
  const wanted = new Set(ids)
  type MailRow = Row & { id: Uuid; charge_id: Uuid | null }
  const scanned = {
    table: 'mails',
    key: [['id', 'uuid']],
    columns: 'charge_id, kind, created_at as "createdAt", finished_at as "finishedAt", outcome',
    where: 'charge_id is not null',
  } as const
  const found: Shown[] = []
  for await (const page of scan<MailRow>(db, companyId, scanned)) {
    for (const { id: _, charge_id, ...mail } of page) if (wanted.has(charge_id!)) found.push(mail)
  }
  return found
}

/** Who gets the events of the company: they name charges and amounts, and no payer. */
const webhooksOf = (db: Tx, companyId: Uuid): Promise<Shown[]> =>
  db.query({
    text: `select url, events, created_at as "since" from webhooks where company_id = $1
           order by id`,
    values: [companyId],
  })
