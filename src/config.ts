import { existsSync, readFileSync } from 'node:fs'
import { isIP, isIPv6 } from 'node:net'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { loadEnvFile } from 'node:process'
import { placesFaults, splitHosts } from './db/address.ts'
import { isAddress, readMailbox } from './lib/mailbox.ts'
import { nearest } from './lib/nearest.ts'
import { OperatorFault } from './lib/operator-fault.ts'
import { localSecretKey, localSecretPath, readSecretText } from './lib/secret-file.ts'
import { readTelemetry, TELEMETRY_OPTIONS, type Telemetry } from './lib/telemetry-options.ts'

/**
 * The only reader of the environment. Each option is listed here once, with its default and its
 * reason; `.env.example` and the reference page are generated from this table.
 */
export const OPTIONS = {
  DATABASE_URL: {
    secret: true,
    default: 'empty: an embedded PostgreSQL in DATA_DIR',
    reason:
      'PostgreSQL 15 or newer of your own. If it has a standby, name all servers (postgres://user@first:5432,second:5432/vintem): the one that accepts writes is used. Without it Vintém runs in local mode, with a database of its own.',
  },
  PLACES: {
    secret: true,
    default: 'empty: one, which is DATABASE_URL',
    reason:
      'Several databases, the places, among which companies are divided, as addresses like that of DATABASE_URL with spaces between them. The first one also has the people. Add new ones at the end, and never change the order. Leave DATABASE_URL empty then.',
  },
  DATABASE_POOL_SIZE: {
    default: '10',
    reason:
      'Connections for requests, and as many again for tasks. Requests of one company get half of them at most. Sixteen more are for groups of charges, deliveries, locks, notifications of changes and checks of the database. With PROCESSES=n, two at least, requests have as many in all or two for each process, and there are 25 more and ten for each process, and those of one more while processes are replaced.',
  },
  PROCESSES: {
    default: '1',
    reason:
      'Processes that answer requests on PORT, or "auto" for one for each core of this machine. If there are several, the tasks run in a process of their own, and one more process starts all others, starts them again when they die, and counts for the limits. It makes no difference to --role worker.',
  },
  DATA_DIR: {
    default: '.data',
    reason:
      'Where local mode keeps the database, its generated secret and sandbox.json, and where mails go without SMTP_URL.',
  },
  HOST: {
    default: '127.0.0.1',
    reason: 'The address to listen on. Only this machine can reach the default.',
  },
  PORT: { default: '3000', reason: 'The port that serves API, docs and pages.' },
  OPERATOR_KEY: {
    default: '',
    secret: true,
    reason:
      'Opens `/operator/api`, by which programs make, list and suspend companies and keys. At least 32 characters: `openssl rand -hex 32`. Without it there is no such API.',
  },
  OPERATOR_PORT: {
    default: 'empty: none',
    reason:
      'A port of its own for operators, with /metrics, /health and /ready with its reasons, for all PROCESSES together. Whatever is started on its own and is to be watched needs one, workers too.',
  },
  OPERATOR_HOST: {
    default: '127.0.0.1',
    reason:
      'The address to listen on for operators. It asks for no key, so only operators may be able to reach it.',
  },
  PUBLIC_URL: {
    default: 'local mode: http://HOST:PORT',
    reason:
      'The address under which payers and integrators reach the service; every charge contains it.',
  },
  SECRET_KEY: {
    secret: true,
    default: 'local mode: generated into DATA_DIR/secret.key',
    reason:
      '32 random bytes in base64 (openssl rand -base64 32). Seals payers’ data and hashes keys; keep it outside the database and back it up.',
  },
  SECRET_KEY_NEXT: {
    secret: true,
    default: 'empty: none; local mode: DATA_DIR/secret-next.key, if there is one',
    reason:
      'The secret that is to replace SECRET_KEY. All servers have both until "vintem secret rotate" says that the former one can go; then this one becomes SECRET_KEY.',
  },
  SMTP_URL: {
    secret: true,
    default: 'empty: mails are kept as .eml files in DATA_DIR/mail',
    reason:
      'The mail server that sends one-time codes and payment links: smtp://user:password@host:587, or smtps:// for TLS from the start. On smtp:// TLS is used where it is offered; ?requireTLS=true makes it required.',
  },
  MAIL_FROM: {
    default: 'no-reply@ and the host of PUBLIC_URL',
    reason:
      'Who mails come from: an address that your mail server may send for, with or without a name.',
  },
  MAIL_CONNECTIONS: {
    default: '50',
    reason:
      'Mails that one worker sends at once, each by a connection to the mail server that is kept and used again. With 50, a server that takes 300 ms for a mail gets up to 150 a second. If it refuses some of them, fewer are used by themselves.',
  },
  MAILS_PER_RECIPIENT: {
    default: '50',
    reason:
      'Mails of one kind (links, receipts, invitations, warnings about webhooks, confirmed addresses) that all companies together send to one address in a day, a fifth of them at once. More receipts wait, all others are not sent and shown as such. One-time codes and security mails are never held back. Does not hold in local mode without SMTP_URL, nor do the next two.',
  },
  MAILS_PER_COMPANY: {
    default: '50000',
    reason:
      'The same for all addresses of one company. More mails wait for up to a day. Raise it for a company with more paid charges in a day.',
  },
  MAILS_PER_DAY: {
    default: '500000',
    reason:
      'The same for all companies, to protect the good name of your mail server. More mails wait for up to a day.',
  },
  TRUSTED_PROXIES: {
    default: 'empty: none',
    reason:
      'Comma-separated addresses or CIDRs whose X-Forwarded-For is trusted. Limits on failed keys count by address.',
  },
  CALLBACK_CLIENT_HEADER: {
    default: 'empty: not asked for',
    reason:
      'Header and value, such as "x-client-verify: SUCCESS", by which a proxy among TRUSTED_PROXIES says that a bank’s callback came with a client certificate it has verified. Callbacks without it are refused.',
  },
  RATE_LIMIT: {
    default: '500',
    reason:
      'Requests per second and API key, or "off"; callbacks of a company’s bank may be five times as many. It is against scripts that run away; companies share the server by COMPANY_REQUESTS. Raise it if one company has the server to itself. Off also removes the limits on addresses.',
  },
  RATE_LIMIT_BURST: {
    default: '1000',
    reason: 'Requests an idle key may send at once before RATE_LIMIT applies.',
  },
  COMPANY_REQUESTS: {
    default: '64',
    reason:
      'Requests of one company that are processed at the same time; further ones wait in order.',
  },
  COMPANY_QUEUE: {
    default: '96',
    reason: 'Requests of one company that may wait. Further ones are answered 429 at once.',
  },
  SERVER_REQUESTS: {
    default: '640',
    reason:
      'Requests of all companies, waiting or being processed. Further ones are answered 503 at once. With several PROCESSES each takes its part of this, of COMPANY_REQUESTS and of COMPANY_QUEUE.',
  },
  STATIC_SALES_LIMIT: {
    default: '500000',
    reason:
      'Monthly sales in cents through static codes for companies whose tax id is a CPF, unless the company has its own.',
  },
  CODE_MAILS_PER_HOUR: {
    default: '5',
    reason:
      'One-time codes that are mailed for a company within an hour, over all its withdrawals. Limits how many mails can be sent with a leaked API key.',
  },
  CODE_MAILS_PER_DAY: { default: '20', reason: 'The same within a day.' },
  DESTINATION_WAIT_HOURS: {
    default: '24',
    reason:
      'After a change in the dashboard of the bank connection, or of a recipient’s Pix key, withdrawals to it wait so many hours, so that the owners can read the mail about it before money leaves. Withdrawals of the company go out at once if a second person approves them. 0: they do not wait.',
  },
  WEBHOOKS_PER_COMPANY: {
    default: '50',
    reason:
      'Webhooks that a company may have, active or not. Each event goes to each that wants it.',
  },
  DELIVERY_RETENTION_DAYS: {
    default: '30',
    reason:
      'How long finished deliveries to webhooks are kept, to be looked up and replayed. Events are never deleted.',
  },
  CALLBACK_RETENTION_DAYS: {
    default: '30',
    reason:
      'How long what banks have reported is kept, sealed, after it was processed. It may name payers.',
  },
  MAIL_RETENTION_DAYS: {
    default: '30',
    reason:
      'How long it is kept that a mail was sent, when, and with which outcome. What it said is deleted when it is sent.',
  },
  DEFENSE_RETENTION_DAYS: {
    default: '1825',
    reason:
      'How long texts and files of defenses are kept, sealed, after a dispute was closed: five years, in which a payer can go to court. 0 keeps them.',
  },
  CLOCK_WAIT_SECONDS: {
    default: '20',
    reason:
      'How long POST /sandbox/clock waits for the work that falls due before it answers what is still running. Less than any proxy in front waits for an answer.',
  },
  ALLOW: {
    default: 'empty: nothing',
    reason:
      'Comma-separated names of what a server otherwise refuses to start with: exposed-local-mode (local mode that other machines reach, as in a container), mail-files (no SMTP_URL with DATABASE_URL: one-time codes are written to files), http (a PUBLIC_URL without TLS, or of this machine alone, with DATABASE_URL).',
  },
  LOG_LEVEL: {
    default: 'info',
    reason: 'fatal, error, warn, info, debug or silent. At info there is one line a request.',
  },
  SHUTDOWN_SECONDS: {
    default: '30',
    reason: 'How long requests in flight may take to finish after SIGTERM or Ctrl-C.',
  },
  ...TELEMETRY_OPTIONS,
} as const satisfies Record<string, { default: string; reason: string; secret?: true }>

