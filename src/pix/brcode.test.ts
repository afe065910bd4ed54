import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { crc16, dynamicCode, parse, recurrenceCode, staticCode, writtenFields } from './brcode.ts'
import vectors from './vectors.test-data.json' with { type: 'json' }

const FULANO = { name: 'Fulano de Tal', city: 'BRASILIA' }
const KEY = '123e4567-e12b-12d1-a456-426655440000'
const CHARGE = 'pix.example.com/8b3da2f39a4140d1a91abd93113bd441'
const RECURRENCE = 'pix.example.com/rec/2353c790eefb11eaadc10242ac120002'

const reference = fc.stringMatching(/^[!-~]{1,77}$/)
const location = reference.filter((text) => !text.includes('://'))
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
)

function reseal(code: string, change: (body: string) => string): string {
  const body = change(code.slice(0, -4))
  return body + crc16(body)
}

test('the checksum is CRC-16/CCITT-FALSE', () => {
  assert.equal(crc16('123456789'), '29B1')
  assert.equal(crc16(''), 'FFFF')
})

test('the codes are those of the Central Bank, character for character', () => {
  assert.equal(staticCode({ key: KEY, ...FULANO }), vectors.goodCodes['bcb-manual-static'])
  assert.equal(
    dynamicCode({ location: CHARGE, ...FULANO }),
    vectors.goodCodes['bcb-manual-dynamic'],
  )
  const recurrence = recurrenceCode({ location: RECURRENCE, ...FULANO })
  assert.equal(recurrence, vectors.goodCodes['bcb-manual-rec-only-J2'])
})

test('a static code carries amount and text', () => {
  const code = staticCode({
    key: 'thalesog@me.com',
    amount: 1000,
    text: 'Pedido 123',
    name: 'THALES OGLIARI',
    city: 'SAO MIGUEL DO O',
  })
  assert.equal(code, vectors.goodCodes['pix-utils-static-amount'])
})

test('every published code is read, in lower-case checksum too', () => {
  for (const [id, code] of Object.entries(vectors.goodCodes)) {
    const read = parse(code)
    assert.notEqual(read.kind, 'fault', id)
    assert.deepEqual(parse(code.slice(0, -4) + code.slice(-4).toLowerCase()), read, id)
  }
})

test('a static code is read with all it holds', () => {
  assert.deepEqual(parse(vectors.goodCodes['pix-utils-bcb-sandbox-static-rec']), {
    kind: 'static',
    key: 'f4c6089a-bfde-4c00-a2d9-9eaa584b0219',
    text: 'CobrancaEstatica',
    amount: 65034,
    txid: '80a2d0a923984e8dbb80b4adf',
    name: 'Pix',
    city: 'BRASILIA',
    recurrenceLocation: 'qr-h.sandbox.pix.bcb.gov.br/rest/api/rec/d7913bcbfc4947c9811669db12b40374',
  })
})

test('a dynamic code is read with both locations', () => {
  assert.deepEqual(parse(vectors.goodCodes['bcb-manual-dynamic-rec-J3']), {
    kind: 'dynamic',
    location: CHARGE,
    ...FULANO,
    recurrenceLocation: RECURRENCE,
  })
})

test('a recurrence code is read as one that charges nothing', () => {
  assert.deepEqual(parse(vectors.goodCodes['bcb-manual-rec-only-J2']), {
    kind: 'recurrence',
    ...FULANO,
    recurrenceLocation: RECURRENCE,
  })
})

test('any template from 26 to 51, and 80 to 99, is read, with the GUI in any case', () => {
  const read = parse(vectors.goodCodes['bcb-manual-dynamic-rec-J3'])
  for (let id = 26; id <= 51; id++) {
    const code = reseal(vectors.goodCodes['bcb-manual-dynamic-rec-J3'], (body) =>
      body.replace('26700014br.gov.bcb.pix', `${id}700014BR.GOV.BCB.PIX`),
    )
    assert.deepEqual(parse(code), read, String(id))
  }
  for (let id = 80; id <= 99; id++) {
    const code = reseal(vectors.goodCodes['bcb-manual-dynamic-rec-J3'], (body) =>
      body.replace('80740014br.gov.bcb.pix', `${id}740014Br.Gov.Bcb.Pix`),
    )
    assert.deepEqual(parse(code), read, String(id))
  }
})

