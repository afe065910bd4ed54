import { bytes, texts, uuids } from '../../db/arrays.ts'
import type { ControlTx, Row, Tx } from '../../db/database.ts'
import { lowestIdAt, timeOf, type Uuid } from '../../lib/ids.ts'
import type { Vault } from '../../lib/vault.ts'
import { eraseFromCharges, type KeptTexts } from '../charges/record.ts'
import type { Charge } from '../charges/rules.ts'
import { ERASED } from '../customers/rules.ts'
import { indexEmail } from '../customers/sealing.ts'
import { openAnswer, sealAnswer } from '../idempotency.ts'
import { mailboxOf } from '../mails/rules.ts'
import { openMail, type SealedMail } from '../mails/sealing.ts'
import { openNote } from '../notes/sealing.ts'
import { openCallback } from '../payments/callbacks.ts'
import { indexStop } from '../reminders/stops.ts'
import { openView } from '../saved-views.ts'
import { scan } from './scan.ts'
import { chargesOf } from './store.ts'
import type { Survey } from './survey.ts'

/** An erasure in one company, or a look at what it would erase. */
export type Job = {
  db: Tx
  control: ControlTx
  vault: Vault
  companyId: Uuid
  /** Null: nothing is erased. */
  erasureId: Uuid | null
  /** Whether it is for all companies, which share some counts of mails. */
  isEverywhere: boolean
  survey: Survey
  now: Date
}

/**
 * A kind of data that may tell who a payer is: all places of the schema where it is kept, and how
 * it is found and erased. Nothing else in the schema does: a test asks that of every column.
 */
export type Kind = {
  name: string
  /** The columns that may have such data, or lead to it. */
  columns: Record<string, readonly string[]>
  /** Counts what there is of the payer, and erases it if the job says so. It can be repeated. */
  run(job: Job): Promise<number>
}

const hasMore = (rows: unknown[]): number => rows.length

/** Runs a statement that returns the keys of what it finds, or of what it has changed. */
async function change(
  job: Job,
  { find, erase }: { find: string; erase: string },
  values: unknown[],
): Promise<number> {
  const text = job.erasureId === null ? find : erase
  return hasMore(await job.db.query({ text, values }))
}

const charges: Kind = {
  name: 'charges',
  columns: {
    charges: [
      'payer_name',
      'payer_index',
      'payer_sealed',
      'email_index',
      'shipping_sealed',
      'fingerprint',
      'external_id',
      'description',
      'link',
    ],
  },
  async run({ db, companyId, erasureId, survey }) {
    let count = 0
    for await (const page of chargesOf(db, companyId, survey.subject)) {
      count += page.length
      if (erasureId === null) continue
      await eraseFromCharges(
        db,
        companyId,
        erasureId,
        page.map((charge) => keptTexts(charge, survey)),
      )
    }
    return count
  },
}

/** What was sold stays, unless it names the payer. */
function keptTexts({ id, externalId, description, link }: Charge, { matcher }: Survey): KeptTexts {
  const kept = (text: string | null) => (text !== null && matcher.names(text) ? null : text)
  const isNamed = link !== null && matcher.tells(JSON.stringify(link))
  return {
    id,
    externalId: kept(externalId),
    description: kept(description),
    link: isNamed ? (matcher.without(link) as Charge['link']) : null,
  }
}

const recurrences: Kind = {
  name: 'subscriptions',
  columns: { recurrences: ['payer_name', 'payer_index', 'payer_sealed', 'customer_id'] },
  async run({ db, vault, companyId, erasureId, survey }) {
    const ids = survey.recurrences
    if (erasureId === null || ids.length === 0) return ids.length
    // An agreement has a payer in any case. This one opens, and says nothing.
    const index = vault.index(companyId, `erasure:${erasureId}`)
    const sealed = vault.seal('{"taxId":""}', `${companyId}:${index.toString('hex')}`)
    await db.query({
      text: `update recurrences set customer_id = $3, payer_name = $4, payer_index = $5,
               payer_sealed = $6
             where company_id = $1 and id = any ($2::uuid[]) and status <> 'OPEN'`,
      values: [companyId, ids, erasureId, ERASED, index, sealed],
    })
    return ids.length
  },
}

