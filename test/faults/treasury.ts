import { fromPublic } from '../../src/lib/ids.ts'
import { REFUSED_AMOUNT, UNANSWERED_AMOUNT } from '../../src/provider/simulator/simulator.ts'
import { lookFor } from '../support/until.ts'
import { PATH } from '../support/withdrawals.ts'
import { type Client, endOf, get, post, type Shop, type Withdrawn } from './journal.ts'
import type { Mailbox } from './mailbox.ts'
import { operate } from './shop.ts'

/** How long a code is waited for before another is asked for. */
const CODE_PATIENCE_S = 1.5
const MAX_RESENDS = 3
/** Its code has ended. */
const ENDED = [409, 410]
/** Mails are sorted by time: if the clock was moved, the newest one is not the last one. */
const WRONG = 400
/** How long a payout is waited for before its company is left alone for a while. */
const PAYOUT_PATIENCE_S = 1.5

/**
 * Withdraws from one company after the other until nothing new is to be begun. A payout whose
 * server was killed is taken up again only when its lease is over, and holds its company up that
 * long.
 */
export async function withdraw(client: Client, shops: Shop[], mailbox: Mailbox): Promise<void> {
  for (let n = 0; !client.stopping(); ) {
    client.shop = shops[n % shops.length]!
    const done = await operate(client, () => withdrawOnce(client, mailbox))
    if (!done) n += 1
  }
}

/** False when the company can do no more for now. */
async function withdrawOnce(client: Client, mailbox: Mailbox): Promise<boolean> {
  const { shop, random, journal } = client
  const amount = chooseAmount(client)
  const { status, body } = await post(client, PATH, { value: amount }, [201, 409, 422])
  // Less in the balance than that, or the last payout still under way.
  if (status !== 201) return false
  const id: string = body.data.withdrawId
  const withdrawn: Withdrawn = { company: shop.company, id, amount, state: 'CANCELED' }
  journal.withdrawals.push(withdrawn)
  const code = random.onceIn(8) ? null : await readCode(client, mailbox, id)
  const done = (path: string, json?: unknown) =>
    post(client, `${PATH}/${id}/${path}`, json, [200, WRONG, ...ENDED])
  if (code === null) {
    if (ENDED.includes((await done('cancel')).status)) withdrawn.state = 'EXPIRED'
    return true
  }
  const { status: confirmed } = await done('confirm', { otp: code })
  if (confirmed === WRONG) {
    journal.wrongCodes += 1
    if (ENDED.includes((await done('cancel')).status)) withdrawn.state = 'EXPIRED'
    return true
  }
  if (ENDED.includes(confirmed)) {
    withdrawn.state = 'EXPIRED'
    return true
  }
  withdrawn.state = endOf(amount)
  return waitForEnd(client, id)
}

/** Of two amounts the simulated bank refuses the order, or its answer gets lost. */
function chooseAmount({ random }: Client): number {
  if (random.onceIn(12)) return REFUSED_AMOUNT
  return random.onceIn(12) ? UNANSWERED_AMOUNT : 1 + random.below(2_000)
}

/**
 * The code from the company's mail. A server that is killed over a mail leaves it to others only
 * after a while, so a client that does not wait asks for another code; the last one counts.
 */
async function readCode(client: Client, mailbox: Mailbox, id: string): Promise<string | null> {
  let since = fromPublic('wd', id)!
  for (let resends = 0; ; resends += 1) {
    const find = () => mailbox.codeFor(client.shop.email, since)
    const code = await lookFor(find, CODE_PATIENCE_S)
    if (code !== null || resends === MAX_RESENDS) return code
    since = firstIdOf(Date.now())
    const { status } = await post(client, `${PATH}/${id}/resend`, undefined, [200, ...ENDED])
    if (status === 200) client.journal.resent += 1
  }
}

/** Where the ids of a moment begin. */
const firstIdOf = (time_ms: number): string => {
  const time = time_ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

async function waitForEnd(client: Client, id: string): Promise<boolean> {
  const ended = await lookFor(async () => {
    const { status } = (await get(client, `${PATH}/${id}`)).body.data
    return status === 'PROCESSING' ? null : status
  }, PAYOUT_PATIENCE_S)
  return ended !== null
}
