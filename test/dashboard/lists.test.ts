import assert from 'node:assert/strict'
import { test } from 'node:test'
import { carryOutRefunds } from '../../src/worker/due.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { makeCharge, makePaid } from '../support/payments.ts'

const api = await startApi()

const idsIn = (text: string): string[] =>
  [...text.matchAll(/\/charges\/(charge_\w{26})/g)].map(([, id]) => id!)

async function page(member: Member, query = ''): Promise<string> {
  const { status, text } = await member.get(`/charges${query}`)
  assert.equal(status, 200, text)
  return text
}

/** The numbers beside the names of the tabs. */
const countsIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/>([^<>]+) <span class="count">([\d.+]+)<\/span><\/a>/g)].map(
      ([, name, count]) => [name!, count!],
    ),
  )

const sumsIn = (text: string): string =>
  (/<p class="sums[^>]*>(.*?)<span class="hide">/s.exec(text)?.[1] ?? '').replaceAll(
    /<[^>]+>/g,
    ' ',
  )

async function refund(client: Client, id: string, value: number): Promise<void> {
  const { status } = await client.post(`/refund/${id}`, { value })
  assert.equal(status, 201)
}

/** A company with charges in every state. */
async function withCharges() {
  const client = await api.client()
  const expired = await makeCharge(client, 12_000_000)
  api.clock.advance(12 * 3600)
  const open = await makeCharge(client, 1500)
  const paid = await makePaid(api, client, 2500)
  const returned = await makePaid(api, client, 700)
  await refund(client, returned.id, 700)
  await refund(client, paid.id, 300)
  await carryOutRefunds.run(api.app)
  const canceled = await makeCharge(client, 9900)
  await client.post(`/charge/${canceled.id}/cancel`)
  return {
    client,
    expired,
    open,
    paid,
    returned,
    canceled,
    owner: await signIn(api, client.company),
  }
}

test('each state has a tab with its count, and lists its charges only', async () => {
  const { owner, expired, open, paid, returned, canceled } = await withCharges()
  const text = await page(owner)
  assert.deepEqual(countsIn(text), {
    Todas: '5',
    'Em aberto': '1',
    Pagas: '1',
    Expiradas: '1',
    Canceladas: '1',
    Devolvidas: '1',
  })
  const listed = async (status: string) => idsIn(await page(owner, `?status=${status}`))
  assert.deepEqual(await listed('OPEN'), [open.id])
  assert.deepEqual(await listed('PAID'), [paid.id])
  assert.deepEqual(await listed('EXPIRED'), [expired.id])
  assert.deepEqual(await listed('CANCELED'), [canceled.id])
  assert.deepEqual(await listed('REFUNDED'), [returned.id])
})

test('the sums are what was paid, went back and is open, never what expired or was canceled', async () => {
  const { owner } = await withCharges()
  assert.match(
    sumsIn(await page(owner)),
    /Pago\s+R\$ 32,00\s+Devolvido\s+R\$ 10,00\s+Em aberto\s+R\$ 15,00/,
  )
  assert.doesNotMatch(sumsIn(await page(owner, '?status=EXPIRED')), /R\$/)
  assert.match(sumsIn(await page(owner, '?status=OPEN')), /1 cobrança\s+Em aberto\s+R\$ 15,00/)
})

test('older addresses select what they always selected', async () => {
  const { owner, paid, returned, open, canceled } = await withCharges()
  assert.deepEqual(idsIn(await page(owner, '?status=COMPLETED')), [returned.id, paid.id])
  assert.deepEqual(idsIn(await page(owner, '?payment=PROCESSING')), [canceled.id, open.id])
  assert.deepEqual(idsIn(await page(owner, '?amount=15,00')), [open.id])
  assert.deepEqual(idsIn(await page(owner, '?status=OPEN&payment=REFUNDED')), [])
})

test('a range of amounts has both of its ends, and a wrong one is marked', async () => {
  const client = await api.client()
  const made = []
  for (const amount of [1000, 1001, 2000, 2001]) made.push((await makeCharge(client, amount)).id)
  const owner = await signIn(api, client.company)
  const found = async (query: string) => idsIn(await page(owner, query)).toReversed()
  assert.deepEqual(await found('?min=10,01&max=20'), made.slice(1, 3))
  assert.deepEqual(await found('?min=20,01'), made.slice(3))
  assert.deepEqual(await found('?max=10&status=OPEN'), made.slice(0, 1))
  assert.deepEqual(await found('?min=10,01&max=10,01'), made.slice(1, 2))
  assert.deepEqual(await found('?min=10,01&q=Maria'), made.slice(1))
  const wrong = await owner.get('/charges?min=20&max=10')
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /name="max" aria-invalid="true"/)
})

test('usual periods are one click, by creation or by payment', async () => {
  const client = await api.client()
  const old = await makeCharge(client, 1000, { expiresIn: 31_000_000 })
  api.clock.advance(40 * 86_400)
  const today = await makeCharge(client, 1001)
  const owner = await signIn(api, client.company)
  for (const period of ['today', '7d', 'month']) {
    assert.deepEqual(idsIn(await page(owner, `?period=${period}`)), [today.id], period)
  }
  assert.deepEqual(idsIn(await page(owner, '?period=month&by=paid')), [])
  assert.deepEqual(idsIn(await page(owner, '?period=nothing')), [today.id, old.id])
  assert.match(await page(owner, '?period=7d'), /aria-current="true">7 dias/)
})