test('the template of another scheme is passed over', () => {
  const code = reseal(vectors.goodCodes['bcb-manual-dynamic'], (body) =>
    body.replace('2670', '26120008com.othr2704junk5170'),
  )
  assert.deepEqual(parse(code), parse(vectors.goodCodes['bcb-manual-dynamic']))
})

test('every fault is named with its field', () => {
  const good = vectors.goodCodes['bcb-manual-static-rec-J4']
  const without = (part: string) => reseal(good, (body) => body.replace(part, ''))
  const swap = (from: string, to: string) => reseal(good, (body) => body.replace(from, to))
  const faults: [string, string, string?][] = [
    [vectors.badCodes['bad-crc'], 'bad-crc'],
    [vectors.badCodes['template-too-long'], 'bad-length'],
    ['', 'bad-character'],
    [good.replace('Fulano', 'Fulâno'), 'bad-character'],
    [good + good + good, 'too-long'],
    [good.slice(0, -8), 'missing-field', '63'],
    [good.slice(0, -1), 'missing-field', '63'],
    [` ${good}`, 'bad-crc'],
    [without('000201'), 'missing-field', '00'],
    [without('52040000'), 'missing-field', '52'],
    [without('5303986'), 'missing-field', '53'],
    [without('5802BR'), 'missing-field', '58'],
    [without('5913Fulano de Tal'), 'missing-field', '59'],
    [without('6008BRASILIA'), 'missing-field', '60'],
    [without('62070503***'), 'missing-field', '62.05'],
    [swap('26580014br', '26580014xx'), 'missing-field', '26'],
    [swap('000201', '000202'), 'bad-value', '00'],
    [swap('5303986', '5303840'), 'bad-value', '53'],
    [swap('5406100.50', '5406100,50'), 'bad-value', '54'],
    [swap('5802BR', '5802US'), 'bad-value', '58'],
    [swap('62070503***', '62070503*-*'), 'bad-value', '62.05'],
    [swap('62070503***', '62070504***'), 'bad-length', '62'],
    [swap('5802BR', '5802BR5802BR'), 'repeated-field', '58'],
    [swap('5802BR', '58025802BR'), 'bad-length'],
    [swap('6008BRASILIA', '6000'), 'bad-length', '60'],
    // Both ends look right, but the first field is not 00, or the last one includes the checksum.
    [swap('000201', '010211000201'), 'missing-field', '00'],
    [swap('80740014', '80820014'), 'missing-field', '63'],
  ]
  for (const [code, reason, field] of faults) {
    const read = parse(code)
    assert.ok(read.kind === 'fault', code)
    assert.equal(read.reason, reason, code)
    if (field !== undefined) assert.equal(read.field, field, code)
  }
})

test('a code with neither key nor location, or with both, is refused', () => {
  const nothing = reseal(vectors.goodCodes['bcb-manual-static'], (body) =>
    body.replace(`26580014br.gov.bcb.pix0136${KEY}`, '26180014br.gov.bcb.pix'),
  )
  assert.deepEqual(parse(nothing), { kind: 'fault', reason: 'missing-field', field: '26.25' })
  const both = reseal(vectors.goodCodes['bcb-manual-static'], (body) =>
    body.replace(`2658`, '2667').replace(KEY, `${KEY}2505a.b/c`),
  )
  assert.deepEqual(parse(both), { kind: 'fault', reason: 'bad-value', field: '26' })
})

test('changing any one character of a code is noticed', () => {
  const code = vectors.goodCodes['bcb-manual-dynamic']
  for (let at = 0; at < code.length; at++) {
    const changed = code.slice(0, at) + (code[at] === '7' ? '8' : '7') + code.slice(at + 1)
    assert.equal(parse(changed).kind, 'fault', changed)
  }
})

test('no text makes the reader throw', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(parse(text).kind, 'fault')
      parse(reseal(`${text}6304....`, (body) => body))
    }),
  )
})

