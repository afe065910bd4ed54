import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeSuspension } from '../../src/core/operator/commands.ts'
import { TOOLS } from '../../src/mcp/tools/all.ts'
import { connectAgent } from '../support/agents.ts'
import { type Client, payer, startApi } from '../support/api.ts'
import { assertYields } from '../support/loop.ts'

const api = await startApi({ RATE_LIMIT: '1000', RATE_LIMIT_BURST: '5000' })
const client = await api.client()
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

/** A message as clients before July 2026 send it, without the handshake. */
const message = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params })
const send = (json: unknown, headers: Record<string, string> = bearer(client.key)) =>
  api.call('POST', '/mcp', { json, headers })
const tool = (name: string, args: object = {}) => message('tools/call', { name, arguments: args })

test('clients of both revisions of the protocol are answered, by JSON and without a session', async () => {
  for (const mode of ['legacy', 'auto'] as const) {
    const agent = await connectAgent(api, client, mode)
    assert.equal((await agent.names()).length, TOOLS.length, mode)
    assert.match(agent.mcp.getInstructions()!, /no real money moves/)
    const made = await agent.data('create_charge', {
      amount: 500,
      customer: payer(),
      idempotencyKey: mode,
    })
    assert.equal((await agent.data('explain_charge', { id: made.id })).isPaid, false)
    assert.equal(await agent.refusal('explain_charge', { id: 'charge_x' }), 'charge_not_found')
  }
  const modern = await connectAgent(api, client, 'auto')
  assert.equal(modern.mcp.getNegotiatedProtocolVersion(), '2026-07-28')
  const { headers } = await send(message('tools/list'))
  assert.match(headers.get('content-type')!, /^application\/json/)
  assert.equal(headers.get('mcp-session-id'), null)
})

test('a wrong key and no key are refused, and a key as an argument is none', async () => {
  const wrong = await send(message('tools/list'), bearer(`${client.key}x`))
  assert.deepEqual([wrong.status, wrong.body.errors[0].code], [401, 'invalid_api_key'])
  assert.equal(wrong.headers.get('www-authenticate'), 'Bearer')
  const none = await send(tool('get_balance', { key: client.key }), {})
  assert.deepEqual([none.status, none.body.errors[0].code], [401, 'missing_api_key'])
  assert.match(none.text, /Authorization: Bearer/)
  assert.equal((await send(message('tools/list'), { 'X-API-KEY': client.key })).status, 200)
  // The operations of the API take the key as they were published.
  assert.equal((await api.call('GET', '/company', { headers: bearer(client.key) })).status, 401)
  await assert.rejects(connectAgent(api, { key: 'nothing' }))
})

test('GET and DELETE are answered as the protocol says for a server without streams', async () => {
  for (const method of ['GET', 'DELETE']) {
    const reply = await api.call(method, '/mcp', { headers: bearer(client.key) })
    assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'POST'])
    assert.equal(reply.body.error.code, -32000)
  }
})

test('a script of another site is refused, whatever its key', async () => {
  for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example']) {
    const reply = await send(message('tools/list'), { ...bearer(client.key), origin })
    assert.equal(reply.status, 403, origin)
  }
  for (const origin of ['http://vintem.test', 'http://localhost:6274']) {
    const reply = await send(message('tools/list'), { ...bearer(client.key), origin })
    assert.equal(reply.status, 200, origin)
  }
})

test('what is no message, several messages, and a stream are refused', async () => {
  const batch = await send([message('tools/list'), message('tools/list')])
  assert.deepEqual([batch.status, batch.body.error.code], [400, -32600])
  for (const wrong of [null, 7, 'text', {}, { jsonrpc: '2.0' }, { method: 'tools/list' }]) {
    assert.equal((await send(wrong)).status, 400, JSON.stringify(wrong))
  }
  const text = await api.call('POST', '/mcp', { raw: '{', headers: bearer(client.key) })
  assert.deepEqual([text.status, text.body.errors[0].code], [400, 'invalid_json'])
  const unknown = await send(message('tools/destroy'))
  assert.equal(unknown.body.error.code, -32601)
  const noTool = await send(tool('confirm_withdrawal', { otp: '123456' }))
  assert.equal(noTool.body.error.code, -32602)
  const agent = await connectAgent(api, client, 'auto')
  await assert.rejects(agent.mcp.listen({ toolsListChanged: true }))
  const note = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  assert.deepEqual([note.status, note.text], [202, ''])
  const hidden = await api.call('POST', '/mcp', {
    raw: JSON.stringify(tool('find_charges', { text: 'a' })).replace('"a"', '"\\u0000"'),
    headers: bearer(client.key),
  })
  assert.equal(hidden.status, 400)
})