export const customers: Kind = {
  name: 'customers',
  columns: {
    customers: ['name', 'tax_id_index', 'sealed', 'email_index', 'phone_index', 'search_tokens'],
    former_tax_ids: ['tax_id_index'],
  },
  async run(job) {
    const { companyId, survey } = job
    const { index, owned } = survey.subject
    const gone = await change(
      job,
      {
        find: 'select id from customers where company_id = $1 and id = any ($2::uuid[])',
        erase: `delete from customers where company_id = $1 and id = any ($2::uuid[])
                returning id`,
      },
      [companyId, owned],
    )
    const former = `former_tax_ids where company_id = $1
      and (tax_id_index = $2 or customer_id = any ($3::uuid[]))`
    const find = `select customer_id from ${former}`
    const erase = `delete from ${former} returning customer_id`
    return gone + (await change(job, { find, erase }, [companyId, index, owned]))
  },
}

const notes: Kind = {
  name: 'notes',
  columns: { notes: ['sealed'] },
  async run(job) {
    const { db, vault, companyId, survey } = job
    const { subject, matcher } = survey
    const own = new Set([...survey.charges, ...subject.owned])
    type NoteRow = Row & { id: Uuid; record_id: Uuid; sealed: Buffer }
    const scanned = { table: 'notes', key: [['id', 'uuid']], columns: 'record_id, sealed' } as const
    let count = 0
    for await (const page of scan<NoteRow>(db, companyId, scanned)) {
      const found = page.filter(
        ({ id, record_id, sealed }) =>
          own.has(record_id) || matcher.tells(openNote(vault, { companyId, id, sealed })),
      )
      count += found.length
      await removeIds(job, 'notes', found)
    }
    return count
  },
}

/** Deletes rows of a table by their ids, if the job erases. */
async function removeIds(
  { db, companyId, erasureId }: Job,
  table: 'notes' | 'bank_callbacks' | 'saved_views',
  rows: { id: Uuid }[],
): Promise<void> {
  if (erasureId === null || rows.length === 0) return
  await db.query({
    text: `delete from ${table} where company_id = $1 and id = any ($2::uuid[])`,
    values: [companyId, rows.map(({ id }) => id)],
  })
}

const payments: Kind = {
  name: 'payers named by banks',
  columns: { payments: ['payer_sealed'], simulated_transfers: ['payer_sealed'] },
  async run(job) {
    const { companyId, survey } = job
    const keys = [
      texts(survey.payments.map(({ endToEndId }) => endToEndId)),
      texts(survey.payments.map(({ source }) => source)),
    ]
    const named = `company_id = $1 and payer_sealed is not null
      and (end_to_end_id, source) in (select * from unnest($2::text[], $3::text[]))`
    const count = await change(
      job,
      {
        find: `select id from payments where ${named}`,
        erase: `update payments set payer_sealed = null where ${named} returning id`,
      },
      [companyId, ...keys],
    )
    const sent = `account_id = $1 and end_to_end_id = any ($2::text[]) and payer_sealed is not null`
    return (
      count +
      (await change(
        job,
        {
          find: `select end_to_end_id from simulated_transfers where ${sent}`,
          erase: `update simulated_transfers set payer_sealed = null where ${sent}
                  returning end_to_end_id`,
        },
        [companyId, survey.endToEndIds],
      ))
    )
  },
}

/** Whatever a defense says, it is about the payer. What was sent is at the bank. */
const defenses: Kind = {
  name: 'defenses of disputes',
  columns: { disputes: ['defense_sealed'], dispute_files: ['sealed'] },
  async run(job) {
    const { companyId, survey } = job
    const values = [companyId, survey.endToEndIds]
    const named = 'company_id = $1 and end_to_end_id = any ($2::text[])'
    const isIdle = 'next_attempt_at is null'
    const files = `company_id = $1
      and dispute_id in (select id from disputes where ${named} and ${isIdle})`
    const texts = `${named} and ${isIdle} and defense_sealed is not null`
    const gone = await change(
      job,
      {
        find: `select dispute_id from dispute_files where ${files}`,
        erase: `delete from dispute_files where ${files} returning dispute_id`,
      },
      values,
    )
    const find = `select id from disputes where ${texts}`
    const erase = `update disputes set defense_sealed = null where ${texts} returning id`
    return gone + (await change(job, { find, erase }, values))
  },
}

type TextRow = Row & { id: Uuid; text: string | null; other: string | null }

