import assert from 'node:assert/strict'
import { after } from 'node:test'
import { customProfile } from '../../src/provider/bacen/custom-profile.ts'
import type { Profile } from '../../src/provider/bacen/profile.ts'
import { PROFILE_NAMES } from '../../src/provider/bacen/profiles.ts'
import type { Bank, StyleOptions } from '../bank/bank.ts'
import { ITAU_CLOCK, SICOOB_DOCUMENT } from '../bank/style.ts'
import { startApi } from '../support/api.ts'
import { conform } from './conformance.ts'
import { type BankGround, openBank, openSimulator } from './conformance-banks.ts'
import type { Open } from './conformance-ground.ts'

const api = await startApi()
const closers: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closers) await close()
})

const APART_s = 30 * 86_400

/** One bank for all tests of a kind: each has a month of its own, so none sees another's money. */
function opening(style: StyleOptions, profileOf?: (bank: Bank) => Profile): Open {
  let opened: Promise<BankGround> | undefined
  return async () => {
    opened ??= openBank(style, profileOf)
    const ground = await opened
    if (!closers.includes(ground.close)) closers.push(ground.close)
    ground.clock.advance(APART_s)
    return ground
  }
}

/** What an operator of a bank that keeps to the document would write. */
function custom(bank: Bank): Profile {
  const made = customProfile({ baseUrl: `${bank.url}/api/v2`, tokenUrl: bank.tokenUrl })
  assert.ok('profile' in made, JSON.stringify(made))
  return made.profile
}

/** Any bank, with all that was seen at others. The profile says what its clock is. */
function mixed(bank: Bank, name: string): Profile {
  const profile = bank.profile(name)
  bank.style({ ...ITAU_CLOCK, ...SICOOB_DOCUMENT })
  return { ...profile, dates: 'seconds', offset: '-03:00', marksLocalAsUtc: true }
}

const STYLES: Record<string, StyleOptions> = {
  'extra fields, new values and pages of two': { extras: true, mostPerPage: 2 },
  'payments shown only in the list': { pixInCob: false },
  'txId instead of txid': { txid: 'txId', repeated: 409, mostPerPage: 2 },
  'empty lists without an answer': { emptyList: 204 },
  'no code and charges that exist refused': { code: null, repeated: 400, lists: 'exclusive' },
}

conform('simulator', () => openSimulator(api))
conform('custom', opening({}, custom))
for (const [name, style] of Object.entries(STYLES)) conform(name, opening(style))
for (const name of PROFILE_NAMES.filter((one) => !one.endsWith('-sandbox'))) {
  conform(
    name,
    opening({}, (bank) => bank.profile(name)),
  )
  conform(
    `${name}, as other banks behave`,
    opening({}, (bank) => mixed(bank, name)),
  )
}
