import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type DueTerms, INTEREST_TYPES } from '../../pix/due-amount.ts'
import { startOfDay } from '../../pix/local-time.ts'
import type { Outcome } from '../port.ts'
import { chargeTxid } from '../txid.ts'
import { given, newDueCharge, openScene } from './scene.test-support.ts'

const FIXED = { type: 'FIXED', value: 150 } as const
const PERCENT = { type: 'PERCENT', value: 250 } as const
const until = (day: string) => ({ until: `2026-08-${day}` })

/** Terms of every kind, and how API Pix writes them. */
const KINDS: [terms: Partial<DueTerms>, written: object][] = [
  [{}, {}],
  [{ fine: FIXED }, { multa: { modalidade: 1, valorPerc: '1.50' } }],
  [{ fine: PERCENT }, { multa: { modalidade: 2, valorPerc: '2.50' } }],
  [{ rebate: FIXED }, { abatimento: { modalidade: 1, valorPerc: '1.50' } }],
  [{ rebate: PERCENT }, { abatimento: { modalidade: 2, valorPerc: '2.50' } }],
  ...INTEREST_TYPES.flatMap((type, i): [Partial<DueTerms>, object][] => [
    [
      { interest: { type, value: 33, days: 'CALENDAR' } },
      { juros: { modalidade: i + 1, valorPerc: '0.33' } },
    ],
    [
      { interest: { type, value: 33, days: 'BUSINESS' } },
      { juros: { modalidade: i + 5, valorPerc: '0.33' } },
    ],
  ]),
  [
    {
      discounts: [
        { ...PERCENT, ...until('21') },
        { ...PERCENT, value: 100, ...until('28') },
      ],
    },
    {
      desconto: {
        modalidade: 2,
        descontoDataFixa: [
          { data: '2026-08-21', valorPerc: '2.50' },
          { data: '2026-08-28', valorPerc: '1.00' },
        ],
      },
    },
  ],
  [
    { discountPerDay: { ...FIXED, days: 'CALENDAR' } },
    { desconto: { modalidade: 3, valorPerc: '1.50' } },
  ],
  [
    { discountPerDay: { ...FIXED, days: 'BUSINESS' } },
    { desconto: { modalidade: 4, valorPerc: '1.50' } },
  ],
  [
    { discountPerDay: { type: 'PERCENT', value: 5, days: 'CALENDAR' } },
    { desconto: { modalidade: 5, valorPerc: '0.05' } },
  ],
  [
    { discountPerDay: { type: 'PERCENT', value: 5, days: 'BUSINESS' } },
    { desconto: { modalidade: 6, valorPerc: '0.05' } },
  ],
]

test('terms of every kind reach the bank as its document writes them', async () => {
  const scene = await openScene()
  for (const [terms, written] of KINDS) {
    const charge = newDueCharge(scene, terms)
    given(await scene.bacen.issueCharge(scene.payee, charge))
    const known = scene.bank.state().charges.get(chargeTxid(charge.id))!
    assert.deepEqual(known.due, { on: '2026-08-28', daysAfter: 30, ...written })
    assert.equal(known.amount, 100_000)
    // Issued again it is the same charge.
    given(await scene.bacen.issueCharge(scene.payee, charge))
  }
  assert.equal(scene.bank.state().charges.size, KINDS.length)
})

test('a long name and a long description are cut to what the document allows', async () => {
  const scene = await openScene()
  const charge = {
    ...newDueCharge(scene),
    payer: { name: 'José '.repeat(60), taxId: '11222333000181' },
    description: 'Mensalidade\n de agosto '.repeat(20),
  }
  given(await scene.bacen.issueCharge(scene.payee, charge))
  const { debtor, message } = scene.bank.state().charges.get(chargeTxid(charge.id))!
  assert.ok(debtor!.nome.length <= 200 && debtor!.cnpj === '11222333000181')
  assert.ok(message!.length <= 140 && !message!.includes('\n'))
})

const reasonOf = (outcome: Outcome<unknown>): string => {
  assert.ok(outcome.kind === 'rejected', JSON.stringify(outcome))
  return outcome.reason
}

test('a charge with a due date needs a payer, and the bank is not asked without', async () => {
  const scene = await openScene()
  const charge = { ...newDueCharge(scene), payer: null }
  const reason = reasonOf(await scene.bacen.issueCharge(scene.payee, charge))
  assert.match(reason, /^with dueDate .*name and tax id/)
  assert.equal(scene.bank.seen('PUT /cobv/{txid}'), 0)
})

