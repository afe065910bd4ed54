import assert from 'node:assert/strict'
import { after } from 'node:test'
import { customProfile } from '../../src/provider/bacen/custom-profile.ts'
import type { Profile } from '../../src/provider/bacen/profile.ts'
import { PROFILE_NAMES } from '../../src/provider/bacen/profiles.ts'
import type { Bank, StyleOptions } from '../bank/bank.ts'
import { ITAU_CLOCK, SICOOB_DOCUMENT } from '../bank/style.ts'
import { startApi } from '../support/api.ts'
import { variants } from '../support/long.ts'
import { conform, type Point } from './conformance.ts'
import { type BankGround, openBank, openSimulator } from './conformance-banks.ts'
import type { Open } from './conformance-ground.ts'

const api = await startApi()
const closers: (() => Promise<void>)[] = []
after(async () => {
  for (const close of closers) await close()
})

const APART_s = 30 * 86_400

type ProfileOf = (bank: Bank) => Profile

/** One bank for all tests of a kind: each has a month of its own, so none sees another's money. */
function opening(style: StyleOptions, profileOf?: ProfileOf): Open {
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

/** What a profile says of a bank with the clock of Itaú. */
const LOCAL = { dates: 'seconds', offset: '-03:00', marksLocalAsUtc: true } as const

type Way = { style: StyleOptions; points: Point[]; profile?: Partial<Profile> }

/** Ways of real banks that any bank may have tomorrow, with the points that each could break. */
const WAYS: Record<string, Way> = {
  'Itaú clock': {
    style: ITAU_CLOCK,
    points: ['charges', 'dueDates', 'payments', 'refunds', 'agreements', 'collections'],
    profile: LOCAL,
  },
  'Sicoob document': {
    style: SICOOB_DOCUMENT,
    points: ['charges', 'dueDates', 'payments', 'refunds', 'agreements', 'payouts'],
  },
  'gateway 404': { style: {}, points: ['gateways'] },
  'no pix in cob': {
    style: { pixInCob: false },
    points: ['charges', 'dueDates', 'payments', 'refunds'],
  },
  txId: {
    style: { txid: 'txId' },
    points: ['charges', 'dueDates', 'payments', 'refunds', 'collections'],
  },
}

/** All of them at once. */
const MIXED: Way = {
  style: Object.assign({}, ...Object.values(WAYS).map(({ style }) => style)),
  points: [
    'charges',
    'dueDates',
    'payments',
    'refunds',
    'agreements',
    'collections',
    'retries',
    'payouts',
    'disputes',
  ],
  profile: LOCAL,
}

/** The bank of a profile, with a way of another bank. */
function alteredTo({ style, profile = {} }: Way, profileOf: ProfileOf): ProfileOf {
  return (bank) => {
    const own = profileOf(bank)
    bank.style(style)
    return { ...own, ...profile }
  }
}

const STYLES: Record<string, StyleOptions> = {
  'extra fields, new values and pages of two': { extras: true, mostPerPage: 2 },
  'charges that exist refused with 409': { repeated: 409, mostPerPage: 2 },
  'empty lists without an answer': { emptyList: 204 },
  'disputes as at Efí': { disputes: 'efi', token: { scopes: 'given' } },
  'no code and charges that exist refused': { code: null, repeated: 400, lists: 'exclusive' },
}

const BANKS: Record<string, ProfileOf> = {
  custom,
  ...Object.fromEntries(
    PROFILE_NAMES.filter((name) => !name.endsWith('-sandbox')).map((name): [string, ProfileOf] => [
      name,
      (bank) => bank.profile(name),
    ]),
  ),
}

conform('simulator', () => openSimulator(api))
for (const [name, style] of variants(Object.entries(STYLES))) conform(name, opening(style))
for (const [name, profileOf] of variants(Object.entries(BANKS))) {
  // Every profile is asked without a route in its own way below.
  conform(name, opening({}, profileOf), MIXED.points)
  for (const [way, altered] of variants(Object.entries({ 'all of it': MIXED, ...WAYS }))) {
    conform(`${name}, ${way}`, opening({}, alteredTo(altered, profileOf)), altered.points)
  }
}
