import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryOf } from '../../src/core/activity/record.ts'
import type { Author, Entry } from '../../src/core/activity/rules.ts'
import { insertEntries } from '../../src/core/activity/store.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { lowestIdAt, newId } from '../../src/lib/ids.ts'
import { actionText, wordsOf } from '../../src/web/dashboard/action-texts.ts'
import { startApi } from '../support/api.ts'
import { signIn } from '../support/dashboard.ts'
import { makeCharge, pay } from '../support/payments.ts'

const api = await startApi()
const PAGE = '/settings/activity'
/** With what keys, the command line and we ourselves have done. */
const ALL = `${PAGE}?author=all`
const ANA: Author = { kind: 'person', id: newId(), name: 'ana@example.com', address: '192.0.2.7' }
const KEY: Author = { kind: 'key', id: newId(), name: 'Loja <b>', address: '2001:db8::1' }
const CLI: Author = { kind: 'command-line', id: null, name: 'root', address: null }

/** Writes an entry of a moment. */
async function write(companyId: string, author: Author, action: string, at: string) {
  const date = new Date(at)
  const id = lowestIdAt(date).slice(0, 24) + newId().slice(24)
  const made = entryOf(companyId, author, { action, record: { type: 'key', id: action } })
  const entry: Entry = { ...made, id, at: date }
  await insertEntries(api.app.db, [entry])
}

/** The names of the records that a page or a file shows, which are those of the actions. */
const shown = (text: string) =>
  [...text.matchAll(/(?<=<span class="soft small breakable">)[\w.-]+/g)].map(([name]) => name)

test('an owner sees what was changed, by whom and from where, and no other role does', async () => {
  const { company, ...client } = await api.client()
  const body = { name: 'Café', description: '', price: 700 }
  const { body: answer } = await client.post('/product', body)
  const owner = await signIn(api, company)
  await write(company.id, KEY, 'key.create', '2026-08-20T15:00:00Z')
  await write(company.id, CLI, 'company.pin-version', '2026-08-20T15:00:00Z')
  const { status, text } = await owner.get(ALL)
  assert.equal(status, 200, text)
  assert.match(text, /Registro de atividades/)
  assert.match(text, /Produto criado/)
  assert.match(text, /R\$\s7,00/)
  assert.match(text, new RegExp(`href="${owner.home}/products/${answer.data.id}"`))
  assert.match(text, /127\.0\.0\.1/)
  assert.match(text, /Loja &lt;b&gt;/)
  assert.match(text, /Linha de comando/)
  const english = await signIn(api, company, { language: 'en' })
  assert.match((await english.get(ALL)).text, /Product created/)
  for (const role of ['finance', 'support', 'developer', 'viewer'] as const) {
    const other = await signIn(api, company, { role })
    assert.equal((await other.get(PAGE)).status, 403)
    assert.equal((await other.get(`${PAGE}.csv`)).status, 403)
  }
})

test('activities are found by author, action and period, and of one company only', async () => {
  const { company } = await api.client()
  const other = await api.client()
  const owner = await signIn(api, company)
  await write(company.id, ANA, 'key.create', '2026-08-01T12:00:00Z')
  await write(company.id, ANA, 'key.revoke', '2026-08-02T12:00:00Z')
  await write(company.id, KEY, 'key.create', '2026-08-03T12:00:00Z')
  await write(company.id, CLI, 'key.create', '2026-08-04T02:59:59Z')
  await write(other.company.id, ANA, 'member.invite', '2026-08-05T12:00:00Z')
  const find = async (query: Record<string, string>) =>
    shown((await owner.get(`${PAGE}?${new URLSearchParams({ author: 'all', ...query })}`)).text)
  assert.deepEqual(await find({}), ['key.create', 'key.create', 'key.revoke', 'key.create'])
  assert.deepEqual(await find({ author: `person:${ANA.id}` }), ['key.revoke', 'key.create'])
  assert.deepEqual(await find({ author: `key:${KEY.id}` }), ['key.create'])
  assert.deepEqual(await find({ author: 'command-line' }), ['key.create'])
  assert.deepEqual(await find({ author: 'service' }), [])
  assert.equal((await find({ action: 'key.create' })).length, 3)
  assert.deepEqual(await find({ action: 'member.invite' }), [])
  const both = { action: 'key.create', author: `person:${ANA.id}` }
  assert.deepEqual(await find(both), ['key.create'])
  assert.deepEqual(await find({ from: '2026-08-02', to: '2026-08-02' }), ['key.revoke'])
  assert.equal((await find({ from: '2026-08-03', to: '2026-08-03' })).length, 2)
  assert.equal((await find({ from: 'x', to: '2026-02-30' })).length, 4)
  assert.equal((await find({ author: 'person:x' })).length, 2, 'nobody is chosen: people')
})

