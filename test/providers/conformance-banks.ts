import assert from 'node:assert/strict'
import { newId, type Uuid, unpackPair } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { parse } from '../../src/pix/brcode.ts'
import { localDateOf } from '../../src/pix/local-time.ts'
import { type Bacen, createBacen } from '../../src/provider/bacen/bacen.ts'
import type { Connection } from '../../src/provider/bacen/connection.ts'
import type { Profile } from '../../src/provider/bacen/profile.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import { type Bank, type StyleOptions, startBank } from '../bank/bank.ts'
import { given } from '../support/agreements.ts'
import { manualClock, type TestApi } from '../support/api.ts'
import { PATIENT } from '../support/patience.ts'
import type { Ground } from './conformance-ground.ts'

/** The txid of a code of the simulated bank. */
function txidOf(brCode: string): string | null {
  const code = parse(brCode)
  if (code.kind === 'static') return code.txid ?? null
  assert.ok(code.kind === 'dynamic')
  return chargeTxid(unpackPair(code.location.split('/').at(-1)!)!.id)
}

/** A new account at the simulated bank. */
export async function openSimulator(api: TestApi): Promise<Ground> {
  const { simulator } = api.app.providers
  const payee = (await api.client()).company
  const { clock } = api
  const approved: Uuid[] = []
  const pay = async (txid: string | null, amount: number) =>
    (await simulator.pay(payee, { txid, amount: toCents(amount) })).endToEndId
  const decide: Ground['decide'] = async ({ id }, decision) => {
    given(await simulator.decide(payee.id, id, decision, null, clock.now()))
    if (decision === 'approve') approved.push(id)
  }
  return {
    provider: simulator,
    payouts: simulator,
    agrees: true,
    async returnByItself(endToEndId, amount) {
      const order = {
        endToEndId,
        amount: toCents(amount),
        reason: 'FRAUD',
        orderId: newId(),
      } as const
      return given(await simulator.returnByItself(payee, order))
    },
    disputes: {
      async open(endToEndId, amount) {
        const claim = { endToEndId, amount: toCents(amount), reason: 'FRAUD' } as const
        const order = { ...claim, hours: 168, orderId: newId() }
        return given(await simulator.openDispute(payee, order)).id
      },
      async decide(id, decision) {
        given(await simulator.decideDispute(payee, id, decision))
      },
    },
    remembers: false,
    namesParts: false,
    payee,
    clock,
    decide,
    pay: (brCode, amount) => pay(txidOf(brCode), amount),
    payDue: (brCode, amount) => pay(txidOf(brCode), amount),
    payKey: (amount) => pay(null, amount),
    async collect(pays) {
      // Those that have ended meanwhile are not filled any more.
      for (const id of approved) await simulator.decide(payee.id, id, 'approve', pays, clock.now())
      await simulator.collectDue(payee.id, clock.now(), 100)
    },
    // It is in the same process.
    withoutRoute: async () => {},
    verify: () => {},
  }
}

const IN_WORDS_OF_EFI = { WON: 'REJEITADA', LOST: 'ACEITA', CANCELED: 'CANCELADA_EFI' } as const

export type BankGround = Ground & {
  bank: Bank
  bacen: Bacen
  connection: Connection
  close(): Promise<void>
}

/**
 * A new stand-in bank with the adapter before it: in a style of its own, or as the bank that a
 * profile is of.
 */
export async function openBank(
  style: StyleOptions,
  profileOf: (bank: Bank) => Profile = (bank) => bank.profile(),
): Promise<BankGround> {
  const clock = manualClock()
  const bank = await startBank({ clock, style })
  const connection = bank.connection({ profile: profileOf(bank) })
  const bacen = createBacen({ connectionOf: async () => connection, clock, limits: PATIENT })
  const payee = {
    id: newId(),
    name: 'Padaria São João',
    city: 'São Paulo',
    pixKey: 'dona@example.com',
  }
  return {
    bank,
    bacen,
    connection,
    provider: bacen,
    payee,
    clock,
    disputes: connection.profile.disputes && {
      open: async (endToEndId, amount) => bank.dispute(endToEndId, amount).id,
      async decide(id, decision) {
        bank.decideDispute(id, IN_WORDS_OF_EFI[decision])
        if (decision === 'LOST') bank.returnDisputed(id)
      },
    },
    remembers: true,
    namesParts: true,
    payouts: connection.profile.payouts === null ? null : bacen.payouts,
    agrees: connection.profile.paths.rec !== null,
    pay: async (brCode, amount) => bank.payer.pay(brCode, { amount }).endToEndId,
    // The bank calculates by itself.
    payDue: async (brCode, amount) => {
      const pix = bank.payer.pay(brCode)
      assert.equal(pix.amount, amount)
      return pix.endToEndId
    },
    payKey: async (amount) => bank.payer.payKey(payee.pixKey, amount).endToEndId,
    returnByItself: async (endToEndId, amount) => {
      const { returnId, doneAt } = bank.returnByItself(endToEndId, { amount: toCents(amount) })
      // A bank may use a word that is newer than the document.
      const reason = bank.state().style.extras ? 'OTHER' : 'FRAUD'
      return { returnId, orderId: null, amount: toCents(amount), at: doneAt!, reason }
    },
    decide: async ({ brCode }, decision) => void bank.payer[decision](brCode),
    collect: async (pays) => {
      bank.collect(localDateOf(clock.now()), () => (pays ? 'PAGA' : 'REJEITADA'))
    },
    async withoutRoute(ask) {
      bank.faults.next('*', 'gateway 404', Number.POSITIVE_INFINITY)
      await ask()
      bank.faults.clear()
    },
    verify: () => assert.deepEqual(bank.violations(), []),
    close: async () => {
      await bacen.close()
      await bank.close()
    },
  }
}
