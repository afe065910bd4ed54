import { uuids } from '../../db/arrays.ts'
import type { Row } from '../../db/database.ts'
import { lowestIdAt, timeOf, type Uuid } from '../../lib/ids.ts'
import { openAnswer, sealAnswer } from '../idempotency.ts'
import { openMail, type SealedMail } from '../mails/sealing.ts'
import { openNote } from '../notes/sealing.ts'
import { openCallback } from '../payments/callbacks.ts'
import { openView } from '../saved-views.ts'
import { type Kind, removeIds } from './kind.ts'
import { scan } from './scan.ts'

export const notes: Kind = {
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

/** Mails that wait. What a mail has said is deleted when it is sent. */
export const mails: Kind = {
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
export const answers: Kind = {
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
        // If nothing is erased, it is written as before.
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
export const callbacks: Kind = {
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
 * The company's name of a charge is in its events, and is erased if it names the payer. Id, type
 * and all else of an event stay, so a receiver that gets it again knows it.
 */
export const events: Kind = {
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
export const responses: Kind = {
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
export const requests: Kind = {
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

export const views: Kind = {
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
