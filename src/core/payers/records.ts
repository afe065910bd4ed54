import { bytes, texts, uuids } from '../../db/arrays.ts'
import type { Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { eraseFromCharges, type KeptTexts } from '../charges/record.ts'
import type { Charge } from '../charges/rules.ts'
import { ERASED } from '../customers/rules.ts'
import { indexEmail } from '../customers/sealing.ts'
import { mailboxOf } from '../mails/rules.ts'
import { indexesOfStop } from '../reminders/stops.ts'
import { change, type Kind } from './kind.ts'
import { chargesOf } from './store.ts'
import type { Survey } from './survey.ts'

export const charges: Kind = {
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

export const recurrences: Kind = {
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
    const { indexes, owned } = survey.subject
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
      and (tax_id_index = any ($2::bytea[]) or customer_id = any ($3::uuid[]))`
    const find = `select customer_id from ${former}`
    const erase = `delete from ${former} returning customer_id`
    return gone + (await change(job, { find, erase }, [companyId, bytes(indexes), owned]))
  },
}

export const payments: Kind = {
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
export const defenses: Kind = {
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

export const refunds: Kind = {
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

export const plans: Kind = {
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
export const addresses: Kind = {
  name: 'hashes of e-mail addresses',
  columns: { charge_emails: ['email_index'], reminder_stops: ['email_index'] },
  async run(job) {
    const { companyId, vault, survey } = job
    const { emails } = survey.traits
    const indexes = bytes(
      emails.flatMap((one) => vault.forms((by) => indexEmail(by, companyId, one))),
    )
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
    const pairs = emails.flatMap((one) =>
      indexesOfStop(vault, companyId, one).map((stop) => ({
        stop,
        email: indexEmail(vault, companyId, one),
      })),
    )
    const stops = [pairs.map(({ stop }) => stop), pairs.map(({ email }) => email)].map(bytes)
    const stopped = `reminder_stops s using unnest($2::bytea[], $3::bytea[]) k (stop, email)
      where s.company_id = $1 and s.email_index = k.stop
        and not exists (select from charges c where c.company_id = $1 and c.email_index = k.email
          and c.id <> all ($4::uuid[]))`
    const find = `select s.company_id from ${stopped.replace(' using ', ', ')}`
    const erase = `delete from ${stopped} returning s.company_id`
    return count + (await change(job, { find, erase }, [companyId, ...stops, survey.charges]))
  },
}

/** The limits on mails to one mailbox, which all companies share. They last a day. */
export const budgets: Kind = {
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
    return (await control.query({ text, values: [names] })).length
  },
}
