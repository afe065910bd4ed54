const DATABASE_AWAY = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25006', // read_only_sql_transaction: the server is a standby, or is made one
  '25P03', // idle_in_transaction_session_timeout
  '08000',
  '08003',
  '08006',
  '08001',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  '53300', // too_many_connections
])

/** SQLSTATE transaction_resolution_unknown. */
const UNKNOWN = '08007'

export const codeOf = (error: unknown): string =>
  (error as { code?: string } | undefined)?.code ?? ''

/** Whether the connection is of no use any more, and the database perhaps elsewhere. */
export function isAway(error: unknown): boolean {
  const message = error instanceof Error ? error.message : ''
  return (
    DATABASE_AWAY.has(codeOf(error)) ||
    isUnknown(error) ||
    isOutdated(error) ||
    /Connection terminated|timeout (?:exceeded|expired)|not queryable|Query read timeout/.test(
      message,
    )
  )
}

/**
 * Whether the connection has prepared a statement whose rows have other columns by now, because a
 * newer version has added one. It would fail on this connection each time.
 */
export const isOutdated = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as { routine?: string }).routine === 'RevalidateCachedQuery'

/** Whether a statement was not sent, because its connection was lost before. */
export const isNotSent = (error: unknown): boolean =>
  error instanceof Error && /not queryable/.test(error.message)

/** Whether a statement may have been carried out, although its answer was lost. */
export const isLostAnswer = (error: unknown): boolean =>
  /^(?:57P01|57P02|ECONNRESET|EPIPE)$/.test(codeOf(error)) ||
  (error instanceof Error && /Connection terminated|Query read timeout/.test(error.message))

/** Whether a commit was carried out here, but perhaps not where a failover would go. */
export const isUnknown = (error: unknown): boolean => codeOf(error) === UNKNOWN

/** The server answers but cannot write: it is read-only, or its disk or memory is full. */
export const cannotWrite = (error: unknown): boolean =>
  /^(25006|53(?!300)|58030)/.test(codeOf(error))

/** The error of a server that accepts no writes until it is promoted. */
export const standby = (): Error =>
  Object.assign(new Error('the server is a standby'), { code: '25006' })

/** The error of a connection that we close, because the database does not answer. */
export const cut = (): Error => new Error('Connection terminated: the database does not answer')

/** The error of a commit whose wait for the standby was canceled. */
export const notReplicated = (): Error =>
  Object.assign(new Error('a commit was not confirmed by the standby'), { code: UNKNOWN })

/** Why none of several servers can be used, each by its error. */
export class NoPrimary extends Error {
  override name = 'NoPrimary'
  readonly code = '57P03'
  readonly reasons: Map<string, Error>
  constructor(reasons: Map<string, Error>) {
    super('none of the database servers accepts writes')
    this.reasons = reasons
  }
}