const refunds: Kind = {
  name: 'texts of refunds and disputes',
  columns: { refunds: ['comment', 'failure'], disputes: ['failure'] },
  async run(job) {
    let count = 0
    for (const [table, comment] of [
      ['refunds', 'comment'],
      ['disputes', 'null'],
    ] as const) {
      const rows = await job.db.query<TextRow>({
        text: `select id, ${comment} as text, failure as other from ${table}
               where company_id = $1 and end_to_end_id = any ($2::text[])`,
        values: [job.companyId, job.survey.endToEndIds],
      })
      const names = (text: string | null) => text !== null && job.survey.matcher.names(text)
      const found = rows.filter(({ text, other }) => names(text) || names(other))
      count += found.length
      if (job.erasureId === null) continue
      const set = comment === 'null' ? '' : 'comment = null,'
      await job.db.query({
        text: `update ${table} set ${set} failure = case when failure is null then null else $3 end
               where company_id = $1 and id = any ($2::uuid[])`,
        values: [job.companyId, found.map(({ id }) => id), ERASED],
      })
    }
    return count
  },
}

const plans: Kind = {
  name: 'plans',
  columns: { charge_plans: ['external_id', 'description', 'fingerprint'] },
  async run({ db, companyId, erasureId, survey }) {
    const rows = await db.query<TextRow & { fingerprint: Buffer | null }>({
      text: `select id, external_id as text, description as other, fingerprint from charge_plans
             where company_id = $1 and id = any ($2::uuid[])`,
      values: [companyId, survey.plans],
    })
    const kept = (text: string | null) => (text && survey.matcher.names(text) ? null : text)
    const found = rows.filter(
      ({ text, other, fingerprint }) =>
        fingerprint !== null || kept(text) !== text || kept(other) !== other,
    )
    if (erasureId === null) return found.length
    await db.query({
      text: `update charge_plans p set fingerprint = null, external_id = k.external_id,
               description = k.description
             from unnest($2::uuid[], $3::text[], $4::text[]) k (id, external_id, description)
             where p.company_id = $1 and p.id = k.id`,
      values: [
        companyId,
        uuids(found.map(({ id }) => id)),
        texts(found.map(({ text }) => kept(text))),
        texts(found.map(({ other }) => kept(other))),
      ],
    })
    return found.length
  },
}

/** Keyed hashes of addresses. A wish for no reminders stays if somebody else has the address. */
const addresses: Kind = {
  name: 'hashes of e-mail addresses',
  columns: { charge_emails: ['email_index'], reminder_stops: ['email_index'] },
  async run(job) {
    const { companyId, vault, survey } = job
    const { emails } = survey.traits
    const indexes = bytes(emails.map((one) => indexEmail(vault, companyId, one)))
    const old = `company_id = $1 and email_index = any ($2::bytea[])
      and charge_id = any ($3::uuid[])`
    const count = await change(
      job,
      {
        find: `select charge_id from charge_emails where ${old}`,
        erase: `delete from charge_emails where ${old} returning charge_id`,
      },
      [companyId, indexes, survey.charges],
    )
    const stops = bytes(emails.map((one) => indexStop(vault, companyId, one)))
    const stopped = `reminder_stops s using unnest($2::bytea[], $3::bytea[]) k (stop, email)
      where s.company_id = $1 and s.email_index = k.stop
        and not exists (select from charges c where c.company_id = $1 and c.email_index = k.email
          and c.id <> all ($4::uuid[]))`
    const find = `select s.company_id from ${stopped.replace(' using ', ', ')}`
    const erase = `delete from ${stopped} returning s.company_id`
    return count + (await change(job, { find, erase }, [companyId, stops, indexes, survey.charges]))
  },
}

/** Mails that wait. What a mail has said is deleted when it is sent. */
const mails: Kind = {
  name: 'mails that wait',
  columns: { mails: ['sealed'] },
  async run({ db, vault, companyId, erasureId, survey, now }) {
    type MailRow = Row & { id: Uuid; sealed: Buffer }
    const scanned = {
      table: 'mails',
      key: [['id', 'uuid']],
      columns: 'sealed',
      where: 'finished_at is null',
    } as const
    let count = 0
    for await (const page of scan<MailRow>(db, companyId, scanned)) {
      const found = page.filter(({ id, sealed }) =>
        survey.matcher.tells(
          JSON.stringify(openMail(vault, { companyId, id, sealed } as SealedMail)),
        ),
      )
      count += found.length
      if (erasureId === null || found.length === 0) continue
      await db.query({
        text: `update mails set outcome = 'EXPIRED', finished_at = $3, sealed = null
               where company_id = $1 and id = any ($2::uuid[]) and finished_at is null`,
        values: [companyId, found.map(({ id }) => id), now],
      })
    }
    return count
  },
}

