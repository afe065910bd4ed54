import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as endOfTick } from 'node:timers/promises'

/**
 * Matches payments by the code of some version in a process of its own: `node settle-side.ts <its
 * folder>`. It is sent companies and a count, prepares, says so, and matches when it is sent 'go'.
 */
const root = process.argv[2]!
const AT_ONCE = 64
const AMOUNT = 1000

/** What is used of a version. Its names have changed, and its types are not ours. */
// biome-ignore lint/suspicious/noExplicitAny: see above
type Parts = Record<string, any>
const load = (path: string): Promise<Parts> => import(join(root, path))
const { createApp } = await load(
  existsSync(join(root, 'src/app.ts')) ? 'src/app.ts' : 'src/service.ts',
)
const { readConfig } = await load('src/config.ts')
const { systemClock } = await load('src/lib/clock.ts')
const { createLog } = await load('src/lib/log.ts')
const { receiveCallback } = await load('src/core/payments/callbacks.ts')
const { callbackBody } = await load('src/provider/callback.ts')
const { chargeTxid } = await load('src/provider/txid.ts')

const databaseUrl = process.env.DATABASE_URL
const app = createApp({
  config: readConfig(process.env),
  databaseUrl,
  clock: systemClock,
  log: createLog('error'),
  publicUrl: 'http://127.0.0.1:3000',
})
const transfers = await findTransfers()

type Arrived = { companyId: string; chargeId: string; pix: { endToEndId: string; txid: string } }
let arrived: Arrived[] = []

process.on('message', async (order: { companies: string[]; count: number } | 'go') => {
  if (order === 'go') process.send!({ failed: await match() })
  else {
    await prepare(order.companies, order.count)
    process.send!('prepared')
  }
})
process.send!('ready')

/** The table of what the simulated bank has moved. */
async function findTransfers(): Promise<string> {
  const [row] = await app.db.query({ text: `select to_regclass('simulated_transfers') as found` })
  return row.found ? 'simulated_transfers' : 'simulated_bank.transfers'
}

/** Open charges, and money for each of them at the bank: all that is there before a callback. */
async function prepare(companies: string[], count: number): Promise<void> {
  const receivedAt = systemClock.now()
  arrived = Array.from({ length: count }, (_, n) => {
    const [chargeId, companyId] = [randomUUID(), companies[n % companies.length]!]
    const endToEndId = `E99999999${chargeId.replaceAll('-', '').slice(0, 23)}`
    const pix = { endToEndId, txid: chargeTxid(chargeId), amount: AMOUNT, receivedAt }
    return { companyId, chargeId, pix }
  })
  const owners = arrived.map(({ companyId }) => companyId)
  await app.db.query({
    text: `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
             br_code, created_at, expires_at)
           select *, 'PIX', $3, 'OPEN', 'PROCESSING', false, '000201', $4::timestamptz,
             $4::timestamptz + interval '1 hour' from unnest($1::uuid[], $2::uuid[])`,
    values: [owners, arrived.map(({ chargeId }) => chargeId), AMOUNT, receivedAt],
  })
  await app.db.query({
    text: `insert into ${transfers} (account_id, end_to_end_id, txid, direction, amount, at)
           select *, 'received', $4, $5 from unnest($1::uuid[], $2::text[], $3::text[])`,
    values: [
      owners,
      arrived.map(({ pix }) => pix.endToEndId),
      arrived.map(({ pix }) => pix.txid),
      AMOUNT,
      receivedAt,
    ],
  })
}

/** Gives the callbacks to the version, as many at once as a bank has open. */
async function match(): Promise<number> {
  let failed = 0
  const bank = async () => {
    for (let next = arrived.pop(); next; next = arrived.pop()) {
      const body = callbackBody(next.pix)
      const { processed, settled } = await receiveCallback(app, next.companyId, 'simulator', body)
      if (!['processed', 'settled'].includes(await (processed ?? settled))) failed += 1
      await endOfTick()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, bank))
  return failed
}
