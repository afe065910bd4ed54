import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../lib/ids.ts'
import { toCents } from '../../lib/money.ts'
import type { Period } from '../port.ts'
import { given, openScene, type Scene } from './scene.test-support.ts'

const around = ({ clock }: Scene): Period => ({
  from: new Date(clock.now().getTime() - 60_000),
  to: new Date(clock.now().getTime() + 60_000),
})

test('a payment or return that is not understood is set aside, named, and the rest is listed', async () => {
  const scene = await openScene({ style: { mostPerPage: 1 } })
  const { bank, bacen, payee } = scene
  const paid = [1, 2, 3].map(() => bank.payer.payKey(payee.pixKey, 1000).endToEndId)
  const [first, second, third] = paid as [string, string, string]
  const order = { id: newId(), endToEndId: third, amount: toCents(200) }
  const { returnId } = given(await bacen.refund(payee, order))
  bank.style({ garbled: [second, returnId] })
  const received = await bacen.listReceived(payee, around(scene))
  assert.deepEqual(
    given(received).map(({ endToEndId }) => endToEndId),
    [first, third],
  )
  assert.deepEqual('unread' in received && received.unread, [second, returnId])
  const transfers = await bacen.listTransfers(payee, around(scene))
  assert.deepEqual(
    given(transfers).map(({ endToEndId }) => endToEndId),
    [first, third],
  )
  assert.deepEqual('unread' in transfers && transfers.unread, [second, returnId])
  bank.style({ mostPerPage: 10 })
  assert.deepEqual((await bacen.inspect(payee)).dates.unread, [second])
  bank.style({ garbled: [] })
  const understood = await bacen.listReceived(payee, around(scene))
  assert.deepEqual([given(understood).length, 'unread' in understood], [3, false])
})

for (const emptyList of [200, 204, 404] as const)
  test(`an empty list is read where a bank answers with ${emptyList}`, async () => {
    const scene = await openScene({ style: { emptyList } })
    const { bacen, payee } = scene
    assert.deepEqual(given(await bacen.listReceived(payee, around(scene))), [])
    assert.equal(given(await bacen.findAgreement(payee, { id: newId() })), null)
    assert.deepEqual((await bacen.inspect(payee)).faults, [])
  })