type OptionName = keyof typeof OPTIONS
export type Environment = Record<string, string | undefined>

export type Config = {
  /** No DATABASE_URL: embedded database, generated secret, private webhook targets allowed. */
  local: boolean
  databaseUrl: string | null
  /** The setting that names the database, or all of them. */
  databaseSetting: 'DATABASE_URL' | 'PLACES'
  /** The databases of further places. `databaseUrl` is the first one. */
  otherPlaces: string[]
  databasePoolSize: number
  /** How many processes answer requests. */
  processes: number
  dataDir: string
  host: string
  port: number
  /** Null: nothing is served for operators. */
  operatorKey: string | null
  operator: { host: string; port: number } | null
  publicUrl: string
  /** Whether nobody has said it, so that it is the address to listen on. */
  isPublicUrlDefault: boolean
  secretKey: Buffer
  /** The secret that is to replace it, or has just done so. */
  secretKeyNext: Buffer | null
  /** Null: mails are kept as files. */
  smtpUrl: string | null
  mailFrom: string
  /** How many mails a worker sends at once. */
  mailConnections: number
  /** How many mails of one kind are sent in a day. Null: nobody is bothered, for they are files. */
  dailyMails: { RECIPIENT: number; COMPANY: number; ALL: number } | null
  trustedProxies: string[]
  /** What a trusted proxy adds to callbacks of banks that it has verified. */
  callbackClient: { header: string; value: string } | null
  rateLimit: { perSecond: number; burst: number } | null
  /** How many requests of one company are processed and wait, and how many of all companies. */
  requests: { running: number; waiting: number; inAll: number }
  staticSalesLimit: number
  /** One-time codes that are mailed for a company. */
  codeMails: { perHour: number; perDay: number }
  destinationWaitHours: number
  webhooksPerCompany: number
  /** For how long these are kept. */
  deliveryRetentionDays: number
  callbackRetentionDays: number
  mailRetentionDays: number
  /** 0: for ever. */
  defenseRetentionDays: number
  clockWaitSeconds: number
  /** What is refused unless the operator allows it by name. */
  allowed: Allowable[]
  logLevel: string
  shutdownSeconds: number
  /** What is sent to a collector of OpenTelemetry. Null: nothing. */
  telemetry: Telemetry | null
  /** What is probably a mistake, each a sentence. */
  warnings: string[]
}

