/**
 * Limits of what a bank may take, for tests: however slow the machine is, none of them ends a wait,
 * unless a test sets one.
 */
export const PATIENT = { connect_ms: 3_600_000, exchange_ms: 3_600_000, order_ms: 3_600_000 }
