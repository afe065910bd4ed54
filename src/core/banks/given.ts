import { X509Certificate } from 'node:crypto'
import type { Account, Certificate, Connection } from '../../provider/bacen/connection.ts'
import type { Profile } from '../../provider/bacen/profile.ts'
import type { Company } from '../companies/rules.ts'
import type { NewBank } from './commands.ts'
import type { BankRecord } from './store.ts'

/** What somebody gives to connect a bank, as it was typed or read from files. */
export type GivenBank = {
  /** Null: it is not known, which is a fault already. */
  profile: Profile | null
  clientId: string
  clientSecret: string | null
  appKey: string | null
  certificate: Buffer | null
  key: Buffer | null
  passphrase: string | null
  /** Authorities to trust beside the well-known ones, as PEM. */
  ca: string | null
  account: string | null
  branch: string | null
  accountType: string
  payouts: string
  payoutKey: string | null
}

export type BankRule =
  | 'client-id'
  | 'secret-missing'
  | 'secret-form'
  | 'app-key-missing'
  | 'app-key-form'
  | 'certificate-missing'
  | 'key-missing'
  | 'key-beside-pfx'
  | 'account-type'
  | 'account'
  | 'branch'
  | 'branch-alone'
  | 'payouts'
  | 'payouts-impossible'
  | 'payout-key'
  | 'payout-key-missing'

/** A field that breaks a rule. */
export type BankFault = { field: keyof GivenBank; rule: BankRule }

type Fault = (field: keyof GivenBank, rule: BankRule) => null

const ACCOUNT_TYPES = ['CORRENTE', 'POUPANCA', 'PAGAMENTO'] as const
const PRINTABLE = /^[\x21-\x7e]+$/
const MAX_SECRET = 4096

/** Values go into headers and URLs. */
const isPrintable = (text: string, max: number): boolean =>
  text.length <= max && PRINTABLE.test(text)

const isPem = (bytes: Buffer): boolean => bytes.includes('-----BEGIN ')

/** Some banks give the certificate without its key, in binary form (.cer or .der). */
function toPem(bytes: Buffer): string | null {
  try {
    return new X509Certificate(bytes).toString()
  } catch {
    return null
  }
}

/** The content of a file decides whether it is PFX or PEM, not its name. */
function readIdentity(given: GivenBank, fault: Fault): Certificate | null {
  const { certificate: file, key, passphrase } = given
  if (!file) return fault('certificate', 'certificate-missing')
  const certificate = isPem(file) ? file.toString('utf8') : key && toPem(file)
  if (!certificate) {
    if (key) return fault('key', 'key-beside-pfx')
    return { kind: 'pfx', pfx: file.toString('base64'), passphrase }
  }
  const hasKey = /-----BEGIN [A-Z ]*PRIVATE KEY/.test(certificate)
  const own = key?.toString('utf8') ?? (hasKey ? certificate : null)
  if (own) return { kind: 'pem', certificate, key: own, passphrase }
  return fault('key', 'key-missing')
}

/** Whether a profile needs a value of the connection. */
const needs = ({ headers, query, token }: Profile, name: string): boolean =>
  JSON.stringify([headers, query, token.headers]).includes(`{${name}}`)

/** Whether the bank wants a client secret, and a key of the application. */
export const needsSecret = ({ token }: Profile): boolean => token.client !== 'id only'
export const needsAppKey = (profile: Profile): boolean => needs(profile, 'appKey')

function requireSecrets(given: GivenBank, fault: Fault): void {
  const { profile, clientId, clientSecret, appKey } = given
  if (!isPrintable(clientId, 255)) fault('clientId', 'client-id')
  if (clientSecret !== null && !isPrintable(clientSecret, MAX_SECRET)) {
    fault('clientSecret', 'secret-form')
  }
  if (appKey !== null && !isPrintable(appKey, MAX_SECRET)) fault('appKey', 'app-key-form')
  if (profile && needsSecret(profile) && clientSecret === null) {
    fault('clientSecret', 'secret-missing')
  }
  if (profile && needsAppKey(profile) && appKey === null) fault('appKey', 'app-key-missing')
}

