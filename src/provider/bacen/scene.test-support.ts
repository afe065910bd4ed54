import assert from 'node:assert/strict'
import { after } from 'node:test'
import { type Bank, type StyleOptions, startBank } from '../../../test/bank/bank.ts'
import { type ManualClock, manualClock } from '../../../test/support/api.ts'
import { PATIENT } from '../../../test/support/patience.ts'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { DueTerms } from '../../pix/due-amount.ts'
import type { AgreementOrder, ChargeOrder, Outcome, Payee } from '../port.ts'
import { type Bacen, createBacen, type Limits } from './bacen.ts'
import type { Connection } from './connection.ts'

export type Scene = {
  bank: Bank
  bacen: Bacen
  clock: ManualClock
  payee: Payee
  /** The company is connected in this way from now on; null for no bank. */
  connect(connection: Connection | null): void
  /** How often the connection was read. */
  reads(): number
}

/** A company whose bank is a stand-in. At the end nothing may have broken the document. */
export async function openScene(
  options: {
    style?: StyleOptions
    limits?: Partial<Limits>
    connection?: Partial<Connection>
  } = {},
): Promise<Scene> {
  const clock = manualClock()
  const bank = await startBank({ clock, style: options.style ?? {} })
  let connection: Connection | null = bank.connection(options.connection)
  const limits = { ...PATIENT, ...options.limits }
  let reads = 0
  const connectionOf = async () => {
    reads += 1
    return connection
  }
  const bacen = createBacen({ clock, limits, connectionOf })
  after(async () => {
    await bacen.close()
    await bank.close()
    assert.deepEqual(bank.violations(), [])
  })
  const payee = { id: newId(), name: 'Padaria', city: 'São Paulo', pixKey: 'pix@padaria.example' }
  const connect = (other: Connection | null) => {
    connection = other
  }
  return { bank, bacen, clock, payee, connect, reads: () => reads }
}

/** Asks again while nothing is known: where a limit is short, a slow machine goes beyond it. */
export async function known<T>(ask: () => Promise<Outcome<T>>): Promise<T> {
  for (;;) {
    const outcome = await ask()
    if (outcome.kind !== 'unknown') return given(outcome)
  }
}

export function given<T>(outcome: Outcome<T>): T {
  assert.ok(outcome.kind === 'accepted', JSON.stringify(outcome))
  return outcome.value
}

export const newCharge = ({ clock }: Scene, amount = 1234) => ({
  id: newId(),
  amount: toCents(amount),
  expiresAt: new Date(clock.now().getTime() + 3_600_000),
})

/** A charge that is due on a Friday, a week after the beginning of a scene. */
export const newDueCharge = (scene: Scene, terms: Partial<DueTerms> = {}): ChargeOrder => ({
  ...newCharge(scene, 100_000),
  payer: { name: 'Ana Souza', taxId: '52998224725' },
  due: { terms: { dueDate: '2026-08-28', daysAfterDue: 30, ...terms } },
})

export const newAgreement = ({ clock }: Scene): AgreementOrder => ({
  id: newId(),
  value: toCents(2990),
  frequency: 'MONTHLY',
  description: 'Clube do pão',
  payer: { name: 'Ana Souza', taxId: '52998224725' },
  startsOn: '2026-09-01',
  retries: true,
  expiresAt: new Date(clock.now().getTime() + 86_400_000),
})