test('the logs name the tool, and what it was refused with', async () => {
  const own = await api.client()
  const agent = await connectAgent(api, own)
  const args = { amount: 700, customer: payer(), idempotencyKey: 'logged' }
  await agent.data('create_charge', args)
  await agent.refusal('explain_charge', { id: 'charge_x' })
  await Promise.all([api.app.requestLog.idle(), api.app.lateActivity.idle()])
  const requests = await api.rows<{ operation: string; status: number; error_code: string | null }>(
    'select operation, status, error_code from api_requests where company_id = $1 order by id',
    [own.company.id],
  )
  const tools = requests.filter(({ operation }) => operation !== 'mcp')
  assert.deepEqual(
    tools.map((one) => [one.operation, one.status, one.error_code]),
    [
      ['mcp:create_charge', 200, null],
      ['mcp:explain_charge', 404, 'charge_not_found'],
    ],
  )
  const changes = await api.rows<{ action: string; author_kind: string }>(
    'select action, author_kind from activity where company_id = $1',
    [own.company.id],
  )
  assert.deepEqual(changes, [{ action: 'createPixCharge', author_kind: 'key' }])
})

async function suspended(): Promise<Client> {
  const own = await api.client()
  const by = { kind: 'service', id: null, name: 'test', address: null } as const
  const now = api.clock.now()
  await api.app.db.transaction((tx) => changeSuspension(tx, own.company.id, true, by, now))
  return own
}

test('an agent of a suspended company reads, and changes nothing', async () => {
  const agent = await connectAgent(api, await suspended())
  await agent.data('get_balance')
  const args = { amount: 700, customer: payer(), idempotencyKey: 'a' }
  assert.equal(await agent.refusal('create_charge', args), 'company_suspended')
})

test('a key that sends too much learns when to go on', async () => {
  const limited = await startApi({ RATE_LIMIT: '1', RATE_LIMIT_BURST: '2' })
  const own = await limited.client()
  const ask = () =>
    limited.call('POST', '/mcp', { json: message('tools/list'), headers: bearer(own.key) })
  const replies = await Promise.all(Array.from({ length: 5 }, ask))
  const refused = replies.filter(({ status }) => status === 429)
  assert.ok(refused.length >= 2)
  assert.match(refused[0]!.headers.get('retry-after')!, /^\d+$/)
})

const LONG = 'a'.repeat(60_000)
const names = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, 0]))
const deep = (levels: number): unknown => (levels === 0 ? 0 : { a: deep(levels - 1) })

test('no message keeps the event loop for 50 ms', async () => {
  const worst: Record<string, unknown> = {
    'a long method': message(LONG),
    'a long name of a tool': tool(LONG),
    'a long text': tool('find_charges', { text: LONG }),
    'many arguments': tool('find_charges', names(6_000)),
    'many items': tool('create_payment_link', { items: Array.from({ length: 15_000 }, () => 0) }),
    'many fields': message('tools/list', names(6_000)),
    'many messages': Array.from({ length: 1_000 }, () => message('ping')),
    'a deep value': tool('find_charges', { text: deep(25) }),
    'a long list of tools': message('tools/list'),
  }
  for (const [name, json] of Object.entries(worst)) {
    await assertYields(name, async () => {
      const { status, text } = await send(json)
      assert.ok(status < 500, `${name}: ${text.slice(0, 200)}`)
      assert.ok(text.length < 64 * 1024, `${name} is answered with ${text.length} bytes`)
    })
  }
})
