import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId, suffixOf, type Uuid } from '../../src/lib/ids.ts'
import { toCents } from '../../src/lib/money.ts'
import { nextBusinessDay } from '../../src/pix/business-days.ts'
import { addDays, type LocalDate, localDateOf } from '../../src/pix/local-time.ts'
import { type Bacen, createBacen } from '../../src/provider/bacen/bacen.ts'
import type { AgreementOrder, Outcome } from '../../src/provider/port.ts'
import { chargeTxid } from '../../src/provider/txid.ts'
import type { Fault } from '../bank/faults.ts'
import { given, VALUE } from '../support/agreements.ts'
import { type BankGround, openBank } from './conformance-banks.ts'

const FAULTS: Fault[] = [
  'lose answer',
  'drop',
  '5xx',
  '5xx after effect',
  'slow',
  'html',
  'html 200',
  'gateway 404',
  'expired token',
]
/** A slow bank answers when it is let go, and a new token is asked for. */
const RECOVERED: Fault[] = ['slow', 'expired token']
/** Long enough for an answer on a good day; one that is late anyway is no harm where it is used. */
const SHORT = { exchange_ms: 250, connect_ms: 2_000 }

/** An order that is given again and again, and what has come of it at the bank. */
type Order = {
  give(bacen: Bacen): Promise<Outcome<unknown>>
  effects(): number
}

type Kind = {
  /** The operation that carries it out. */
  operation: string
  /** Once for each try. */
  prepare(ground: BankGround): Promise<Order>
}

const AMOUNT = toCents(1234)

const expiresAt = ({ clock }: BankGround) => new Date(clock.now().getTime() + 3_600_000)

const agreementOrder = (ground: BankGround): AgreementOrder => ({
  id: newId(),
  value: VALUE,
  frequency: 'MONTHLY',
  description: 'Pão todo mês',
  payer: { name: 'Maria da Silva', taxId: '52998224725' },
  startsOn: localDateOf(ground.clock.now()),
  retries: true,
  expiresAt: expiresAt(ground),
})

async function approved(ground: BankGround) {
  const order = agreementOrder(ground)
  const made = given(await ground.provider.createAgreement(ground.payee, order))
  ground.bank.payer.approve(made.brCode)
  return { id: order.id, externalId: made.externalId }
}

const dueDay = ({ clock }: BankGround): LocalDate =>
  nextBusinessDay(addDays(localDateOf(clock.now()), 3))

async function scheduled(ground: BankGround): Promise<Uuid> {
  const [id, agreement] = [newId(), await approved(ground)]
  const order = { id, agreement, amount: VALUE, dueOn: dueDay(ground) }
  given(await ground.provider.scheduleCollection(ground.payee, order))
  return id
}

const recsOf = ({ bank }: BankGround, id: Uuid) =>
  [...bank.state().recs.values()].filter(({ contract }) => contract === suffixOf(id))

