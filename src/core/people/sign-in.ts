import type { Config } from '../../config.ts'
import type { ControlTx, Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Limits } from '../../lib/limits.ts'
import { problem } from '../../lib/problems.ts'
import { recordForInstallation } from '../activity/record.ts'
import { type Author, type OwnAction, SERVICE } from '../activity/rules.ts'
import type { App, PasswordLimits } from '../app.ts'
import { recordInTheirCompanies } from './activity.ts'
import { mailOperators } from './operators.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'
import type { Person } from './rules.ts'
import * as store from './store.ts'

/** In place of a person: an e-mail that nobody has, or an account that no password opens. */
const NOBODY: Uuid = '00000000-0000-0000-0000-000000000000'

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
  const person = person_id === NOBODY ? null : await store.findPerson(tx, person_id)
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

/** How many passwords are hashed at once. Each takes 19 MiB. */
const HASHING = 2
/** Guesses by address: people of an office may share one. */
const BY_ADDRESS = { perSecond: 1 / 5, burst: 30 }
/** Guesses for one account: one a minute after the first ten. */
const BY_ACCOUNT = { perSecond: 1 / 60, burst: 10 }
/** After so many wrong passwords in a row only a new one works, which is chosen by mail. */
const MAX_WRONG = 100

export const limitPasswords = (
  limits: Limits,
  { rateLimit }: Pick<Config, 'rateLimit'>,
): PasswordLimits => ({
  hashing: limits.queue('password hashes', { size: HASHING }),
  byAddress: rateLimit
    ? limits.rate('passwords by address', BY_ADDRESS.perSecond, BY_ADDRESS.burst)
    : null,
  byAccount: limits.rate('passwords by account', BY_ACCOUNT.perSecond, BY_ACCOUNT.burst),
})

/** An e-mail as it is stored. */
export const emailOf = (typed: string): string => typed.trim().toLowerCase()

/** What is needed to check a password. */
type SignInApp = Pick<App, 'db' | 'passwords' | 'systemClock'>

/**
 * Who has this e-mail and this password, or null. It costs the same whether somebody has the e-mail
 * or not. Guesses are limited by address and by account.
 */
export async function tryPassword(
  app: SignInApp,
  typed: { email: string; password: string },
  address: string,
): Promise<Person | null> {
  const { control } = app.db
  const email = emailOf(typed.email)
  await requireFewGuesses(app.passwords, email, address)
  const person = await store.findPersonByEmail(control, email)
  const count = await store.countPassword(control, email)
  const stored = person?.password ?? null
  const isRight = (await isPassword(app, address, typed.password, stored)) && count <= MAX_WRONG
  if (!isRight) {
    // An account that no password opens any more has no more entries either.
    const whose = person && count <= MAX_WRONG ? person.id : NOBODY
    await countWrong(control, whose, 'password', address, app.systemClock.now())
  }
  if (!isRight || !person) return null
  await store.noteRightPassword(control, email)
  if (isOutdated(stored!)) {
    const password = await hashPassword(app, address, typed.password)
    await store.setPassword(control, person.id, password, app.systemClock.now())
  }
  return person
}

async function requireFewGuesses(
  { byAddress, byAccount }: PasswordLimits,
  email: string,
  address: string,
): Promise<void> {
  const wait_s = ((await byAddress?.take(address)) ?? 0) || (await byAccount.take(email))
  if (wait_s === 0) return
  throw problem('rate_limited', 'Too many attempts to sign in. Wait and try again.', {
    'Retry-After': String(Math.ceil(wait_s)),
  })
}
