import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeCharge } from '../support/payments.ts'

const api = await startApi()

/** A company with a charge and a customer, and the paths of their pages. */
async function enter() {
  const client = await api.client()
  const { id } = await makeCharge(client, 1990)
  const [customer] = (await client.get('/client')).body.data
  return { client, paths: [`/charges/${id}`, `/customers/${customer.id}`] as const }
}

async function opened(member: Member, path: string): Promise<string> {
  const { status, text } = await member.get(path)
  assert.equal(status, 200, text)
  return text
}

/** The paths of the forms that delete notes. */
const deletions = (text: string): string[] =>
  [...text.matchAll(/action="[^"]*?(\/(?:charges|customers)\/[^"]+\/notes\/\w+\/delete)"/g)].map(
    ([, path]) => path!,
  )

test('a note on a charge or customer is read by all of the company, with who wrote it', async () => {
  const { client, paths } = await enter()
  const support = await signIn(api, client.company, { role: 'support', name: 'Bia Lima' })
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  for (const path of paths) {
    assert.doesNotMatch(await opened(viewer, path), /Notas da equipe/)
    const done = await support.post(`${path}/notes`, { note: ' Ligou <b>hoje</b>,\r\nretornar ' })
    assert.equal(done.location, `${support.home}${path}?done=noted`)
    const text = await opened(viewer, path)
    assert.match(text, /Ligou &lt;b&gt;hoje&lt;\/b&gt;,\nretornar<\/bdi>/)
    assert.match(text, /Bia Lima · /)
    assert.deepEqual(deletions(text), [])
    assert.equal((await viewer.post(`${path}/notes`, { note: 'x' })).status, 403)
  }
})

test('what a note says is not readable in the database, and the activity log has no text', async () => {
  const { client, paths } = await enter()
  const owner = await signIn(api, client.company)
  await owner.post(`${paths[0]}/notes`, { note: 'CPF do vizinho 52998224725' })
  const { id } = client.company
  const rows = await api.rows('select * from notes where company_id = $1', [id])
  assert.equal(rows.length, 1)
  assert.ok(!JSON.stringify(rows).includes('52998224725'))
  assert.ok(!Buffer.from((rows[0] as { sealed: Buffer }).sealed).includes('vizinho'))
  const [entry] = await api.rows<{ record_type: string; details: unknown }>(
    `select record_type, details from activity where company_id = $1 and action = 'note.add'`,
    [id],
  )
  assert.equal(entry!.record_type, 'charge')
  assert.ok(!JSON.stringify(entry).includes('vizinho'))
})

test('a note is added once for each form, and an empty or a long one is refused and kept', async () => {
  const { client, paths } = await enter()
  const owner = await signIn(api, client.company)
  const once = '0'.repeat(26)
  for (const _ of [1, 2]) await owner.post(`${paths[0]}/notes`, { note: 'Uma vez', once })
  assert.equal((await opened(owner, paths[0])).split('Uma vez</bdi>').length, 2)
  assert.equal((await owner.post(`${paths[0]}/notes`, { note: ' \n ' })).status, 400)
  const long = await owner.post(`${paths[1]}/notes`, { note: 'á'.repeat(1001) })
  assert.equal(long.status, 400)
  assert.match(long.text, /á{1001}/)
  assert.match(long.text, /Escreva de 1 a 1000 caracteres/)
})

test('a record has at most a hundred notes', async () => {
  const { client, paths } = await enter()
  const owner = await signIn(api, client.company)
  await owner.post(`${paths[0]}/notes`, { note: 'A primeira' })
  await api.rows(
    `insert into notes
     select company_id, gen_random_uuid(), record_type, record_id, author_id, author_name, sealed,
       created_at
     from notes, generate_series(1, 99) where company_id = $1`,
    [client.company.id],
  )
  assert.equal((await owner.post(`${paths[0]}/notes`, { note: 'Uma a mais' })).status, 400)
  assert.equal((await owner.post(`${paths[1]}/notes`, { note: 'De outro registro' })).status, 303)
})

test('a note is deleted by who wrote it or by an owner, on the page of its own record only', async () => {
  const { client, paths } = await enter()
  const [writer, other] = [
    await signIn(api, client.company, { role: 'support' }),
    await signIn(api, client.company, { role: 'support' }),
  ]
  await writer.post(`${paths[0]}/notes`, { note: 'Primeira' })
  const [path] = deletions(await opened(writer, paths[0]))
  assert.deepEqual(deletions(await opened(other, paths[0])), [])
  assert.equal((await other.post(path!)).status, 404)
  assert.equal((await writer.post(path!.replace(paths[0], paths[1]))).status, 404)
  const stranger = await signIn(api, (await api.client()).company)
  assert.equal((await stranger.post(path!)).status, 404)
  assert.match(await opened(writer, paths[0]), /Primeira/)
  const done = await writer.post(path!)
  assert.equal(done.location, `${writer.home}${paths[0]}?done=note-deleted`)
  assert.doesNotMatch(await opened(writer, paths[0]), /Primeira/)
  assert.equal((await writer.post(path!)).status, 404, 'it is gone')
  await writer.post(`${paths[0]}/notes`, { note: 'Segunda' })
  const owner = await signIn(api, client.company)
  const [again] = deletions(await opened(owner, paths[0]))
  assert.equal((await owner.post(again!)).status, 303)
})

test('the notes on a customer go with the customer, and those of others stay', async () => {
  const { client, paths } = await enter()
  const owner = await signIn(api, client.company)
  for (const path of paths) await owner.post(`${path}/notes`, { note: 'Mora na rua de trás' })
  assert.equal((await owner.post(`${paths[1]}/delete`)).status, 303)
  const rows = await api.rows<{ record_type: string }>(
    'select record_type from notes where company_id = $1',
    [client.company.id],
  )
  assert.deepEqual(
    rows.map((row) => row.record_type),
    ['charge'],
  )
})