function readAccount({ account, branch, accountType }: GivenBank, fault: Fault): Account | null {
  const type = ACCOUNT_TYPES.find((one) => one === accountType.toUpperCase())
  const number = account?.replace(/[.\s-]/g, '').toUpperCase()
  if (!type) fault('accountType', 'account-type')
  if (branch && !/^\d{1,4}$/.test(branch)) fault('branch', 'branch')
  if (!number) return branch ? fault('branch', 'branch-alone') : null
  if (!/^\d{1,19}[\dX]$/.test(number)) fault('account', 'account')
  return { number, branch, type: type ?? 'CORRENTE' }
}

function readPayouts({ payouts, profile }: GivenBank, fault: Fault): NewBank['payouts'] {
  if (payouts !== 'manual' && payouts !== 'bank') fault('payouts', 'payouts')
  else if (payouts === 'bank' && profile?.payouts === null) fault('payouts', 'payouts-impossible')
  else return payouts
  return 'manual'
}

function readPayoutKey({ payoutKey: key }: GivenBank, fault: Fault): string | null {
  return key === null || isPrintable(key, 77) ? key : fault('payoutKey', 'payout-key')
}

/** A bank as it was given, and all its faults. When the certificate ends has still to be read. */
export function readGiven(given: GivenBank): {
  bank: Omit<NewBank, 'certificateEndsAt'> | null
  certificate: Certificate | null
  faults: BankFault[]
} {
  const faults: BankFault[] = []
  const fault: Fault = (field, rule) => {
    faults.push({ field, rule })
    return null
  }
  const { profile, clientId, clientSecret, appKey, ca } = given
  requireSecrets(given, fault)
  const certificate = readIdentity(given, fault)
  const read = {
    account: readAccount(given, fault),
    payouts: readPayouts(given, fault),
    payoutKey: readPayoutKey(given, fault),
  }
  if (!profile || !certificate || faults.length > 0) return { bank: null, certificate, faults }
  const bank = { profile, clientId, clientSecret, appKey, ca, certificate, ...read }
  return { bank, certificate, faults }
}

/** Why a company cannot be connected to a bank. */
type ConnectFault = 'sandbox' | 'payout-key-missing'

/**
 * A sandbox has the simulated bank, and gets no other. A bank that sends withdrawals must send them
 * to another key than the one that collects.
 */
export function connectFault(
  { mode, pixKey }: Pick<Company, 'mode' | 'pixKey'>,
  { payouts, payoutKey = null }: Pick<NewBank, 'payouts' | 'payoutKey'>,
): ConnectFault | null {
  if (mode !== 'live') return 'sandbox'
  if (payouts === 'manual' || (payoutKey !== null && payoutKey !== pixKey)) return null
  return 'payout-key-missing'
}

type Credentials = Pick<
  GivenBank,
  'clientId' | 'clientSecret' | 'appKey' | 'certificate' | 'key' | 'passphrase'
>

/** The bank that is connected, with new credentials. What is left empty stays as it is. */
export function withCredentials(
  { profile, ca, account, ...connection }: Connection,
  { payouts, payoutKey }: Pick<BankRecord, 'payouts' | 'payoutKey'>,
  { clientId, clientSecret, appKey, ...identity }: Credentials,
): GivenBank {
  return {
    ...identity,
    profile,
    ca,
    clientId: clientId || connection.clientId,
    clientSecret: clientSecret ?? connection.clientSecret,
    appKey: appKey ?? connection.appKey,
    account: account?.number ?? null,
    branch: account?.branch ?? null,
    accountType: account?.type ?? 'CORRENTE',
    payouts,
    payoutKey,
  }
}