test('a bank that does not offer due dates refuses in words that name dueDate', async () => {
  const scene = await openScene()
  const { bank, bacen, payee, connect } = scene
  const refused = async () => reasonOf(await bacen.issueCharge(payee, newDueCharge(scene)))
  for (const cobv of [403, 404] as const) {
    bank.style({ cobv })
    assert.match(await refused(), /^it offers no charges with a due date, so leave out dueDate/)
  }
  bank.style({ cobv: 'offered' })
  const { profile } = bank.connection()
  connect(bank.connection({ profile: { ...profile, paths: { ...profile.paths, cobv: null } } }))
  const asked = bank.seen('PUT /cobv/{txid}')
  assert.match(await refused(), /^it offers no charges with a due date, so leave out dueDate/)
  assert.equal(bank.seen('PUT /cobv/{txid}'), asked)
})

test('a refusal of the terms is in the words of the bank', async () => {
  const scene = await openScene()
  const charge = newDueCharge(scene, { dueDate: '2026-08-19' })
  const reason = reasonOf(await scene.bacen.issueCharge(scene.payee, charge))
  assert.match(reason, /anterior à data de criação/)
})

/** How the terms of a charge that the bank has may differ from those that were ordered. */
const OTHERS: object[] = [
  { on: '2026-08-31' },
  { daysAfter: 29 },
  { multa: { modalidade: 1, valorPerc: '2.50' } },
  { multa: { modalidade: 2, valorPerc: '2.51' } },
  { juros: { modalidade: 3, valorPerc: '1.00' } },
  { abatimento: { modalidade: 1, valorPerc: '1.00' } },
  { desconto: { modalidade: 2, descontoDataFixa: [{ data: '2026-08-21', valorPerc: '2.50' }] } },
]

test('a charge of other terms that has its id is rejected, and one that says less is not', async () => {
  const scene = await openScene({ style: { repeated: 409 } })
  const { bank, bacen, payee } = scene
  const discounts = [{ ...PERCENT, ...until('24') }]
  const charge = newDueCharge(scene, { fine: PERCENT, discounts })
  given(await bacen.issueCharge(payee, charge))
  const known = bank.state().charges.get(chargeTxid(charge.id))!
  const own = known.due!
  for (const other of OTHERS) {
    known.due = { ...own, ...other }
    assert.equal(
      reasonOf(await bacen.issueCharge(payee, charge)),
      'a charge of other terms has its id',
    )
  }
  // Zero is nothing, and some banks leave out what was ordered.
  known.due = { ...own, abatimento: { modalidade: 1, valorPerc: '0.00' } }
  given(await bacen.issueCharge(payee, charge))
  const { multa: _, desconto: __, ...less } = own
  known.due = less
  given(await bacen.issueCharge(payee, charge))
  known.amount = 99_999
  reasonOf(await bacen.issueCharge(payee, charge))
})

for (const fault of ['lose answer', '5xx after effect', 'drop'] as const) {
  test(`${fault}: a charge with a due date is asked about at its own place`, async () => {
    const scene = await openScene()
    scene.bank.faults.next('PUT /cobv', fault)
    given(await scene.bacen.issueCharge(scene.payee, newDueCharge(scene)))
    assert.equal(scene.bank.seen('GET /cobv/{txid}'), 1)
    assert.equal(scene.bank.state().charges.size, 1)
  })
}

test('parts that do not add up to the amount are left out, and the payment is read', async () => {
  const scene = await openScene()
  const { bank, bacen, payee } = scene
  const charge = newDueCharge(scene, { fine: PERCENT })
  given(await bacen.issueCharge(payee, charge))
  const named = (valor: string) => ({ componentesValor: { original: { valor }, multa: { valor } } })
  const at = startOfDay('2026-09-02')
  bank.payer.pay(chargeTxid(charge.id), { at, extras: named('500.00') })
  bank.payer.pay(chargeTxid(charge.id), { at, amount: 100_000, extras: named('500.00') })
  bank.payer.pay(chargeTxid(charge.id), { at })
  const free = { ...named('25.00').componentesValor, desconto: { valor: '25.00' } }
  bank.payer.pay(chargeTxid(charge.id), { at, amount: 2500, extras: { componentesValor: free } })
  const paid = given(await bacen.findPaid(payee, charge))
  const parts = (original: number, fine: number) => ({
    original,
    fine,
    interest: 0,
    discount: 0,
    rebate: 0,
  })
  assert.deepEqual(
    paid.map((pix) => [pix.amount, pix.parts]),
    [
      [102_500, undefined],
      [100_000, parts(50_000, 50_000)],
      [102_500, parts(100_000, 2500)],
      [2500, undefined],
    ],
  )
})
