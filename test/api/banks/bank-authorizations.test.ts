import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallbackBatchers, receiveCallback } from '../../../src/core/payments/callbacks.ts'
import { newId, packPair, toPublic } from '../../../src/lib/ids.ts'
import { recurrenceCode } from '../../../src/pix/brcode.ts'
import { addDays, atHour, localDateOf } from '../../../src/pix/local-time.ts'
import { chargeTxid } from '../../../src/provider/txid.ts'
import { VERSION_NAMES } from '../../../src/versions/history.ts'
import { collectDue, processDueCallbacks } from '../../../src/worker/due.ts'
import { given, openScene } from '../../support/agreements.ts'
import { type Client, type Reply, startApi } from '../../support/api.ts'
import { balancesOf, makeCharge } from '../../support/payments.ts'
import { stored } from '../storage.ts'

const api = await startApi()
const { app } = api
const { simulator } = app.providers

/** The callbacks that were processed, and which of their names count as done. */
const processed: { company: string; agreements: string[]; collections: string[] }[] = []
let deals: (name: string) => boolean = () => true
const groups = createCallbackBatchers(app.db, {
  recordReturns: async () => {},
  askDisputes: async () => true,
  syncNamed: async (_app, company, _provider, names) => {
    processed.push({ company: company.id, ...names })
    return new Set([...names.agreements, ...names.collections].filter((name) => deals(name)))
  },
})
Object.assign(app.callbacks, groups)

const processedOf = ({ company }: Client) =>
  processed
    .filter((one) => one.company === company.id)
    .map(({ agreements, collections }) => ({ agreements, collections }))

const decide = (json: unknown, headers = {}): Promise<Reply> =>
  api.call('POST', '/bank/authorizations', { json, headers })

const waiting = async ({ company }: Client) =>
  (
    await api.rows('select 1 from bank_callbacks where company_id = $1 and processed_at is null', [
      company.id,
    ])
  ).length

async function open() {
  const client = await api.client()
  return { client, scene: openScene(api, client.company) }
}

test('a payer approves: the bank answers, records it, and calls back', async () => {
  const { client, scene } = await open()
  const { id, brCode, externalId } = await scene.agree()
  api.clock.advance(30)
  const decidedAt = api.clock.now()
  const reply = await decide({ emv: ` ${brCode}\n`, decision: 'approve' })
  assert.deepEqual(reply.body, {
    status: 200,
    message: 'Decision taken.',
    errors: [],
    data: {
      recurrenceId: toPublic('rec', id),
      externalRecurrenceId: externalId,
      recurrenceAuthStatus: 'APPROVED',
      decidedAt: decidedAt.toISOString(),
      receiver: { name: 'Padaria São João', city: 'Sao Paulo' },
      amount: 1990,
      frequency: 'MONTHLY',
    },
  })
  const { status, ...found } = given(await simulator.findAgreement(client.company, { id }))!
  assert.deepEqual([status, found.decidedAt], ['APPROVED', decidedAt])
  assert.deepEqual(processedOf(client), [{ agreements: [externalId], collections: [] }])
  assert.equal(await waiting(client), 0)
})

test('every decision that is possible is answered with its status, the impossible with 409', async () => {
  const { scene } = await open()
  const [first, second] = [await scene.agree(), await scene.agree()]
  const steps = [
    [first, 'reject', 200, 'REJECTED'],
    [first, 'reject', 200, 'REJECTED'],
    [first, 'approve', 409, 'emv: the agreement is REJECTED and cannot be approved.'],
    [second, 'approve', 200, 'APPROVED'],
    [second, 'reject', 409, 'emv: the agreement is APPROVED and cannot be rejected.'],
    [second, 'cancel', 200, 'CANCELED'],
    [second, 'approve', 409, 'emv: the agreement is CANCELED and cannot be approved.'],
  ] as const
  for (const [{ brCode: emv }, decision, status, says] of steps) {
    const reply = await decide({ emv, decision })
    assert.equal(reply.status, status, reply.text)
    if (status === 200) assert.equal(reply.body.data.recurrenceAuthStatus, says)
    else {
      const [error] = reply.body.errors
      assert.deepEqual(error, { code: 'recurrence_not_decidable', description: says })
    }
  }
  const late = await scene.agree()
  api.clock.advance(24 * 3600)
  const reply = await decide({ emv: late.brCode, decision: 'approve' })
  assert.match(reply.body.errors[0].description, /EXPIRED/)
})

test('funds: the payer’s account is emptied and filled by approving again', async () => {
  const { client, scene } = await open()
  const agreement = await scene.agree()
  const emv = agreement.brCode
  const dueOn = addDays(localDateOf(api.clock.now()), 2)
  const outcomes: string[] = []
  for (const funds of [false, undefined, true]) {
    assert.equal((await decide({ emv, decision: 'approve', funds })).status, 200)
    given(await scene.schedule({ ...agreement, status: 'APPROVED' }, { dueOn }))
    const [collected] = await simulator.collectDue(client.company.id, atHour(dueOn, 8), 1)
    outcomes.push(collected!.status)
  }
  assert.deepEqual(outcomes, ['FAILED', 'FAILED', 'PAID'])
})

