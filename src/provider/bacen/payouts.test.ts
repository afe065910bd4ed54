import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Outcome, SendOrder, Sent } from '../port.ts'
import { given, openScene } from './scene.test-support.ts'

type Kind = 'efi' | 'inter' | 'sicoob'

/** A company at a bank that sends, one order, and the id that the bank has given it. */
async function openSending(sends: Kind) {
  const scene = await openScene({ style: { sends } })
  const { bank, bacen, payee, clock } = scene
  const order: SendOrder = { id: newId(), amount: toCents(1234), pixKey: 'maria@example.com' }
  const send = (): Promise<Outcome<Sent>> =>
    bacen.payouts.send(payee, order, async (reference) => {
      order.reference = reference
    })
  /** The order is given again, as by a worker that does not know what became of it. */
  async function again(): Promise<Outcome<Sent>> {
    order.orderedAt ??= clock.now()
    const found = await bacen.payouts.findSent(payee, order)
    return found.kind === 'accepted' && found.value === null ? send() : (found as Outcome<Sent>)
  }
  const sent = () => [...bank.state().sends.values()].map(({ amount, to }) => [amount, to])
  return { ...scene, order, send, again, sent }
}

const [INTER, CONFIRM] = ['POST /banking/v2/pix', 'POST /pix-pagamentos/v2/pagamentos/confirmacao']
const EFI = 'PUT /v3/gn/pix/{idEnvio}'
const QUESTION = {
  efi: 'GET /v2/gn/pix/enviados',
  inter: 'GET /banking/v2/pix',
  sicoob: 'GET /pix-pagamentos/v2/pagamentos',
}
/** Faults after the bank has sent. */
const LOST = ['lose answer', '5xx after effect', 'empty after effect'] as const
const ONCE = [[1234, 'maria@example.com']]

for (const sends of ['inter', 'sicoob'] as const) {
  test(`${sends}: money is sent to its key, and its end is known`, async () => {
    const { bank, bacen, payee, order, send, sent } = await openSending(sends)
    const { endToEndId } = given(await send())
    assert.deepEqual(sent(), ONCE)
    assert.equal([...bank.state().sends.values()][0]!.endToEndId, endToEndId)
    assert.deepEqual(given(await bacen.payouts.findSent(payee, order)), { endToEndId })
  })

  for (const isDone of [true, false]) {
    test(`${sends}: a bank that is still at it is asked, until it is ${isDone ? 'done' : 'refused'}`, async () => {
      const { bank, send, again, sent } = await openSending(sends)
      bank.course({ sends: 'later' })
      assert.equal((await send()).kind, 'unknown')
      assert.equal((await again()).kind, 'unknown')
      bank.finishSends(isDone)
      assert.equal((await again()).kind, isDone ? 'accepted' : 'rejected')
      assert.equal(sent().length, 1)
    })
  }

  for (const fault of [...LOST, '5xx', 'drop', 'html 200'] as const) {
    test(`${sends}: an order without an answer (${fault}) sends at most once`, async () => {
      const { bank, send, again, sent } = await openSending(sends)
      bank.faults.next(sends === 'inter' ? INTER : CONFIRM, fault)
      const first = await send()
      assert.notEqual(first.kind, 'rejected')
      const second = await again()
      const wasSent = LOST.some((one) => one === fault)
      // What Sicoob has named is not confirmed again, so an operator has to look.
      const isOpen = sends === 'sicoob' && !wasSent
      assert.equal(second.kind, isOpen ? 'unknown' : 'accepted', JSON.stringify(second))
      assert.deepEqual(sent(), isOpen ? [] : ONCE)
    })
  }

  test(`${sends}: a key that nobody has is refused, and nothing is sent`, async () => {
    const { bank, order, send, sent } = await openSending(sends)
    bank.state().foreignKeys.add(order.pixKey)
    assert.equal((await send()).kind, 'rejected')
    assert.deepEqual(sent(), [])
  })
}

test('inter: the refusal of a repeated order leaves it unknown', async () => {
  const { bank, order, send, again, sent } = await openSending('inter')
  bank.faults.next(INTER, 'lose answer')
  assert.equal((await send()).kind, 'unknown')
  bank.state().foreignKeys.add(order.pixKey)
  assert.equal((await again()).kind, 'unknown')
  assert.deepEqual(sent(), ONCE)
})

test('inter: an order without a code is not repeated after an hour', async () => {
  const { bank, clock, order, again, sent } = await openSending('inter')
  order.orderedAt = clock.now()
  clock.advance(3601)
  assert.equal((await again()).kind, 'unknown')
  assert.equal(bank.seen(INTER), 0)
  assert.deepEqual(sent(), [])
})

test('sicoob: nothing is confirmed before its id is stored, and nothing twice', async () => {
  const { bank, bacen, payee, order, send, again, sent } = await openSending('sicoob')
  const failing = bacen.payouts.send(payee, order, () => Promise.reject(new Error('no disk')))
  await assert.rejects(failing, /no disk/)
  assert.equal(bank.seen(CONFIRM), 0)
  assert.deepEqual(sent(), [])
  bank.faults.next(CONFIRM, 'lose answer')
  bank.faults.next(QUESTION.sicoob, '5xx')
  assert.equal((await send()).kind, 'unknown')
  given(await again())
  given(await send())
  assert.equal(bank.seen(CONFIRM), 1)
  assert.deepEqual(sent(), ONCE)
})