/** The limits on mails to one mailbox, which all companies share. They last a day. */
const budgets: Kind = {
  name: 'counts of mails',
  columns: { mail_budgets: ['name'] },
  async run({ control, vault, erasureId, isEverywhere, survey }) {
    if (!isEverywhere) return 0
    const names = survey.traits.emails.flatMap((email) => {
      const recipient = vault.index('mail', mailboxOf(email)).toString('base64url')
      return ['payment-link', 'receipt', 'reminder'].map((kind) => `${kind} to ${recipient}`)
    })
    const named = 'mail_budgets where name = any ($1::text[])'
    const text =
      erasureId === null ? `select name from ${named}` : `delete from ${named} returning name`
    return hasMore(await control.query({ text, values: [names] }))
  },
}

type AnswerRow = Row & {
  key: string
  fingerprint: Buffer
  status: number
  sealed_body: Buffer
  warnings: string | null
}

/** Ids of records as clients know them, and of the scheme. */
const RECORD_ID = /\b(?:(?:charge|clnt|rec)_[0-9a-z]{26}|[ED]\d{8}\w{23})\b/g

/** The keys stay, and protect from doing twice what is asked again, until they are a day old. */
const answers: Kind = {
  name: 'stored answers',
  columns: { idempotency_keys: ['sealed_body'] },
  async run({ db, vault, companyId, erasureId, survey }) {
    const { matcher, publicIds, endToEndIds } = survey
    const known = new Set([...publicIds, ...endToEndIds])
    const scanned = {
      table: 'idempotency_keys',
      key: [['key', 'text']],
      columns: 'fingerprint, status, sealed_body, warnings',
      where: 'length(sealed_body) > 0',
    } as const
    let count = 0
    for await (const page of scan<AnswerRow>(db, companyId, scanned)) {
      for (const row of page) {
        const stored = { ...row, sealedBody: row.sealed_body }
        const body = openAnswer(vault, companyId, stored)
        const ids = body.match(RECORD_ID) ?? []
        if (!matcher.isAbout(body) && !ids.some((id) => known.has(id))) continue
        const kept = JSON.stringify(matcher.without(JSON.parse(body)))
        // An answer is stored as JSON.stringify has written it, so it is equal if nothing is erased.
        if (kept === JSON.stringify(JSON.parse(body))) continue
        count += 1
        if (erasureId === null) continue
        const guard = { companyId, key: row.key, fingerprint: row.fingerprint }
        const { sealedBody } = sealAnswer(vault, guard, { ...row, body: kept })
        await db.query({
          text: `update idempotency_keys set sealed_body = $3
                 where company_id = $1 and key = $2 and sealed_body = $4`,
          values: [companyId, row.key, sealedBody, row.sealed_body],
        })
      }
    }
    return count
  },
}

/** A callback that is not processed yet waits for its bank, and is erased later. */
const callbacks: Kind = {
  name: 'callbacks of banks',
  columns: { bank_callbacks: ['sealed'] },
  async run(job) {
    const { db, vault, companyId, survey } = job
    const endToEndIds = new Set(survey.endToEndIds)
    type CallbackRow = Row & { id: Uuid; sealed: Buffer; processed_at: Date | null }
    const scanned = {
      table: 'bank_callbacks',
      key: [['id', 'uuid']],
      columns: 'sealed, processed_at',
    } as const
    let count = 0
    for await (const page of scan<CallbackRow>(db, companyId, scanned)) {
      const found = page.filter(({ id, sealed }) => {
        const body = openCallback(vault, { companyId, id, sealed })
        const named = body.match(RECORD_ID) ?? []
        return survey.matcher.tells(body) || named.some((one) => endToEndIds.has(one))
      })
      count += found.length
      await removeIds(
        job,
        'bank_callbacks',
        found.filter(({ processed_at }) => processed_at !== null),
      )
    }
    return count
  },
}

const MINUTE_MS = 60_000

/**
 * The company's name of a charge is in its events, and is erased if it names the payer. Id, type and
 * all else of an event stay, so a receiver that gets it again knows it.
 */
