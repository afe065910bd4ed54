import type { Config } from '../../config.ts'
import type { Limits } from '../../lib/limits.ts'
import { problem } from '../../lib/problems.ts'
import type { App, PasswordLimits } from '../app.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'
import type { Person } from './rules.ts'
import * as store from './store.ts'
import { countWrong, NOBODY } from './wrong-sign-ins.ts'

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