test('a bank that sends nothing refuses, and is not asked', async () => {
  const { bank, bacen, payee } = await openScene()
  const order = { id: newId(), amount: toCents(1), pixKey: 'maria@example.com' }
  assert.equal((await bacen.payouts.send(payee, order, async () => {})).kind, 'rejected')
  assert.equal((await bacen.payouts.findSent(payee, order)).kind, 'rejected')
  assert.deepEqual(bank.state().requests, [])
})

for (const sends of ['efi', 'inter', 'sicoob'] as const) {
  test(`${sends}: an order of another amount under our id is not ours`, async () => {
    const { bank, bacen, payee, order, send, again, sent } = await openSending(sends)
    bank.course({ sends: 'later' })
    assert.equal((await send()).kind, 'unknown')
    const [other] = bank.state().sends.values()
    for (const isDone of [true, false]) {
      other!.amount = 1235
      other!.status = isDone ? 'REALIZADO' : 'NAO_REALIZADO'
      for (const outcome of [await bacen.payouts.findSent(payee, order), await again()]) {
        assert.deepEqual(outcome, {
          kind: 'unknown',
          reason: 'an order of another amount has its id',
        })
      }
      assert.equal((await send()).kind, 'unknown')
    }
    assert.equal(sent().length, 1)
  })
}

const NO_ANSWERS = ['5xx', 'drop', 'gateway 404', 'refuse', 'html 200'] as const

for (const fault of NO_ANSWERS) {
  test(`sicoob: a refused confirmation stays unknown while the payment cannot be asked for (${fault})`, async () => {
    const { bank, send, again } = await openSending('sicoob')
    bank.faults.next(CONFIRM, 'refuse')
    // A question whose connection was lost is asked once more.
    bank.faults.next(QUESTION.sicoob, fault, 2)
    assert.equal((await send()).kind, 'unknown')
    bank.faults.clear()
    assert.equal((await again()).kind, 'unknown', 'the bank may not have recorded it yet')
    assert.equal(bank.seen(CONFIRM), 1)
  })

  test(`efi: a refused order stays unknown while it cannot be asked for (${fault})`, async () => {
    const { bank, send } = await openSending('efi')
    bank.faults.next(EFI, 'refuse')
    bank.faults.next(QUESTION.efi, fault, 2)
    assert.equal((await send()).kind, 'unknown')
  })
}

test('sicoob: a refused confirmation of a payment that the bank does not have is a refusal', async () => {
  const { bank, send, sent } = await openSending('sicoob')
  bank.faults.next(CONFIRM, 'refuse')
  assert.deepEqual((await send()).kind, 'rejected')
  assert.deepEqual(sent(), [])
})

test('efi: only a refusal of an order that the bank does not have is a refusal', async () => {
  for (const [fault, kind] of [
    ['refuse', 'rejected'],
    // The bank may be at an order with this id.
    ['conflict', 'unknown'],
    ['gateway 404', 'unknown'],
    ['5xx', 'unknown'],
    ['html 200', 'unknown'],
  ] as const) {
    const { bank, send, sent } = await openSending('efi')
    bank.faults.next(EFI, fault)
    assert.equal((await send()).kind, kind, fault)
    assert.deepEqual(sent(), [])
  }
})

/** What each bank calls an order, and what it means. What is not known has not ended. */
const MEANINGS: Record<Kind, Record<string, Outcome<Sent>['kind']>> = {
  efi: {
    EM_PROCESSAMENTO: 'unknown',
    NOVO_ESTADO: 'unknown',
    NAO_REALIZADO: 'rejected',
    REALIZADO: 'accepted',
  },
  inter: {
    PAGO: 'accepted',
    PIX_PAGO: 'accepted',
    APROVADO: 'unknown',
    AGUARDANDO_APROVACAO: 'unknown',
    AGENDADO: 'unknown',
    NOVO_ESTADO: 'unknown',
    REPROVADO: 'rejected',
    EXPIRADO: 'rejected',
    CANCELADO: 'rejected',
    CANCELADO_SEM_SALDO: 'rejected',
    AGENDAMENTO_CANCELADO: 'rejected',
    NAO_DEBITADO: 'rejected',
    FALHA: 'rejected',
  },
  sicoob: {
    AGENDADO: 'unknown',
    EM_PROCESSAMENTO: 'unknown',
    NOVO_ESTADO: 'unknown',
    REJEITADO: 'rejected',
    NAO_REALIZADO: 'rejected',
    NÃO_REALIZADO: 'rejected',
    FINALIZADO: 'accepted',
  },
}

for (const sends of ['efi', 'inter', 'sicoob'] as const) {
  test(`${sends}: an order has ended only in the states that say so`, async () => {
    const { bank, send, again } = await openSending(sends)
    bank.course({ sends: 'later' })
    await send()
    const [order] = bank.state().sends.values()
    for (const [status, kind] of Object.entries(MEANINGS[sends])) {
      order!.status = status
      assert.equal((await again()).kind, kind, status)
    }
  })
}

for (const sends of ['efi', 'inter'] as const) {
  test(`${sends}: what was sent counts as sent when the bank names it`, async () => {
    const { bank, send, again } = await openSending(sends)
    bank.course({ sends: 'later' })
    await send()
    const [order] = bank.state().sends.values()
    const { endToEndId } = order!
    order!.status = 'REALIZADO'
    order!.endToEndId = ' '
    assert.equal((await again()).kind, 'unknown')
    order!.endToEndId = endToEndId
    assert.deepEqual(given(await again()), { endToEndId })
  })
}