test('what is written is read back, whatever the names', () => {
  const input = fc.record({ key: reference, name: anyText, city: anyText })
  const amount = fc.option(fc.integer({ min: 1, max: 999_999_999_999 }), { nil: undefined })
  const txid = fc.option(fc.stringMatching(/^[A-Za-z0-9]{1,25}$/), { nil: undefined })
  fc.assert(
    fc.property(input, amount, txid, (merchant, cents, id) => {
      const read = parse(staticCode({ ...merchant, amount: cents, txid: id, text: 'Pedido' }))
      assert.ok(read.kind === 'static')
      assert.equal(read.key, merchant.key)
      assert.equal(read.amount, cents)
      assert.equal(read.txid, id)
      assert.match(read.name, /^[!-~]([ -~]{0,23}[!-~])?$/)
      assert.match(read.city, /^[!-~]([ -~]{0,13}[!-~])?$/)
    }),
  )
  fc.assert(
    fc.property(location, input, (where, merchant) => {
      const dynamic = parse(dynamicCode({ location: where, ...merchant }))
      assert.ok(dynamic.kind === 'dynamic' && dynamic.location === where)
      const recurrence = parse(recurrenceCode({ location: where, ...merchant }))
      assert.ok(recurrence.kind === 'recurrence' && recurrence.recurrenceLocation === where)
    }),
  )
})

test('names become printable ASCII, cut to size, and are never empty', () => {
  const written = (name: string, city: string) => {
    const read = parse(dynamicCode({ location: CHARGE, name, city }))
    assert.ok(read.kind === 'dynamic')
    return [read.name, read.city]
  }
  assert.deepEqual(written('Padaria Pão & Açúcar', 'São Paulo'), [
    'Padaria Pao & Acucar',
    'Sao Paulo',
  ])
  assert.deepEqual(written('D’Ávila – 1º andar', '  Ji‑Paraná\n'), [
    "D'Avila - 1o andar",
    'Ji-Parana',
  ])
  assert.deepEqual(written('Loja 🎉🎉 Festa', 'Mogi\tGuaçu'), ['Loja Festa', 'Mogi Guacu'])
  assert.deepEqual(written('zero\u200dwidth', 'x'), ['zerowidth', 'x'])
  assert.deepEqual(written('東京', '🏙️'), ['PIX', 'BRASIL'])
  assert.deepEqual(written('', '   '), ['PIX', 'BRASIL'])
  const long = written('Comércio de Alimentos do Brasil', 'São José dos Campos')
  assert.deepEqual(long, ['Comercio de Alimentos do', 'Sao Jose dos Ca'])
})

test('the text is cut to what the key leaves of its template', () => {
  const read = (key: string) => {
    const code = parse(staticCode({ key, text: 'Ação'.repeat(30), ...FULANO }))
    assert.ok(code.kind === 'static')
    return code.text
  }
  assert.equal(read(KEY)?.length, 37)
  assert.equal(read('a@b')?.length, 70)
  assert.equal(read('k')?.length, 72)
  assert.equal(read('k'.repeat(73)), undefined)
  assert.equal(read('k'.repeat(77)), undefined)
})

test('an amount has two decimals', () => {
  const amountField = (amount: number) =>
    /986(54.*)5802BR/.exec(staticCode({ key: 'k', amount, ...FULANO }))?.[1]
  assert.equal(amountField(1), '54040.01')
  assert.equal(amountField(10), '54040.10')
  assert.equal(amountField(123_456), '54071234.56')
  assert.equal(amountField(999_999_999_999), '54139999999999.99')
})

test('a code that breaks a limit is not returned', () => {
  const fails = (call: () => string) => assert.throws(call, /assertion failed/)
  for (const where of ['', 'a'.repeat(78), 'https://a.b/c', 'a b', 'á']) {
    fails(() => dynamicCode({ location: where, ...FULANO }))
    fails(() => recurrenceCode({ location: where, ...FULANO }))
  }
  for (const key of ['', 'a'.repeat(78), 'a b', 'é']) fails(() => staticCode({ key, ...FULANO }))
  for (const amount of [0, -1, 1.5, 1_000_000_000_000, Number.NaN]) {
    fails(() => staticCode({ key: KEY, amount, ...FULANO }))
  }
  for (const txid of ['', 'a-b', 'a'.repeat(26)])
    fails(() => staticCode({ key: KEY, txid, ...FULANO }))
})

test('the fields of a code are listed as they are written, those of templates one by one', () => {
  const fields = writtenFields(staticCode({ key: 'a@b.co', name: 'Ana', city: 'Recife' }))
  assert.deepEqual(
    fields.map(({ id, value }) => `${id}=${value}`).slice(0, -1),
    [
      '00=01',
      '26.00=br.gov.bcb.pix',
      '26.01=a@b.co',
      '52=0000',
      '53=986',
      '58=BR',
      '59=Ana',
    ].concat(['60=Recife', '62.05=***']),
  )
  assert.equal(fields.at(-1)?.id, '63')
  assert.deepEqual(writtenFields('no code'), [])
})
