import { OperatorFault } from '../lib/operator-fault.ts'
import { addressOf, nameOf, splitHosts } from './address.ts'
import { codeOf, NoPrimary } from './away.ts'

/** Why a database does not let us in, and what to do. The password is never part of it. */
export function databaseFault(
  url: string,
  error: unknown,
  setting = 'DATABASE_URL',
): OperatorFault {
  const [first, ...others] = splitHosts(url)
  const text =
    others.length > 0
      ? describeAll([first!, ...others], error, setting)
      : describe(first!, error as Error, setting)
  return new OperatorFault(text, { cause: error })
}

function describe(url: string, error: Error, setting: string): string {
  const { pathname, username } = new URL(url)
  const place = `The database server at ${nameOf(url)}`
  const { message } = error
  const code = codeOf(error)
  switch (code) {
    case 'ECONNREFUSED':
      return `${place} refuses connections. Start PostgreSQL there, or correct ${setting}.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host ${addressOf(url).host} of ${setting} is not known. Correct the name, or this machine's name server.`
    case '28P01':
    case '28000':
      return `${place} does not let the user ${decodeURIComponent(username) || '(none)'} in (${message}). Correct user and password in ${setting}, or let them in by pg_hba.conf.`
    case '3D000':
      return `${place} has no database named ${decodeURIComponent(pathname.slice(1))}. Create it (createdb), or correct ${setting}.`
    case '53300':
      return `${place} has no connection left (${message}). Raise its max_connections, or lower DATABASE_POOL_SIZE.`
    case '25006':
      return `${place} is a standby and accepts no writes. Name the primary in ${setting}, or all servers with commas between them.`
    default:
      return `${place} cannot be used (${message || code}). Check that it runs and that ${setting} is right.`
  }
}

/** Of several servers each is named with its reason. */
function describeAll(urls: string[], error: unknown, setting: string): string {
  const reasons = error instanceof NoPrimary ? error.reasons : new Map<string, Error>()
  const list = urls.map((url) => {
    const name = nameOf(url)
    return `${name} ${reasonOf(reasons.get(name) ?? (error as Error))}`
  })
  return `None of the database servers accepts writes: ${list.join(', ')}. Start or promote one of them, or correct ${setting}.`
}

function reasonOf(error: Error): string {
  switch (codeOf(error)) {
    case 'ECONNREFUSED':
      return 'refuses connections'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'is not known'
    case '25006':
      return 'is a standby'
    default:
      return /timeout|terminated/.test(error.message)
        ? 'does not answer'
        : `says "${error.message}"`
  }
}
