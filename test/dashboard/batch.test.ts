import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { type Client, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { assertYields } from '../support/loop.ts'

const api = await startApi()

/** Sends a form with a file or a long text as a browser does. */
async function send(member: Member, path: string, fields: Record<string, string | Buffer>) {
  const form = new FormData()
  form.set('token', formTokenOf(api.app.vault, member.session))
  for (const [name, value] of Object.entries({ once: suffixOf(newId()), ...fields })) {
    if (typeof value === 'string') form.set(name, value)
    else form.set(name, new Blob([new Uint8Array(value)]), 'cobrancas.csv')
  }
  const reply = await fetch(`${api.url}${member.home}${path}`, {
    method: 'POST',
    body: form,
    headers: { cookie: member.cookie },
    redirect: 'manual',
  })
  return { status: reply.status, text: await reply.text() }
}
const preview = (member: Member, file: string | Buffer) =>
  send(member, '/new/batch/preview', { file: Buffer.from(file as string) })
const countOf = async ({ company }: Client) =>
  (await api.rows('select 1 from charges where company_id = $1', [company.id])).length
const plain = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&')
const csvIn = (text: string) => plain(/name="csv" value="([^"]*)"/.exec(text)![1]!)

const FILE = [
  'Referência;Valor;Nome;CPF/CNPJ;Vencimento;Multa',
  'p-1;1.234,56;Maria da Silva;529.982.247-25;10/12/2026;2,00',
  'p-2;4,99;João;390.533.447-05;;',
  'p-3;19,90;;123;31/02/2027;',
  'p-4;10,00;Ana Souza;529.982.247-25;;1,00',
  'p-5;10,00;"Souza; Ana";529.982.247-25;;',
].join('\r\n')

test('a file is checked line by line, and what is right is created once', async () => {
  const client = await api.client({ mode: 'sandbox' })
  const owner = await signIn(api, client.company)
  const shown = await preview(owner, FILE)
  assert.equal(shown.status, 200, shown.text)
  assert.match(shown.text, /2 cobranças prontas para criar, no total de R\$\s1\.244,56/)
  assert.match(shown.text, /3 linhas têm erro/)
  assert.match(shown.text, />3<.*valor: informe um valor como/s)
  assert.match(
    shown.text,
    />4<.*nome: preencha.*cpf_cnpj: CPF ou CNPJ inválido.*vencimento: informe um dia/s,
  )
  assert.match(shown.text, />5<.*vencimento: preencha, porque há multa/s)
  assert.equal(await countOf(client), 0, 'a preview creates nothing')
  const form = { csv: csvIn(shown.text), once: suffixOf(newId()) }
  const made = await send(owner, '/new/batch', form)
  assert.match(made.text, /2 cobranças criadas\./)
  assert.match((await send(owner, '/new/batch', form)).text, /2 cobranças criadas\./)
  assert.equal(await countOf(client), 2, 'sent twice, it acts once')
  const { body } = await client.get('/charge?externalId=p-1')
  const [charge] = body.data
  assert.deepEqual(
    [charge.total, charge.due.dueDate, charge.due.fine.value, charge.customer.name],
    [123_456, '2026-12-10', 200, 'Maria da Silva'],
  )
  const [quoted] = (await client.get('/charge?externalId=p-5')).body.data
  assert.equal(quoted.customer.name, 'Souza; Ana')
})

test('a file of an older spreadsheet, with its letters and commas, is read', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const text = 'valor,nome,cpf_cnpj\n"19,90",João Conceição,529.982.247-25\n'
  for (const file of [Buffer.from(text, 'latin1'), Buffer.from(`\uFEFF${text}`)]) {
    const shown = await preview(owner, file)
    assert.match(shown.text, /1 cobrança pronta.*João Conceição/s)
  }
})

test('the sample can be taken as it is', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const sample = await owner.get('/new/batch/sample.csv')
  assert.match((await preview(owner, sample.text)).text, /2 cobranças prontas para criar/)
})

test('a file that is none is refused with what is missing', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const refusal = async (file: string | Buffer) => {
    const { status, text } = await preview(owner, file)
    assert.equal(status, 400)
    return text
  }
  assert.match(await refusal(''), /Escolha um arquivo/)
  assert.match(await refusal('nome;valor\nx;1'), /Faltam colunas na primeira linha: cpf_cnpj/)
  assert.match(await refusal('valor;nome;cpf_cnpj;cor\n1;x;1;azul'), /não existem: cor/)
  assert.match(await refusal('valor;nome;cpf_cnpj'), /não tem linhas/)
  const line = '19,90;Maria;529.982.247-25\n'
  const many = `valor;nome;cpf_cnpj\n${line.repeat(1001)}`
  assert.match(await refusal(many), /tem 1001 cobranças, e cabem 1\.000/)
  assert.match(await refusal('x'.repeat(513 * 1024)), /mais de 512 KB/)
  assert.match(await refusal(Buffer.from([0, 255, 1, 2, 200])), /Faltam colunas/)
})

test('the largest file keeps the event loop for a short time only', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const line = (n: number) =>
    `19,90;Maria ${'x'.repeat(200)};529.982.247-25;${'d'.repeat(130)} ${n}\n`
  const file = `valor;nome;cpf_cnpj;descricao\n${Array.from({ length: 1000 }, (_, n) => line(n)).join('')}`
  await assertYields('a preview', async () => {
    const { text } = await preview(owner, file)
    assert.match(text, /1000 cobranças prontas/)
  })
  await assertYields('a file of quotes', () => preview(owner, `"${'""'.repeat(250_000)}`))
  await assertYields('a file of empty cells', () => preview(owner, ';'.repeat(500_000)))
  await assertYields('a file of empty lines', () => preview(owner, '\n'.repeat(500_000)))
})

test('who may not create charges sends no file', async () => {
  const client = await api.client()
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  assert.equal((await preview(viewer, FILE)).status, 403)
})
