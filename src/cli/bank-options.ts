import { readFileSync } from 'node:fs'
import type { NewBank } from '../core/banks/commands.ts'
import { type BankRule, type GivenBank, readGiven } from '../core/banks/given.ts'
import { readCertificate } from '../provider/bacen/certificate.ts'
import type { Certificate } from '../provider/bacen/connection.ts'
import { customProfile, urlFault } from '../provider/bacen/custom-profile.ts'
import type { Profile } from '../provider/bacen/profile.ts'
import { findProfile, PROFILE_NAMES, withUrls } from '../provider/bacen/profiles.ts'
import type { Args, Option } from './command.ts'
import { asTyped, requireNone, textOfError } from './faults.ts'
import { typedPath } from './typed-path.ts'

const FILE = { value: 'FILE' } as const
const MAX_FILE_BYTES = 256 * 1024

export const CONNECT_OPTIONS: Record<string, Option> = {
  company: { value: 'COMPANY_ID', required: true, help: 'the live company whose bank it is' },
  profile: { value: 'NAME', required: true, help: `${PROFILE_NAMES.join(', ')} or custom` },
  'client-id': { value: 'ID', required: true, help: 'as the bank has given it' },
  'client-secret-file': { ...FILE, help: 'holds the secret that goes with the client id' },
  certificate: { ...FILE, required: true, help: 'the certificate: PFX (.p12) or PEM' },
  key: { ...FILE, help: 'the private key of a PEM certificate' },
  'passphrase-file': { ...FILE, help: 'holds the passphrase of the PFX or of the key' },
  'app-key-file': { ...FILE, help: 'holds the key of the application, if the bank needs one' },
  account: { value: 'NUMBER', help: 'the account with its digit; subscriptions need it' },
  branch: { value: 'NUMBER', help: 'the branch of the account' },
  'account-type': { value: 'TYPE', help: 'corrente (default), poupanca or pagamento' },
  payouts: { value: 'WHO', help: 'who sends withdrawals: manual (default, you) or bank' },
  'payout-key': {
    value: 'KEY',
    help: 'the Pix key that withdrawals go to (default the company’s own)',
  },
  ca: { ...FILE, help: 'authorities (PEM) to trust beside the well-known ones' },
  'base-url': { value: 'URL', help: 'in place of the profile’s own' },
  'token-url': { value: 'URL', help: 'in place of the profile’s own' },
  'profile-file': { ...FILE, help: 'the settings of a custom profile, as JSON' },
}

/** The options that were typed, and the function that collects faults. */
type Typed = { options: Args['options']; fault(text: string): null }

