import type { ControlTx, Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { recordForInstallation } from '../activity/record.ts'
import { type Author, type OwnAction, SERVICE } from '../activity/rules.ts'
import type { App } from '../app.ts'
import { recordInTheirCompanies } from './activity.ts'
import { mailOperators } from './operators.ts'
import { findPerson } from './store.ts'

/** In place of a person: an e-mail that nobody has, or an account that no password opens. */
export const NOBODY: Uuid = '00000000-0000-0000-0000-000000000000'

type Tried = 'password' | 'code'

const HOUR_MS = 3_600_000
/** So many groups become entries in one transaction. */
const AT_ONCE = 100

const hourOf = (now: Date): Date => new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS)

/**
 * Counts a wrong password or code. It is one statement for every account, so that its time says
 * nothing of whether there is one. If it is sent again, one more is counted.
 */
export async function countWrong(
  tx: ControlTx,
  personId: Uuid,
  kind: Tried,
  address: string,
  now: Date,
): Promise<void> {
  await tx.query({
    name: 'count_wrong_sign_in',
    text: `insert into wrong_sign_ins as w (person_id, kind, hour, tries, address)
           values ($1, $2, $3, 1, $4)
           on conflict (person_id, kind, hour)
           do update set tries = w.tries + 1, address = excluded.address`,
    values: [personId, kind, hourOf(now), address],
  })
}

type Group = { person_id: Uuid; kind: Tried; hour: Date; tries: number; address: string }

const takeEnded = (tx: ControlTx, before: Date): Promise<Group[]> =>
  tx.query<Row & Group>({
    text: `delete from wrong_sign_ins where (person_id, kind, hour) in (
             select person_id, kind, hour from wrong_sign_ins where hour < $1
             order by hour limit $2)
           returning person_id, kind, hour, tries, address`,
    values: [before, AT_ONCE],
  })

/** Makes an entry of what was wrong in each hour that is over, for each account. */
export async function recordWrongSignIns(
  app: Pick<App, 'db' | 'systemClock' | 'log' | 'vault'>,
): Promise<void> {
  const before = hourOf(app.systemClock.now())
  for (let taken = AT_ONCE; taken === AT_ONCE; ) {
    taken = await app.db.control.transaction(async (tx) => {
      const groups = await takeEnded(tx, before)
      for (const group of groups) await recordGroup(tx, app, group)
      return groups.length
    })
  }
}

const ACTIONS: Record<Tried, OwnAction> = {
  password: 'sign-in.wrong-password',
  code: 'sign-in.wrong-code',
}

async function recordGroup(
  tx: ControlTx,
  app: Pick<App, 'log' | 'systemClock' | 'vault'>,
  { person_id, kind, hour, tries, address }: Group,
): Promise<void> {
  const details = { tries, hour: hour.toISOString() }
  const person = person_id === NOBODY ? null : await findPerson(tx, person_id)
  if (!person) {
    const change = { action: 'sign-in.unknown', details }
    return recordForInstallation(tx, { ...SERVICE, address }, change)
  }
  const { id, email } = person
  const record = { type: 'person', id } as const
  const change = { action: ACTIONS[kind], record, details }
  const author: Author = { kind: 'person', id, name: email, address }
  await recordInTheirCompanies(tx, app, id, author, change)
  await recordForInstallation(tx, author, change)
  if (!person.isOperator) return
  await mailOperators(tx, app, { what: `wrong-${kind}`, person, tries, at: hour }, author)
}
