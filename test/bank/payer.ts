import { parse } from '../../src/pix/brcode.ts'
import { localDateOf } from '../../src/pix/local-time.ts'
import type { Books, Charge, Pix, Rec } from './books.ts'
import { partsOn, totalOf } from './cobv.ts'
import { notifyPix } from './pix.ts'
import { changeRec } from './recurrences.ts'
import { endToEndId } from './scheme.ts'

export type Paid = {
  amount?: number
  endToEndId?: string
  at?: Date
  extras?: Record<string, unknown>
}

/** What people do with codes in the apps of their banks. */
export type Payer = {
  /**
   * Pays a charge by its code, its location or its txid, or a static code. A payer who has read the
   * code in time may pay late, or twice: the bank takes the money whatever the charge's status.
   */
  pay(what: string, options?: Paid): Pix
  /** Sends money to the key alone. */
  payKey(key: string, amount: number, options?: Paid): Pix
  approve(what: string): Rec
  reject(what: string): Rec
  cancel(what: string): Rec
  /** Lets the time pass in which it could have been approved. */
  expire(what: string): Rec
}

export function payer(books: Books): Payer {
  const take = (txid: string | null, key: string, asked: number | Charge, options: Paid): Pix => {
    const at = options.at ?? books.clock.now()
    const charge = typeof asked === 'number' ? null : asked
    const due = charge?.due ? partsOn(books, charge, localDateOf(at)) : null
    const whole = due ? totalOf(due) : (charge?.amount ?? (asked as number))
    const { amount = whole } = options
    // A bank cannot explain an amount that it did not ask for.
    const parts = amount === whole ? due : null
    const id = options.endToEndId ?? endToEndId('E', at)
    const { extras = {} } = options
    const pix = { endToEndId: id, txid, amount, key, at, parts, extras }
    books.pix.set(id, pix)
    notifyPix(books, [pix])
    return pix
  }
  const decide = (what: string, from: Rec['status'][], to: Rec['status']): Rec => {
    const rec = findRec(books, what)
    if (!from.includes(rec.status)) throw new Error(`the recurrence is ${rec.status}`)
    changeRec(books, rec, to, to === 'CANCELADA' ? 'USUARIO_PAGADOR' : null)
    return rec
  }
  return {
    pay(what, options = {}) {
      const code = parse(what)
      if (code.kind === 'static')
        return take(code.txid ?? null, code.key, code.amount ?? 0, options)
      const charge = findCharge(books, code.kind === 'dynamic' ? code.location : what)
      if (charge.status === 'ATIVA') charge.status = 'CONCLUIDA'
      return take(charge.txid, charge.key, charge, options)
    },
    payKey: (key, amount, options = {}) => take(null, key, amount, options),
    approve: (what) => decide(what, ['CRIADA'], 'APROVADA'),
    reject: (what) => decide(what, ['CRIADA'], 'REJEITADA'),
    cancel: (what) => decide(what, ['CRIADA', 'APROVADA'], 'CANCELADA'),
    expire: (what) => decide(what, ['CRIADA'], 'EXPIRADA'),
  }
}

function findCharge({ charges }: Books, what: string): Charge {
  const found = [...charges.values()].find(({ txid, location }) => [txid, location].includes(what))
  if (!found) throw new Error('the bank has no such charge')
  return found
}

function findRec({ recs, locations }: Books, what: string): Rec {
  const code = parse(what)
  const place = 'recurrenceLocation' in code ? code.recurrenceLocation : what
  const named = [...locations.values()].find(({ location }) => location === place)
  const rec = recs.get(named?.recId ?? what)
  if (!rec) throw new Error('the bank has no such recurrence')
  return rec
}
