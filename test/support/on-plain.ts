/** For tests that copy whole rows or read indexes: Citus takes no such statements of a test. */
export const ON_PLAIN = { skip: process.env.CITUS_URL ? 'for a plain PostgreSQL' : false }
