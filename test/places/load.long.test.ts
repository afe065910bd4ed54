import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { moveCompany } from '../../src/core/moves/move.ts'
import { appsOf } from '../../src/core/places/front.ts'
import { runWorker } from '../../src/serving.ts'
import { startApi } from '../support/api.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { register } from '../support/webhooks.ts'
import { newJournal, requireSame, trade } from './trade.ts'

const api = await startApi({}, { places: 2 })
const apps = appsOf(api.app)
const stopWorkers = runWorker(api.app)
api.atEnd(() => stopWorkers())
const receiver = await startReceiver()

test('a company is moved under load: nothing is lost or doubled, and others notice nothing', async () => {
  const [moved, other] = [await api.client(), await api.client()]
  await register(moved, receiver.url, ['charge.pending', 'charge.paid'])
  const [journal, others] = [newJournal(), newJournal()]
  let isOver = false
  const trading = [
    ...['a', 'b', 'c'].map((name) => trade(moved, name, journal, () => isOver)),
    trade(other, 'o', others, () => isOver),
  ]
  await until('some charges', async () => (journal.charges.length > 20 ? true : null))
  const { id } = moved.company
  const { refused_ms } = await moveCompany({
    companyId: id,
    urls: api.places,
    from: 2,
    to: 1,
    grace_ms: 2_000,
  })
  const count = journal.charges.length
  await until('charges in the new place', async () =>
    journal.charges.length > count + 20 ? true : null,
  )
  isOver = true
  await Promise.all(trading)
  assert.ok(refused_ms < 5_000, `refused for ${refused_ms} ms`)
  assert.equal(others.refused, 0)
  await requireSame(apps[0]!.db, receiver, moved, journal)
  const { faults } = await auditCompany(apps[0]!, id, { whole: true })
  assert.deepEqual(faults, [])
})
