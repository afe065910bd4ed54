import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { post } from '../src/ledger/post.ts'
import { chargePaid, chargeReleased } from '../src/ledger/recipes.ts'
import { fromPublic } from '../src/lib/ids.ts'
import { toCents } from '../src/lib/money.ts'
import { formatMoment } from '../src/pix/local-time.ts'
import { payOutWithdrawals } from '../src/worker/due.ts'
import { type Client, payer, startApi } from './support/api.ts'
import { CLI, hostedVintemIn, type Result, vintemIn } from './support/cli.ts'
import { makePaid } from './support/payments.ts'
import { inherited, temporaryFolder } from './support/process.ts'
import { confirmed } from './support/withdrawals.ts'

const api = await startApi()
const home = temporaryFolder()
const env = {
  ...api.databases,
  SECRET_KEY: api.app.config.secretKey.toString('base64'),
}

const [alone, hosted] = [vintemIn(home), hostedVintemIn(home)]

const vintem = (args: string[], own: Record<string, string> = {}): Promise<Result> =>
  hosted(args, { ...env, ...own })

const command = (what: string, { company }: Client, from: string, to: string) => [
  'export',
  what,
  '--company',
  company.id,
  '--from',
  from,
  '--to',
  to,
]

async function exported(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await vintem(args)
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
  return stdout
}

/** Makes a charge and moves it to another moment. */
async function makeCharge(client: Client, createdAt: string, fields: object = {}): Promise<string> {
  const body = { amount: 1990, customer: payer(), ...fields }
  const { id } = (await client.post('/charge/pix', body)).body.data
  await api.rows(
    `update charges set created_at = $3, expires_at = $3::timestamptz + interval '30 minutes'
     where company_id = $1 and id = $2`,
    [client.company.id, fromPublic('charge', id), createdAt],
  )
  return id
}

const idsIn = (csv: string): string[] => csv.match(/charge_\w{26}/g) ?? []

const HEADING =
  'id,external_id,kind,status,payment_status,amount_cents,refunded_cents,created_at,' +
  'expires_at,paid_at,end_to_end_id,dev_mode,payer_name'

test('charges are written with what an accountant needs and nothing else of the payer', async () => {
  const client = await api.client()
  const plain = await makeCharge(client, '2024-03-10T12:00:00Z')
  const customer = payer({ name: '=HYPERLINK("http://x";"y")' })
  const odd = await makeCharge(client, '2024-03-10T13:00:00.5Z', {
    customer,
    externalId: '-1,2',
    devMode: true,
    amount: 123_456,
  })
  const args = command('charges', client, '2024-03-10', '2024-03-10')
  const csv = await exported(args)
  assert.deepEqual(csv.split('\r\n'), [
    HEADING,
    `${plain},,PIX,EXPIRED,EXPIRED,1990,0,2024-03-10T12:00:00.000Z,2024-03-10T12:30:00.000Z,,,` +
      'false,Maria da Silva',
    `${odd},"'-1,2",PIX,EXPIRED,EXPIRED,123456,0,2024-03-10T13:00:00.500Z,` +
      `2024-03-10T13:30:00.500Z,,,true,"'=HYPERLINK(""http://x"";""y"")"`,
    '',
  ])
  assert.equal(
    await exported([...args, '--format', 'br']),
    '\uFEFFCobrança;Sua referência;Tipo;Situação;Pagamento;Valor;Devolvido;Criada em;Expira em;' +
      'Paga em;ID da transação (E2E);Teste;Pagador;CPF/CNPJ do pagador;Itens;Disponível para saque em;' +
      'Descrição\r\n' +
      `${plain};;Pix;Expirada;Expirado;19,90;0,00;10/03/2024 09:00:00;10/03/2024 09:30:00;;;` +
      'não;Maria da Silva;***.***.247-25;;;\r\n' +
      `${odd};"'-1,2";Pix;Expirada;Expirado;1234,56;0,00;10/03/2024 10:00:00;` +
      `10/03/2024 10:30:00;;;sim;"'=HYPERLINK(""http://x"";""y"")";***.***.247-25;;;\r\n`,
  )
  const [first, second, rest] = (await exported([...args, '--json'])).split('\n')
  assert.deepEqual(JSON.parse(first!), {
    id: plain,
    external_id: null,
    kind: 'PIX',
    status: 'EXPIRED',
    payment_status: 'EXPIRED',
    amount_cents: 1990,
    refunded_cents: 0,
    created_at: '2024-03-10T12:00:00.000Z',
    expires_at: '2024-03-10T12:30:00.000Z',
    paid_at: null,
    end_to_end_id: null,
    dev_mode: false,
    payer_name: 'Maria da Silva',
  })
  assert.equal(JSON.parse(second!).payer_name, customer.name, 'JSON needs no apostrophe')
  assert.equal(rest, '')
  for (const secret of ['52998224725', 'maria@example.com', '11988888888']) {
    assert.ok(!csv.includes(secret))
  }
})