/** What an operator can allow by name. */
const ALLOWABLE = ['exposed-local-mode', 'mail-files', 'http'] as const
type Allowable = (typeof ALLOWABLE)[number]

export class ConfigFault extends OperatorFault {
  override exitCode = 2
  readonly faults: string[]
  constructor(faults: string[]) {
    const lines = faults.map((fault) => `  - ${fault}`)
    super(`The configuration has ${faults.length} fault(s):\n${lines.join('\n')}`)
    this.faults = faults
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent']

/** Reads options one by one and collects all faults, so that they are reported together. */
function reader(env: Environment) {
  const faults: string[] = []
  const fault = (name: OptionName, rule: string) => {
    faults.push(`${name} ${rule}`)
  }
  function text(name: OptionName): string | null {
    const file = (OPTIONS[name] as { secret?: true }).secret ? env[`${name}_FILE`] : undefined
    if (file && env[name]) fault(name, `and ${name}_FILE are both set: keep one`)
    try {
      const value = file ? readFileSync(file, 'utf8').trim() : env[name]?.trim()
      return value ? value : null
    } catch {
      fault(name, `cannot be read from ${name}_FILE: the file is missing or not readable`)
      return null
    }
  }
  function integer(name: OptionName, fallback: number, min: number, max: number): number {
    const value = text(name)
    if (value === null) return fallback
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= min && number <= max) return number
    fault(name, `must be a whole number from ${min} to ${max}`)
    return fallback
  }
  return { faults, fault, text, integer }
}

type Reader = ReturnType<typeof reader>

function readRateLimit({ text, integer }: Reader): Config['rateLimit'] {
  const burst = integer('RATE_LIMIT_BURST', 1000, 1, 1_000_000)
  if (text('RATE_LIMIT') === 'off') return null
  return { perSecond: integer('RATE_LIMIT', 500, 1, 1_000_000), burst }
}

const MAX_PROCESSES = 64
const MAX_DAILY_MAILS = 10_000_000

function readProcesses({ text, fault }: Reader): number {
  const value = text('PROCESSES') ?? '1'
  if (value === 'auto') return Math.min(availableParallelism(), MAX_PROCESSES)
  const count = Number(value)
  if (/^\d+$/.test(value) && count >= 1 && count <= MAX_PROCESSES) return count
  fault(
    'PROCESSES',
    `must be a whole number from 1 to ${MAX_PROCESSES}, or auto for one for each core`,
  )
  return 1
}

function readAllowed({ text, fault }: Reader): Allowable[] {
  const named = listOf(text('ALLOW'))
  const known: readonly string[] = ALLOWABLE
  if (!named.every((name) => known.includes(name))) {
    fault('ALLOW', `must list names among ${ALLOWABLE.join(', ')}`)
  }
  return ALLOWABLE.filter((name) => named.includes(name))
}

function readOperatorKey({ text, fault }: Reader): string | null {
  const key = text('OPERATOR_KEY')
  if (key !== null && !/^[\x21-\x7e]{32,255}$/.test(key)) {
    fault('OPERATOR_KEY', 'must have 32 to 255 characters without spaces: openssl rand -hex 32')
  }
  return key
}

function readOperator({ text, integer, fault }: Reader, taken: number): Config['operator'] {
  const host = text('OPERATOR_HOST') ?? '127.0.0.1'
  if (text('OPERATOR_PORT') === null) return null
  const port = integer('OPERATOR_PORT', 0, 1, 65535)
  if (port === taken) fault('OPERATOR_PORT', 'must be another port than PORT')
  return { host, port }
}

function readProxies({ text, fault }: Reader): string[] {
  const named = listOf(text('TRUSTED_PROXIES'))
  const wrong = named.filter(
    (proxy) => !/^[^/]+(\/\d{1,3})?$/.test(proxy) || !isIP(proxy.split('/')[0]!),
  )
  if (wrong.length > 0) fault('TRUSTED_PROXIES', 'must list addresses or CIDRs such as 10.0.0.0/8')
  return named
}

function readCallbackClient({ text, fault }: Reader, proxies: string[]): Config['callbackClient'] {
  const name = 'CALLBACK_CLIENT_HEADER'
  const given = text(name)
  if (given === null) return null
  const [, header, value] = /^([\w-]+)\s*:\s*(\S.*)$/.exec(given) ?? []
  if (!header || !value)
    fault(name, 'must be a header and its value, like x-client-verify: SUCCESS')
  if (proxies.length === 0) fault(name, 'needs TRUSTED_PROXIES: anybody else could send the header')
  return header && value ? { header: header.toLowerCase(), value } : null
}

function readUrl({ text, fault }: Reader, name: OptionName, protocols: string[]): string | null {
  const value = text(name)
  if (value === null) return null
  const isRight = (one: string) => URL.canParse(one) && protocols.includes(new URL(one).protocol)
  if (splitHosts(value).every(isRight)) return value
  fault(name, `must be an address that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`)
  return null
}

function readMailFrom({ text, fault }: Reader, publicUrl: string): string {
  const host = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : ''
  // Neither an IP address nor a name such as my_host can be the domain of a mail address.
  const domain = isIP(host) || !isAddress(`no-reply@${host}`) ? 'localhost' : host
  const from = text('MAIL_FROM') ?? `Vintém <no-reply@${domain}>`
  if (!readMailbox(from)) fault('MAIL_FROM', 'must be an address, or Name <address>')
  return from
}

/**
 * Local mode generates its secret once and stores it. With DATABASE_URL the secret must be given,
 * because data that is sealed with a generated one is lost together with the machine.
 */
function readSecretKey(
  read: Reader,
  { local, databaseSetting }: Pick<Config, 'local' | 'databaseSetting'>,
  dataDir: string,
): Buffer {
  const given = readSecret(read, 'SECRET_KEY')
  if (given) return given
  if (local) return localSecretKey(dataDir, (rule) => read.fault('DATA_DIR', rule))
  read.fault('SECRET_KEY', `is required with ${databaseSetting}: openssl rand -base64 32`)
  return Buffer.alloc(0)
}

/** Null: it is not given. */
function readSecret(
  { text, fault }: Reader,
  name: 'SECRET_KEY' | 'SECRET_KEY_NEXT',
): Buffer | null {
  const value = text(name)
  if (value === null) return null
  const key = readSecretText(value)
  if (key) return key
  fault(name, 'must be at least 32 bytes in base64: openssl rand -base64 32')
  return Buffer.alloc(0)
}

const readSecretKeys = (
  read: Reader,
  how: Pick<Config, 'local' | 'databaseSetting'>,
  dataDir: string,
): Pick<Config, 'secretKey' | 'secretKeyNext'> => ({
  secretKey: readSecretKey(read, how, dataDir),
  secretKeyNext: readNextSecretKey(read, how.local, dataDir),
})

/** In local mode the operator may put it beside the generated one. */
function readNextSecretKey(read: Reader, local: boolean, dataDir: string): Buffer | null {
  const given = readSecret(read, 'SECRET_KEY_NEXT')
  const path = join(dataDir, NEXT_SECRET)
  if (given || !local || !existsSync(path)) return given
  const key = readSecretText(readFileSync(path, 'utf8'))
  if (key) return key
  read.fault('DATA_DIR', `${path} must hold at least 32 bytes in base64: openssl rand -base64 32`)
  return null
}

function readDailyMails({ text, integer }: Reader, local: boolean): Config['dailyMails'] {
  const daily = {
    RECIPIENT: integer('MAILS_PER_RECIPIENT', 50, 1, MAX_DAILY_MAILS),
    COMPANY: integer('MAILS_PER_COMPANY', 50_000, 1, MAX_DAILY_MAILS),
    ALL: integer('MAILS_PER_DAY', 500_000, 1, MAX_DAILY_MAILS),
  }
  return local && text('SMTP_URL') === null ? null : daily
}

/** The names that are read: of each secret also that of a file. */
const NAMES = Object.entries(OPTIONS).flatMap(([name, option]) =>
  'secret' in option ? [name, `${name}_FILE`] : [name],
)
/** Names that are shorter resemble too many others. */
const MIN_NAME = 5

/** Names one mistake away from a setting that is not set, since others set variables too. */
function findMisspelt(env: Environment): string[] {
  const missing = NAMES.filter((name) => !env[name] && name.length > MIN_NAME)
  return Object.keys(env).flatMap((name) => {
    if (NAMES.includes(name) || name.length < MIN_NAME) return []
    const meant = nearest(name, missing, 1)
    return meant ? [`${name} is not a setting; did you mean ${meant}?`] : []
  })
}

export function readConfig(env: Environment): Config {
  const read = reader(env)
  const given = readUrl(read, 'DATABASE_URL', ['postgres:', 'postgresql:'])
  const places = read.text('PLACES')?.split(/\s+/) ?? []
  for (const rule of placesFaults(places, given)) read.fault('PLACES', rule)
  const databaseUrl = places[0] ?? given
  const databaseSetting = env.PLACES || env.PLACES_FILE ? 'PLACES' : 'DATABASE_URL'
  const local = !env.DATABASE_URL && !env.DATABASE_URL_FILE && !env.PLACES && !env.PLACES_FILE
  if (!local && databaseUrl === null && read.faults.length === 0) {
    read.fault(databaseSetting, 'is set but empty: give an address, or leave it out for local mode')
  }
  const host = read.text('HOST') ?? '127.0.0.1'
  const port = read.integer('PORT', 3000, 1, 65535)
  const dataDir = resolve(read.text('DATA_DIR') ?? '.data')
  const logLevel = read.text('LOG_LEVEL') ?? 'info'
  if (!LOG_LEVELS.includes(logLevel))
    read.fault('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`)
  const named = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const shownHost = isIPv6(named) ? `[${named}]` : named
  const publicUrl = readUrl(read, 'PUBLIC_URL', ['http:', 'https:'])?.replace(/\/+$/, '')
  const url = publicUrl ?? `http://${shownHost}:${port}`
  const trustedProxies = readProxies(read)
  const config: Config = {
    local,
    databaseUrl,
    databaseSetting,
    otherPlaces: places.slice(1),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 10, 2, 200),
    processes: readProcesses(read),
    dataDir,
    host,
    port,
    operatorKey: readOperatorKey(read),
    operator: readOperator(read, port),
    publicUrl: url,
    isPublicUrlDefault: publicUrl === undefined,
    ...readSecretKeys(read, { local, databaseSetting }, dataDir),
    smtpUrl: readUrl(read, 'SMTP_URL', ['smtp:', 'smtps:']),
    mailFrom: readMailFrom(read, url),
    mailConnections: read.integer('MAIL_CONNECTIONS', 50, 1, 1000),
    dailyMails: readDailyMails(read, local),
    trustedProxies,
    callbackClient: readCallbackClient(read, trustedProxies),
    rateLimit: readRateLimit(read),
    requests: {
      running: read.integer('COMPANY_REQUESTS', 64, 1, 100_000),
      waiting: read.integer('COMPANY_QUEUE', 96, 0, 100_000),
      inAll: read.integer('SERVER_REQUESTS', 640, 1, 100_000),
    },
    staticSalesLimit: read.integer('STATIC_SALES_LIMIT', 500_000, 0, Number.MAX_SAFE_INTEGER),
    codeMails: {
      perHour: read.integer('CODE_MAILS_PER_HOUR', 5, 1, 100_000),
      perDay: read.integer('CODE_MAILS_PER_DAY', 20, 1, 100_000),
    },
    destinationWaitHours: read.integer('DESTINATION_WAIT_HOURS', 24, 0, 720),
    webhooksPerCompany: read.integer('WEBHOOKS_PER_COMPANY', 50, 1, 100_000),
    deliveryRetentionDays: read.integer('DELIVERY_RETENTION_DAYS', 30, 1, 3650),
    callbackRetentionDays: read.integer('CALLBACK_RETENTION_DAYS', 30, 1, 3650),
    // Some limits count the mails of the last day.
    mailRetentionDays: read.integer('MAIL_RETENTION_DAYS', 30, 2, 3650),
    defenseRetentionDays: read.integer('DEFENSE_RETENTION_DAYS', 1825, 0, 36_500),
    clockWaitSeconds: read.integer('CLOCK_WAIT_SECONDS', 20, 0, 120),
    allowed: readAllowed(read),
    logLevel,
    shutdownSeconds: read.integer('SHUTDOWN_SECONDS', 30, 1, 600),
    telemetry: readTelemetry(read, (name) => readUrl(read, name, ['http:', 'https:']), env),
    warnings: findMisspelt(env),
  }
  if (read.faults.length > 0) throw new ConfigFault([...read.faults, ...config.warnings])
  return config
}

/** Reads the environment of this process. A `.env` file gives what it does not set. */
export function loadConfig(): Config {
  const given = new Set(Object.keys(process.env))
  if (existsSync('.env')) loadEnvFile('.env')
  fromFile = Object.keys(process.env).filter((name) => !given.has(name))
  return readConfig(process.env)
}

/** What .env has given, and the environment has not. */
let fromFile: string[] = []

/** What to change in the environment for a process that reads .env anew. */
export const withoutEnvFile = (): Environment =>
  Object.fromEntries(fromFile.map((name) => [name, undefined]))

/** The files that hold secrets of this configuration. */
export const secretFilesOf = (env: Environment = process.env): string[] => [
  ...(existsSync('.env') ? [resolve('.env')] : []),
  ...NAMES.filter((name) => name.endsWith('_FILE')).flatMap((name) => env[name] ?? []),
]

/** The file that the secret key is read from, which may be .env. Null: the environment has it. */
export function secretKeyFile({ dataDir }: Pick<Config, 'dataDir'>): string | null {
  const { SECRET_KEY, SECRET_KEY_FILE } = process.env
  if (SECRET_KEY) return fromFile.includes('SECRET_KEY') ? resolve('.env') : null
  return SECRET_KEY_FILE ? resolve(SECRET_KEY_FILE) : localSecretPath(dataDir)
}

/**
 * The settings of this process as a file `.env`, for a backup. Of secrets it says only that they
 * were set: whoever restores has to bring them.
 */
export function describeSettings(env: Environment = process.env): string {
  const lines = NAMES.filter((name) => env[name]).map((name) => {
    const option: object = OPTIONS[name as OptionName] ?? {}
    return 'secret' in option ? `# ${name} was set` : `${name}=${JSON.stringify(env[name])}`
  })
  return lines.map((line) => `${line}\n`).join('')
}

/** The environment without what is in .env. */
export const bareEnvironment = (): Environment => process.env

/** The items of a text with commas between them. */
const listOf = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)

/** The file of a data directory with the secret that is to replace the other one. */
const NEXT_SECRET = 'secret-next.key'