test('what keys and we ourselves do is hidden until it is asked for, by one link', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  const bia: Author = { ...ANA, id: newId(), name: 'bia@example.com' }
  await write(company.id, ANA, 'key.create', '2026-08-01T12:00:00Z')
  await write(company.id, KEY, 'changeProduct', '2026-08-02T12:00:00Z')
  await write(company.id, bia, 'key.revoke', '2026-08-03T12:00:00Z')
  await write(company.id, { ...CLI, kind: 'service' }, 'charge.settle', '2026-08-04T12:00:00Z')
  await write(company.id, ANA, 'key.rotate', '2026-08-05T12:00:00Z')
  const { text } = await owner.get(`${PAGE}?from=2026-08-01`)
  assert.deepEqual(shown(text), ['key.rotate', 'key.revoke', 'key.create'])
  const link = /href="([^"]+)">Mostrar também chaves/.exec(text)![1]!.replaceAll('&amp;', '&')
  const all = await owner.get(`/${link}`)
  assert.equal(shown(all.text).length, 5)
  assert.match(all.text, /name="from"[^>]+value="2026-08-01"/)
  const revoked = await owner.get(`${PAGE}?action=key.revoke`)
  assert.deepEqual(shown(revoked.text), ['key.revoke'])
  const file = await owner.get(`${PAGE}.csv`)
  assert.equal(file.text.trim().split('\r\n').length, 4)
})

test('a charge that is settled by hand is logged as settled, and not as accepted', async () => {
  const client = await api.client()
  const charge = await makeCharge(client, 1990)
  const endToEndId = await pay(api, charge.brCode, { amount: 2500 })
  const path = `/payment/unmatched/${endToEndId}/accept`
  assert.equal((await client.post(path, { chargeId: charge.id })).status, 200)
  const owner = await signIn(api, client.company)
  const { text } = await owner.get(`${ALL}&action=charge.settle`)
  assert.match(text, /Cobrança quitada com Pix sem cobrança/)
  assert.match(text, new RegExp(`R\\$\\s19,90 · endToEndId: ${endToEndId}`))
  assert.match(text, new RegExp(`href="${owner.home}/charges/${charge.id}"`))
  assert.deepEqual(shown((await owner.get(`${ALL}&action=acceptPayment`)).text), [])
  const english = await signIn(api, client.company, { language: 'en' })
  assert.match((await english.get(ALL)).text, /Charge settled with an unmatched payment/)
})

test('a long list has pages, and its file has all of it', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  const entries = Array.from({ length: 420 }, (_, n) =>
    entryOf(company.id, n % 2 ? ANA : KEY, {
      action: 'changeProduct',
      record: { type: 'product', id: `n${n}` },
      details: { fields: ['name'], price: n },
    }),
  )
  await insertEntries(api.app.db, entries)
  const seen: string[] = []
  let path: string | undefined = `${PAGE}?action=changeProduct&author=person:${ANA.id}`
  for (let pages = 0; path && pages < 10; pages += 1) {
    const { text } = await owner.get(path)
    seen.push(...[...text.matchAll(/products\/(n\d+)"/g)].map(([, id]) => id!))
    const next = /rel="next" href="([^"]+)"/.exec(text)?.[1]
    path = next && `/${next.replaceAll('&amp;', '&')}`
  }
  const wanted = entries.filter(({ author }) => author === ANA).map(({ record }) => record!.id)
  assert.deepEqual(seen, wanted.toReversed())
  const file = await owner.get(`${PAGE}.csv?author=all`)
  assert.match(file.headers.get('content-type')!, /^text\/csv/)
  const lines = file.text.trimEnd().split('\r\n')
  assert.equal(lines.length, 421)
  assert.equal(
    lines[0],
    'Quando;Quem;Tipo de autor;ID do autor;Endereço;Ação;Descrição;Tipo de registro;Registro;Detalhes',
  )
  assert.match(lines[1]!, /;product;n419;"\{""price"":419,""fields"":\[""name""\]\}"$/)
  const filtered = await owner.get(`${PAGE}.csv?author=key:${KEY.id}`)
  assert.equal(filtered.text.trim().split('\r\n').length, 211)
})

test('every operation that changes something has its words', () => {
  const silent = ROUTES.filter(({ method, changes }) => (method === 'GET') !== !changes)
  assert.deepEqual(
    silent.map(({ operationId }) => operationId),
    [],
  )
  const words = wordsOf(ROUTES)
  for (const action of Object.keys(words)) {
    assert.notEqual(actionText(words, action, 'pt'), action)
    assert.notEqual(actionText(words, action, 'pt'), actionText(words, action, 'en'))
  }
})