test('days are those of São Paulo, both ends included, in summers with their own time too', async () => {
  const client = await api.client()
  const at = (time: string) => makeCharge(client, time)
  const [, first, last] = [
    await at('2024-03-10T02:59:59.999Z'),
    await at('2024-03-10T03:00:00Z'),
    await at('2024-03-12T02:59:59.999Z'),
    await at('2024-03-12T03:00:00Z'),
  ]
  const days = await exported(command('charges', client, '2024-03-10', '2024-03-11'))
  assert.deepEqual(idsIn(days), [first, last])

  // On 4 November 2018 the clocks went from 00:00 to 01:00; from then on days began at 02:00 UTC.
  const [before, summer, , next] = [
    await at('2018-11-04T02:59:59Z'),
    await at('2018-11-04T03:00:00Z'),
    await at('2018-11-05T01:59:59Z'),
    await at('2018-11-05T02:00:00Z'),
  ]
  const one = idsIn(await exported(command('charges', client, '2018-11-04', '2018-11-04')))
  assert.deepEqual([one.length, one[0]], [2, summer])
  assert.ok(!one.includes(before!) && !one.includes(next!))
  const other = await api.client()
  assert.equal(
    await exported(command('charges', other, '2018-01-01', '2025-01-01')),
    `${HEADING}\r\n`,
    'another company has none of them',
  )
})

test('a statement is written oldest first, with the balances after each entry', async () => {
  const client = await api.client()
  const { company } = client
  const id = await makeCharge(client, '2024-03-10T12:00:00Z')
  const chargeId = fromPublic('charge', id)!
  const payment = { endToEndId: 'E1', amount: toCents(1990), chargeId }
  const moments = ['2024-05-02T02:59:59Z', '2024-05-02T03:00:00Z', '2024-05-03T02:59:59Z']
  const postings = [
    chargePaid(payment),
    chargeReleased(payment),
    chargePaid({ ...payment, endToEndId: 'E2' }),
  ]
  for (const [i, posting] of postings.entries()) {
    await api.app.db.transaction((tx) => post(tx, company.id, [posting], new Date(moments[i]!)))
  }
  const args = command('statement', client, '2024-05-02', '2024-05-02')
  assert.deepEqual((await exported(args)).split('\r\n'), [
    'entry,created_at,type,amount_cents,debit,credit,reference,charge_id,' +
      'available_cents,pending_cents,held_cents,unmatched_cents',
    `3,2024-05-02T03:00:00.000Z,CHARGE_SETTLED,1990,pending,available,E1,${id},101990,0,0,0`,
    `4,2024-05-03T02:59:59.000Z,CHARGE_PAID,1990,bank,pending,E2,${id},101990,1990,0,0`,
    '',
  ])
  const br = (await exported([...args, '--format', 'br'])).split('\r\n')
  assert.equal(
    br[1],
    `3;02/05/2024 00:00:00;Valor liberado para saque;19,90;A liberar;Disponível;E1;${id};1019,90;` +
      '0,00;0,00;0,00;Interno;;;0,00;0,00',
  )
})

/** Lines of a file for people, by the titles of their columns. */
function recordsIn(file: string): Record<string, string>[] {
  const [heading, ...lines] = file.replace('\uFEFF', '').trimEnd().split('\r\n')
  const titles = heading!.split(';')
  return lines.map((line) =>
    Object.fromEntries(line.split(/;(?! )/).map((cell, i) => [titles[i]!, cell])),
  )
}

const day = (date: Date) => new Date(date.getTime() - 3 * 3600_000).toISOString().slice(0, 10)

test('for people a paid link has its items, its payer masked, its refund and both dates', async () => {
  const client = await api.client()
  const names = ['Pão', '=Bolo; doce']
  const items: object[] = []
  for (const name of names) {
    const product = await client.post('/product', { name, description: '', price: 500 })
    items.push({ productId: product.body.data.id, quantity: items.length + 1 })
  }
  const link = { items, customer: payer({ taxId: '11222333000181' }), devMode: true }
  const { id } = (await client.post('/charge/payment-link', link)).body.data
  await client.post(`/charge/${id}/simulate-payment`)
  await client.post(`/refund/${id}`, { value: 300 })
  const today = day(api.clock.now())
  const args = [...command('charges', client, today, today), '--format', 'br']
  const [record] = recordsIn(await exported(args))
  const { Cobrança, Itens, ...rest } = record!
  assert.deepEqual([Cobrança, Itens], [id, '"1 x Pão; 2 x =Bolo; doce"'])
  const at = (moment: Date) => formatMoment(moment).replace(/$/, ':00')
  const releaseAt = new Date(api.clock.now().getTime() + 60_000)
  assert.deepEqual(
    [rest.Tipo, rest.Situação, rest.Pagamento, rest.Valor, rest.Devolvido],
    ['Link de pagamento', 'Paga', 'Pago', '15,00', '-3,00'],
  )
  assert.equal(rest['CPF/CNPJ do pagador'], '**.***.***/0001-81')
  assert.equal(rest['Paga em'], at(api.clock.now()))
  assert.equal(rest['Disponível para saque em'], at(releaseAt))
})

