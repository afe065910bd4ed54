/** For tests that copy whole rows, read indexes or change tables: Citus takes no such statement. */
export const ON_PLAIN = { skip: process.env.CITUS_URL ? 'for a plain PostgreSQL' : false }