test('what is no decision on a code of this bank is refused by name, and nothing is stored', async () => {
  const { client, scene } = await open()
  const { brCode: emv, id } = await scene.agree()
  const { brCode } = await makeCharge(client, 1990)
  const forged = (companyId: string, agreementId: string) =>
    recurrenceCode({
      location: `vintem.test/rec/${packPair(companyId, agreementId)}`,
      name: 'Outra Loja',
      city: 'Recife',
    })
  const before = await stored(api)
  const cases: [unknown, number, string, RegExp][] = [
    [{}, 400, 'invalid_value', /^emv: /],
    [{ emv }, 400, 'invalid_value', /^decision: /],
    [{ emv, decision: 'APPROVE' }, 400, 'invalid_value', /^decision: /],
    [{ emv, decision: 'approve', funds: 'yes' }, 400, 'invalid_value', /^funds: /],
    [{ emv: 7, decision: 'approve' }, 400, 'invalid_value', /^emv: /],
    [{ emv: 'x'.repeat(513), decision: 'approve' }, 400, 'invalid_value', /^emv: /],
    [{ emv: `${emv.slice(0, -4)}0000`, decision: 'approve' }, 400, 'invalid_value', /bad-crc/],
    [{ emv: brCode, decision: 'approve' }, 400, 'invalid_value', /^emv: is a code to pay/],
    ...[forged(client.company.id, id), forged(client.company.id, newId()), forged(newId(), id)].map(
      (code): [unknown, number, string, RegExp] => [
        { emv: code, decision: 'approve' },
        404,
        'recurrence_not_found',
        /^emv: /,
      ],
    ),
  ]
  for (const [json, status, code, line] of cases) {
    const reply = await decide(json)
    assert.deepEqual([reply.status, reply.body.errors[0].code], [status, code], reply.text)
    assert.match(reply.body.errors[0].description, line)
  }
  assert.deepEqual(await stored(api), before)
  assert.equal(given(await simulator.findAgreement(client.company, { id }))!.status, 'CREATED')
})

test('an answer has the headers and the shape of every other', async () => {
  const { scene } = await open()
  const { brCode: emv } = await scene.agree()
  for (const version of VERSION_NAMES) {
    const isOld = version === '2025-01-01'
    for (const [json, field] of [
      [{ emv, decision: 'approve' }, isOld ? 'recurrenceId' : 'data'],
      [{ emv: 'x', decision: 'approve' }, isOld ? 'statusCode' : 'errors'],
    ] as const) {
      const reply = await decide(json, { 'X-Api-Version': version })
      assert.match(reply.headers.get('x-request-id') ?? 'none', /^[0-9a-z]{26}$/)
      assert.equal(reply.headers.get('x-api-version'), version)
      assert.ok(field in reply.body, reply.text)
    }
  }
})

test('what the bank collects is recorded and announced: payments first, then every collection', async () => {
  const { client, scene } = await open()
  const [rich, poor] = [await scene.approve({}, true), await scene.approve({}, false)]
  const [paid, failed] = [newId(), newId()]
  given(await scene.schedule(rich, { id: paid, inDays: 2 }))
  given(await scene.schedule(poor, { id: failed, inDays: 2 }))
  await collectDue.run(app)
  assert.deepEqual(processedOf(client), [], 'nothing is due yet')
  api.clock.advance(2 * 24 * 3600)
  for (let round = 0; round < 2; round++) await collectDue.run(app)
  const [names, ...others] = processedOf(client)
  assert.deepEqual([others, names!.agreements], [[], []])
  assert.deepEqual(names!.collections.toSorted(), [paid, failed].map(chargeTxid).sort())
  // No charge of ours has this txid here, so the money waits where no money is lost.
  assert.equal((await balancesOf(api, client)).unmatched, 1990)
  assert.equal(await waiting(client), 0)
})

test('a company with a moved clock is collected for by that clock, unless it is moving', async () => {
  const { client } = await open()
  const ahead_ms = 30 * 24 * 3600 * 1000
  const scene = openScene(api, { ...client.company, clockAhead_ms: ahead_ms })
  const id = newId()
  given(await scene.schedule(await scene.approve(), { id, inDays: 2 }))
  const [company, later] = [client.company.id, ahead_ms + 2 * 24 * 3600 * 1000]
  const setClock = (ms: number, target: Date | null) =>
    api.rows(
      `insert into test_clocks (company_id, ahead_ms, target) values ($1, $2, $3)
       on conflict (company_id) do update set ahead_ms = $2, target = $3`,
      [company, ms, target],
    )
  const steps: [number, Date | null, string][] = [
    [ahead_ms, null, 'SCHEDULED'],
    [later, new Date('2030-01-01'), 'SCHEDULED'],
    [later, null, 'PAID'],
  ]
  for (const [ms, target, status] of steps) {
    await setClock(ms, target)
    await collectDue.run(app)
    assert.equal(given(await simulator.findCollection(client.company, id))!.status, status)
  }
  const [pix] = await scene.received()
  assert.equal(pix!.receivedAt.getTime(), api.clock.now().getTime() + later)
})

test('the callback of a canceled agreement names the collections that ended with it', async () => {
  const { client, scene } = await open()
  const agreement = await scene.approve()
  const id = newId()
  given(await scene.schedule(agreement, { id }))
  await decide({ emv: agreement.brCode, decision: 'cancel' })
  const { externalId } = agreement
  assert.deepEqual(processedOf(client), [
    { agreements: [externalId], collections: [chargeTxid(id)] },
  ])
})

test('a name that is not done is tried again until it is, also after a failure', async () => {
  const { client } = await open()
  const body = { recs: [{ idRec: 'R1' }, { idRec: 'R2' }] }
  deals = (name) => name === 'R1'
  const first = await receiveCallback(app, client.company.id, 'simulator', body)
  assert.equal(await first.processed, 'unconfirmed')
  deals = () => {
    throw new Error('the bank is away')
  }
  api.clock.advance(60)
  await processDueCallbacks.run(app)
  assert.equal(await waiting(client), 1)
  deals = () => true
  api.clock.advance(120)
  await processDueCallbacks.run(app)
  assert.equal(await waiting(client), 0)
  const expected = { agreements: ['R1', 'R2'], collections: [] }
  assert.deepEqual(processedOf(client), [expected, expected, expected])
})