const KINDS: Record<string, Kind> = {
  'a charge': {
    operation: 'PUT /cob/{txid}',
    async prepare(ground) {
      const charge = { id: newId(), amount: AMOUNT, expiresAt: expiresAt(ground) }
      return {
        give: (bacen) => bacen.issueCharge(ground.payee, charge),
        effects: () => Number(ground.bank.state().charges.has(chargeTxid(charge.id))),
      }
    },
  },
  'a removal': {
    operation: 'PATCH /cob/{txid}',
    async prepare(ground) {
      const charge = { id: newId(), amount: AMOUNT, expiresAt: expiresAt(ground) }
      given(await ground.provider.issueCharge(ground.payee, charge))
      const status = () => ground.bank.state().charges.get(chargeTxid(charge.id))!.status
      return {
        give: (bacen) => bacen.removeCharge(ground.payee, charge),
        effects: () => Number(status() === 'REMOVIDA_PELO_USUARIO_RECEBEDOR'),
      }
    },
  },
  'a refund': {
    operation: 'PUT /pix/{e2eid}/devolucao/{id}',
    async prepare(ground) {
      const { bank, payee } = ground
      const { endToEndId } = bank.payer.payKey(payee.pixKey, 5000)
      const order = { id: newId(), endToEndId, amount: AMOUNT }
      return {
        give: (bacen) => bacen.refund(payee, order),
        effects: () => bank.state().refunds.filter((one) => one.endToEndId === endToEndId).length,
      }
    },
  },
  'an agreement': {
    operation: 'POST /rec',
    async prepare(ground) {
      const order = agreementOrder(ground)
      return {
        give: (bacen) => bacen.createAgreement(ground.payee, order),
        effects: () => recsOf(ground, order.id).length,
      }
    },
  },
  'a place for an agreement': {
    operation: 'POST /locrec',
    async prepare(ground) {
      const order = agreementOrder(ground)
      return {
        give: (bacen) => bacen.createAgreement(ground.payee, order),
        effects: () => recsOf(ground, order.id).length,
      }
    },
  },
  'the end of an agreement': {
    operation: 'PATCH /rec/{idRec}',
    async prepare(ground) {
      const agreement = await approved(ground)
      return {
        give: (bacen) => bacen.cancelAgreement(ground.payee, agreement),
        effects: () =>
          recsOf(ground, agreement.id).filter(({ status }) => status === 'CANCELADA').length,
      }
    },
  },
  'a collection': {
    operation: 'PUT /cobr/{txid}',
    async prepare(ground) {
      const agreement = await approved(ground)
      const order = { id: newId(), agreement, amount: VALUE, dueOn: dueDay(ground) }
      const own = () => ground.bank.state().cobrs.values()
      return {
        give: (bacen) => bacen.scheduleCollection(ground.payee, order),
        effects: () => [...own()].filter(({ recId }) => recId === agreement.externalId).length,
      }
    },
  },
  'a retry': {
    operation: 'POST /cobr/{txid}/retentativa/{data}',
    async prepare(ground) {
      const { bank, clock, payee } = ground
      const id = await scheduled(ground)
      const dueOn = dueDay(ground)
      clock.advance(5 * 86_400)
      bank.collect(dueOn, () => 'REJEITADA')
      const on = addDays(localDateOf(clock.now()), 1)
      return {
        give: (bacen) => bacen.retryCollection(payee, id, on),
        effects: () => bank.state().cobrs.get(chargeTxid(id))!.attempts.length - 1,
      }
    },
  },
  'a canceled collection': {
    operation: 'PATCH /cobr/{txid}',
    async prepare(ground) {
      const id = await scheduled(ground)
      const status = () => ground.bank.state().cobrs.get(chargeTxid(id))!.status
      return {
        give: (bacen) => bacen.cancelCollection(ground.payee, id),
        effects: () => Number(status() === 'CANCELADA'),
      }
    },
  },
  'money that is sent': {
    operation: 'PUT /v3/gn/pix/{idEnvio}',
    async prepare({ bank, payee }) {
      const order = { id: newId(), amount: AMOUNT, pixKey: 'maria@example.com' }
      return {
        give: (bacen) => bacen.payouts.send(payee, order, async () => {}),
        effects: () => Number(bank.state().sends.has(suffixOf(order.id))),
      }
    },
  },
}

const ground = await openBank({ sends: 'efi', probes: true, token: { scopes: 'given' } })
const { bank, clock, connection } = ground
const withShortLimits = createBacen({ connectionOf: async () => connection, clock, limits: SHORT })
after(async () => {
  await withShortLimits.close()
  await ground.close()
})

for (const [name, { operation, prepare }] of Object.entries(KINDS)) {
  test(`${name} that the bank answers badly is never refused, and done once`, async () => {
    for (const fault of FAULTS) {
      const { give, effects } = await prepare(ground)
      bank.faults.next(operation, fault)
      const first = await give(withShortLimits)
      assert.notEqual(first.kind, 'rejected', `${fault}: ${JSON.stringify(first)}`)
      if (first.kind === 'accepted') assert.equal(effects(), 1, fault)
      bank.faults.clear()
      await repeat(() => give(ground.bacen), fault)
      assert.equal(effects(), 1, fault)
    }
    ground.verify()
  })

  test(`${name} at a bank that is gone is unknown, and done once when it is back`, async () => {
    for (const fault of FAULTS.filter((one) => !RECOVERED.includes(one))) {
      const { give, effects } = await prepare(ground)
      bank.faults.next('*', fault, 1000)
      const outcome = await give(ground.bacen)
      assert.equal(outcome.kind, 'unknown', `${fault}: ${JSON.stringify(outcome)}`)
      bank.faults.clear()
      await repeat(() => give(ground.bacen), fault)
      assert.equal(effects(), 1, fault)
    }
    ground.verify()
  })
}

/** If the bank is still at work it says `unknown`, so it is asked once more. */
async function repeat(give: () => Promise<Outcome<unknown>>, fault: string): Promise<void> {
  const outcome = await give()
  if (outcome.kind === 'unknown') given(await give())
  else assert.equal(outcome.kind, 'accepted', `${fault}: ${JSON.stringify(outcome)}`)
}