test('for people a statement has signs, directions, and when money was paid and withdrawn', async () => {
  const client = await api.client()
  const { endToEndId } = await makePaid(api, client, 1990)
  await confirmed(api, client, 5000)
  await payOutWithdrawals.run(api.app)
  const today = day(api.clock.now())
  const args = [...command('statement', client, today, today), '--format', 'br']
  const file = await exported(args)
  const reply = await client.get('/account-balance/statement?format=csv&dialect=br')
  assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.ok(file.startsWith('\uFEFF'), 'a spreadsheet knows that it is UTF-8')
  const records = recordsIn(file)
  assert.deepEqual(recordsIn(reply.text).toReversed(), records, 'the API gives the same')
  const at = formatMoment(api.clock.now()).replace(/$/, ':00')
  const short = records.map((record) => [
    record.Tipo,
    record.Valor,
    record.Movimento,
    record['Pago em'],
    record['Sacado em'],
  ])
  assert.deepEqual(short, [
    ['Saldo inicial', '1000,00', 'Entrada', '', ''],
    ['Cobrança paga', '19,90', 'Entrada', at, ''],
    ['Saque reservado', '-50,00', 'Interno', '', at],
    ['Saque enviado', '-50,00', 'Saída', '', at],
  ])
  assert.ok(records.some(({ Referência }) => Referência === endToEndId))
})

const MANY = 2500

async function makeMany(): Promise<Client> {
  const client = await api.client()
  await makeCharge(client, '2024-03-10T12:00:00Z')
  await api.rows(
    `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode, br_code,
       created_at, expires_at)
     select company_id, gen_random_uuid(), kind, amount, status, payment_status, dev_mode, br_code,
       created_at, expires_at from charges, generate_series(2, $2::int) where company_id = $1`,
    [client.company.id, MANY],
  )
  return client
}

test('what takes several pages is written whole, and a reader may leave before the end', async () => {
  const client = await makeMany()
  const args = command('charges', client, '2024-03-10', '2024-03-10')
  const ids = idsIn(await exported(args))
  assert.deepEqual([ids.length, new Set(ids).size], [MANY, MANY])
  assert.deepEqual(ids, ids.toSorted())

  const child = spawn(process.execPath, [CLI, ...args], {
    cwd: home,
    env: { ...inherited, ...env },
  })
  let complaint = ''
  child.stderr.on('data', (text) => {
    complaint += text
  })
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const [code] = await once(child, 'exit')
  assert.deepEqual([code, complaint], [0, ''])
})

test('a file is there when it is whole, for its owner only, and never in the place of another', async () => {
  const client = await makeMany()
  const args = command('charges', client, '2024-03-10', '2024-03-10')
  const file = join(home, 'charges.csv')
  const { code, stdout } = await alone([...args, '--output', file], env)
  assert.deepEqual([code, stdout], [0, `${MANY} records are in ${file}.\n`])
  const text = readFileSync(file, 'utf8')
  assert.equal(text, await exported(args))
  assert.equal(statSync(file).mode & 0o777, 0o600)

  const again = await vintem([...args, '--output', 'charges.csv', '--format', 'br'])
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, RegExp(`--output: ${file} exists already`))
  assert.equal(readFileSync(file, 'utf8'), text)

  const lines = await vintem([...args, '--output', 'charges.jsonl', '--json'])
  assert.deepEqual(JSON.parse(lines.stdout), { output: join(home, 'charges.jsonl'), records: MANY })
  const records = readFileSync(join(home, 'charges.jsonl'), 'utf8').trim().split('\n')
  assert.equal(records.map((line) => JSON.parse(line)).length, MANY)

  const stranger = { ...client, company: { ...client.company, id: client.company.id.slice(1) } }
  const unknown = command('charges', stranger, '2024-03-10', '2024-03-10')
  const refused = await vintem([...unknown, '--output', 'none.csv'])
  assert.match(refused.stderr, /No company has the id/)
  assert.equal(refused.code, 1)
  assert.equal(existsSync(join(home, 'none.csv')), false)
  assert.deepEqual(readdirSync(home).sort(), ['charges.csv', 'charges.jsonl'])
})

test('every fault is named at once, before any database is asked', async () => {
  const away = { DATABASE_URL: 'postgres://127.0.0.1:1/x' }
  const asked = ['export', 'statement', '--company', 'x']
  const days = ['--from', '2024-02-30', '--to', '10/03/2024']
  const others = ['--format', 'constructor', '--output', 'nowhere/x.csv', '--json']
  const { code, stdout, stderr } = await vintem([...asked, ...days, ...others], away)
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' })
  assert.deepEqual(stderr.trim().split('\n'), [
    '--from: must be a day such as 2026-08-01.',
    '--to: must be a day such as 2026-08-31.',
    '--format: must be one of csv, br.',
    '--format: is for CSV, and --json asks for JSON lines.',
    `--output: there is no folder ${join(home, 'nowhere')}.`,
  ])
  const backwards = [...asked, '--from', '2024-03-10', '--to', '2024-03-09']
  assert.match((await vintem(backwards, away)).stderr, /^--to: must not be before --from/)
})
