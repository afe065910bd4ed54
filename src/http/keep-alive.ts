/**
 * How long an open connection without a request is kept. Longer than proxies in front keep theirs,
 * which is a minute for many, so that none sends a request to a connection that is being closed.
 */
export const KEEP_ALIVE_MS = 72_000
