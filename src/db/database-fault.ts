import { OperatorFault } from '../lib/operator-fault.ts'

/** Why a database does not let us in, and what to do. The password is never part of it. */
export function databaseFault(url: string, error: unknown): OperatorFault {
  return new OperatorFault(describe(new URL(url), error), { cause: error })
}

function describe({ hostname, port, pathname, username }: URL, error: unknown): string {
  const host = decodeURIComponent(hostname) || 'localhost'
  const place = `The database server at ${host}:${port || 5432}`
  const { code, message } = error as { code?: string; message: string }
  switch (code) {
    case 'ECONNREFUSED':
      return `${place} refuses connections. Start PostgreSQL there, or correct DATABASE_URL.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host ${host} of DATABASE_URL is not known. Correct the name, or this machine's name server.`
    case '28P01':
    case '28000':
      return `${place} does not let the user ${decodeURIComponent(username) || '(none)'} in (${message}). Correct user and password in DATABASE_URL, or let them in by pg_hba.conf.`
    case '3D000':
      return `${place} has no database named ${decodeURIComponent(pathname.slice(1))}. Create it (createdb), or correct DATABASE_URL.`
    case '53300':
      return `${place} has no connection left (${message}). Raise its max_connections, or lower DATABASE_POOL_SIZE.`
    default:
      return `${place} cannot be used (${message || code}). Check that it runs and that DATABASE_URL is right.`
  }
}