function readBytes({ options, fault }: Typed, name: string): Buffer | null {
  if (options[name] === undefined) return null
  const path = typedPath(options[name])
  try {
    const bytes = readFileSync(path)
    if (bytes.length === 0) return fault(`--${name}: ${path} is empty`)
    return bytes.length <= MAX_FILE_BYTES ? bytes : fault(`--${name}: ${path} is too large`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return fault(`--${name}: there is no file ${path}`)
    return fault(`--${name}: ${path} cannot be read (${code})`)
  }
}

/** The file holds only the secret. A newline at the end is not part of it. */
function readSecret(typed: Typed, name: string): string | null {
  const text = readBytes(typed, name)?.toString('utf8').trim()
  if (text === undefined) return null
  return /^\S+$/.test(text) ? text : typed.fault(`--${name}: the file must hold the secret alone`)
}

/** A passphrase may have spaces. A newline at the end of the file is not part of it. */
const readPassphrase = (typed: Typed): string | null =>
  readBytes(typed, 'passphrase-file')
    ?.toString('utf8')
    .replace(/\r?\n$/, '') ?? null

const isPem = (bytes: Buffer): boolean => bytes.includes('-----BEGIN ')

function readEnd({ fault }: Typed, certificate: Certificate, now: Date): Date | null {
  try {
    const { endsAt } = readCertificate(certificate)
    if (endsAt > now) return endsAt
    const day = endsAt.toISOString().slice(0, 10)
    return fault(`--certificate: has ended on ${day}; get a new one from the bank`)
  } catch (error) {
    return fault(`--certificate: ${textOfError(error)}`)
  }
}

/** The URLs that were typed and replace those of the profile. */
const urlsOf = ({ 'base-url': baseUrl, 'token-url': tokenUrl }: Args['options']) => ({
  ...(baseUrl && { baseUrl }),
  ...(tokenUrl && { tokenUrl }),
})

function requireUrls({ options, fault }: Typed): void {
  for (const name of ['base-url', 'token-url']) {
    const rule = options[name] === undefined ? null : urlFault(options[name])
    if (rule) fault(`--${name}: ${rule}`)
  }
}

function readProfile(typed: Typed): Profile | null {
  const { options, fault } = typed
  const name = options.profile!
  if (name === 'custom') return readCustom(typed)
  requireUrls(typed)
  if (options['profile-file']) fault('--profile-file: is for --profile custom alone')
  const found = findProfile(name)
  if (found) return withUrls(found, urlsOf(options))
  return fault(`--profile: ${name} is not one of ${PROFILE_NAMES.join(', ')}, custom`)
}

/** The URLs may be options. All other settings are in a file, which not every bank needs. */
function readCustom(typed: Typed): Profile | null {
  const { options, fault } = typed
  const { 'profile-file': file } = options
  const settings = file ? readJson(typed, 'profile-file') : {}
  if (settings === null) return null
  const made = customProfile({ ...settings, ...urlsOf(options) })
  if ('profile' in made) return made.profile
  for (const one of made.faults) {
    fault(file ? `--profile-file: ${one}` : asTyped(one.replace(' ', ': ')))
  }
  return null
}

function readJson(typed: Typed, name: string): object | null {
  const bytes = readBytes(typed, name)
  if (!bytes) return null
  try {
    const settings = JSON.parse(bytes.toString('utf8'))
    return settings instanceof Object ? settings : typed.fault(`--${name}: must be a JSON object`)
  } catch {
    // The message of the parser is not shown, because it quotes the file, which may have secrets.
    return typed.fault(`--${name}: is not JSON`)
  }
}

function readAuthorities(typed: Typed): string | null {
  const bytes = readBytes(typed, 'ca')
  if (!bytes) return null
  return isPem(bytes) ? bytes.toString('utf8') : typed.fault('--ca: must be certificates as PEM')
}

/** The option for each field. */
const OPTION_OF: Record<keyof GivenBank, string> = {
  profile: 'profile',
  clientId: 'client-id',
  clientSecret: 'client-secret-file',
  appKey: 'app-key-file',
  certificate: 'certificate',
  key: 'key',
  passphrase: 'passphrase-file',
  ca: 'ca',
  account: 'account',
  branch: 'branch',
  accountType: 'account-type',
  payouts: 'payouts',
  payoutKey: 'payout-key',
}

const RULES: Record<BankRule, (title: string) => string> = {
  'client-id': () => 'up to 255 characters without spaces',
  'secret-missing': (title) => `${title} needs a client secret`,
  'secret-form': () => 'the file must hold the secret alone',
  'app-key-missing': (title) => `${title} needs the key of the application`,
  'app-key-form': () => 'the file must hold the secret alone',
  'certificate-missing': () => 'is missing',
  'key-missing': () => 'a PEM certificate needs its private key',
  'key-beside-pfx': () => 'a PFX file holds its key: leave --key out',
  'account-type': () => 'must be corrente, poupanca or pagamento',
  account: () => 'must be its number, with the digit',
  branch: () => 'must be up to 4 digits',
  'branch-alone': () => 'is only used with --account',
  payouts: () => 'must be manual or bank',
  'payouts-impossible': (title) =>
    `withdrawals cannot be sent through ${title}: leave them to manual`,
  'payout-key': () => '1 to 77 characters without spaces',
  'payout-key-missing': () => PAYOUT_KEY_MISSING,
}

export const PAYOUT_KEY_MISSING =
  'a bank that sends withdrawals needs the Pix key they go to, another than the one by which the company collects.'

/** Reads the options. All faults are reported together, before a database or a bank is used. */
export function readBank({ options }: Args, now: Date): NewBank {
  const faults: string[] = []
  const fault = (text: string) => {
    faults.push(text)
    return null
  }
  const typed = { options, fault }
  const given = readTyped(typed)
  const { bank, certificate, faults: broken } = readGiven(given)
  const title = given.profile?.title ?? ''
  for (const { field, rule } of broken) {
    const option = `--${OPTION_OF[field]}:`
    // If a file could not be read, that is a fault already.
    if (!faults.some((text) => text.startsWith(option))) fault(`${option} ${RULES[rule](title)}`)
  }
  const certificateEndsAt = certificate && readEnd(typed, certificate, now)
  requireNone(faults)
  return { ...bank!, certificateEndsAt: certificateEndsAt! }
}

function readTyped(typed: Typed): GivenBank {
  const { options } = typed
  return {
    profile: readProfile(typed),
    clientId: options['client-id']!,
    clientSecret: readSecret(typed, 'client-secret-file'),
    appKey: readSecret(typed, 'app-key-file'),
    certificate: readBytes(typed, 'certificate'),
    key: readBytes(typed, 'key'),
    passphrase: readPassphrase(typed),
    ca: readAuthorities(typed),
    account: options.account ?? null,
    branch: options.branch ?? null,
    accountType: options['account-type'] ?? 'corrente',
    payouts: options.payouts ?? 'manual',
    payoutKey: options['payout-key'] ?? null,
  }
}