test('filters are kept under a name, for the person alone, up to twenty', async () => {
  const client = await api.client()
  await makeCharge(client, 1000)
  const owner = await signIn(api, client.company)
  const save = (name: string, more = {}) =>
    owner.post('/views', { list: 'charges', name, status: 'OPEN', q: '529.982.247-25', ...more })
  assert.match((await save('Da Maria')).location!, /status=OPEN&done=view-saved$/)
  assert.match(await page(owner), /status=OPEN"[^>]*>Da Maria<\/a>/)
  const [row] = await api.rows<{ sealed: Buffer }>(
    'select sealed from saved_views where company_id = $1',
    [client.company.id],
  )
  assert.ok(!row!.sealed.includes('529') && !row!.sealed.includes('Maria'))
  const colleague = await signIn(api, client.company)
  assert.doesNotMatch(await page(colleague), /Da Maria/)
  const shown = await page(
    owner,
    `?${new URLSearchParams({ q: '529.982.247-25', status: 'OPEN' })}`,
  )
  const path = /action="[^"]*(\/views\/\w+\/delete)"/.exec(shown)![1]!
  assert.equal((await colleague.post(path, { list: 'charges' })).status, 404)
  for (let i = 1; i < 20; i++) await save(`${i}`, { q: `${i}` })
  assert.match((await save('too many')).location!, /done=view-refused$/)
  assert.match((await save('Da Maria', { q: '' })).location!, /done=view-saved$/)
  assert.match((await save('x'.repeat(41))).location!, /done=view-refused$/)
  assert.match((await owner.post(path, { list: 'charges' })).location!, /done=view-deleted$/)
  assert.doesNotMatch(await page(owner), /Da Maria/)
})

test('a search of customers is kept under a name too', async () => {
  const client = await api.client()
  await makeCharge(client, 1000)
  const owner = await signIn(api, client.company)
  const saved = await owner.post('/views', { list: 'customers', name: 'Silvas', q: 'silva' })
  assert.match(saved.location!, /\/customers\?q=silva&done=view-saved$/)
  const all = (await owner.get('/customers')).text
  assert.match(all, /\/customers\?q=silva"[^>]*>Silvas<\/a>/)
  assert.doesNotMatch(await page(owner), /Silvas/)
  assert.match((await owner.get('/customers?q=silva')).text, /aria-current="true">Silvas/)
})

const picking = (ids: string[]) =>
  new URLSearchParams([['picked', 'yes'], ...ids.map((id) => ['id', id])] as [string, string][])

const fieldIn = (text: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)![1]!

test('open charges that are picked are canceled after a question, each once', async () => {
  const { client, owner, open, paid } = await withCharges()
  const second = await makeCharge(client, 500)
  const other = await makeCharge(await api.client(), 800)
  const ids = [open.id, second.id, paid.id, other.id, 'charge_x']
  const asked = await owner.get(`/charges/picked/cancel?${picking(ids)}`)
  assert.match(
    asked.text,
    /Em aberto: 2, somando R\$ 20,00\..*A outra selecionada não está em aberto/s,
  )
  const form = { ids: [open.id, second.id, paid.id, other.id].join(' '), once: 'a'.repeat(26) }
  const done = await owner.post('/charges/picked/cancel', form)
  assert.match(done.text, /2 cobranças canceladas \(R\$ 20,00\)/)
  assert.match(done.text, /1 cobrança foi recusada/)
  assert.deepEqual(idsIn(done.text), [paid.id])
  assert.deepEqual(idsIn(await page(owner, '?status=OPEN')), [])
  const again = await owner.post('/charges/picked/cancel', form)
  assert.match(again.text, /2 cobranças canceladas/)
  const entries = await api.rows(
    `select from activity where company_id = $1 and action = 'cancelCharge'`,
    [client.company.id],
  )
  assert.equal(entries.length, 3)
})

test('picked charges are mailed again once for a form, and what cannot be is told', async () => {
  const { client, owner, open, paid, canceled } = await withCharges()
  const mails = async () =>
    (await api.rows('select from charge_mails where company_id = $1', [client.company.id])).length
  const asked = await owner.get(`/charges/picked/mail?${picking([open.id, paid.id, canceled.id])}`)
  assert.match(asked.text, /Enviar 2 e-mails\?/)
  const form = { ids: fieldIn(asked.text, 'ids'), once: 'b'.repeat(26) }
  assert.match((await owner.post('/charges/picked/mail', form)).text, /2 e-mails na fila/)
  assert.match((await owner.post('/charges/picked/mail', form)).text, /2 e-mails na fila/)
  assert.equal(await mails(), 2)
  const soon = await owner.post('/charges/picked/mail', { ...form, once: 'c'.repeat(26) })
  assert.match(soon.text, /2 cobranças foram recusadas/)
})

test('the file of picked charges has these alone, and none without a pick', async () => {
  const { client, owner, open, paid } = await withCharges()
  const { text } = await owner.get(`/charges.csv?${picking([open.id, paid.id])}`)
  const lines = text.trimEnd().split('\r\n').slice(1)
  assert.deepEqual(
    lines.map((line) => line.split(';')[0]),
    [paid.id, open.id],
  )
  assert.match((await owner.get('/charges.csv?picked=yes')).location!, /done=none$/)
  const viewer = await signIn(api, client.company, { role: 'viewer' })
  assert.doesNotMatch(await page(viewer), /picked\/cancel/)
  assert.equal((await viewer.get(`/charges/picked/cancel?${picking([open.id])}`)).status, 403)
})

test('a long name is cut, with the whole name in its title', async () => {
  const client = await api.client()
  const name = 'x'.repeat(255)
  await makeCharge(client, 1000, { customer: payer({ name }) })
  const owner = await signIn(api, client.company)
  assert.match(await page(owner), new RegExp(`<a class="whole" href="[^"]+" title="${name}">`))
})