const events: Kind = {
  name: 'events',
  columns: { events: ['payload'] },
  async run({ db, companyId, erasureId, survey, now }) {
    const { references } = survey.traits
    if (references.length === 0) return 0
    // When the charges are erased, only events of the last minutes may be left.
    const [first] = survey.charges
    const from_ms = first ? timeOf(first).getTime() - MINUTE_MS : now.getTime() - 60 * MINUTE_MS
    const names = new Set(references)
    type EventRow = Row & { id: Uuid; payload: string }
    const scanned = {
      table: 'events',
      key: [['id', 'uuid']],
      columns: 'payload',
      where: 'id >= $2',
      values: [lowestIdAt(new Date(from_ms))],
    } as const
    let count = 0
    for await (const page of scan<EventRow>(db, companyId, {
      ...scanned,
      values: [...scanned.values],
    })) {
      for (const { id, payload } of page) {
        const body = JSON.parse(payload)
        if (!names.has(body.externalId)) continue
        count += 1
        if (erasureId === null) continue
        await db.query({
          text: 'update events set payload = $3 where company_id = $1 and id = $2',
          values: [companyId, id, JSON.stringify({ ...body, externalId: null })],
        })
      }
    }
    return count
  },
}

/** A receiver may have answered anything, also what it knows of the payer. */
const responses: Kind = {
  name: 'answers of receivers',
  columns: { deliveries: ['attempts'], delivery_log: ['attempts'] },
  async run({ db, companyId, erasureId, survey }) {
    type DeliveryRow = Row & { webhook_id: Uuid; event_id: Uuid; tells: boolean }
    let count = 0
    for (const table of ['deliveries', 'delivery_log'] as const) {
      const scanned = {
        table,
        key: [
          ['webhook_id', 'uuid'],
          ['event_id', 'uuid'],
        ],
        columns: 'attempts::text ~* $2 as tells',
        values: [survey.matcher.pattern],
      } as const
      for await (const page of scan<DeliveryRow>(db, companyId, {
        ...scanned,
        values: [...scanned.values],
      })) {
        const found = page.filter(({ tells }) => tells)
        count += found.length
        if (erasureId === null || found.length === 0) continue
        await db.query({
          text: `update ${table} set attempts = (
                   select jsonb_agg(a.one || '{"response":""}' order by a.number)
                   from jsonb_array_elements(attempts) with ordinality a (one, number))
                 where company_id = $1 and (webhook_id, event_id) in (
                   select * from unnest($2::uuid[], $3::uuid[]))`,
          values: [
            companyId,
            uuids(found.map(({ webhook_id }) => webhook_id)),
            uuids(found.map(({ event_id }) => event_id)),
          ],
        })
      }
    }
    return count
  },
}

/** What callers call their requests. */
const requests: Kind = {
  name: 'request log',
  columns: { api_requests: ['caller_id'] },
  async run({ db, companyId, erasureId, survey }) {
    type RequestRow = Row & { id: Uuid; caller_id: string | null }
    const scanned = {
      table: 'api_requests',
      key: [['id', 'uuid']],
      columns: 'caller_id',
    } as const
    let count = 0
    for await (const page of scan<RequestRow>(db, companyId, scanned)) {
      const found = page.filter(
        ({ caller_id }) => caller_id !== null && survey.matcher.tells(caller_id),
      )
      count += found.length
      if (erasureId === null || found.length === 0) continue
      await db.query({
        text: `update api_requests set caller_id = null
               where company_id = $1 and id = any ($2::uuid[])`,
        values: [companyId, found.map(({ id }) => id)],
      })
    }
    return count
  },
}

const views: Kind = {
  name: 'saved searches',
  columns: { saved_views: ['sealed'] },
  async run(job) {
    const { db, vault, companyId, survey } = job
    type ViewRow = Row & { person_id: Uuid; id: Uuid; sealed: Buffer }
    const scanned = {
      table: 'saved_views',
      key: [
        ['person_id', 'uuid'],
        ['id', 'uuid'],
      ],
      columns: 'sealed',
    } as const
    let count = 0
    for await (const page of scan<ViewRow>(db, companyId, scanned)) {
      const found = page.filter(({ person_id: personId, ...view }) =>
        survey.matcher.tells(openView({ vault, companyId, personId }, view)),
      )
      count += found.length
      await removeIds(job, 'saved_views', found)
    }
    return count
  },
}

/** In this order, so that what leads to the others is erased last. */
export const KINDS: readonly Kind[] = [
  answers,
  callbacks,
  events,
  responses,
  requests,
  views,
  mails,
  budgets,
  notes,
  payments,
  defenses,
  refunds,
  plans,
  addresses,
  customers,
  recurrences,
  charges,
]
