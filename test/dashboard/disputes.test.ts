import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { decide, disputeNow, makeReceived, openDispute, requireClean } from '../support/disputes.ts'
import { makePaid } from '../support/payments.ts'
import { confirmed } from '../support/withdrawals.ts'

const api = await startApi()

/** Sends a defense as a browser does: fields for files that were not chosen are empty. */
async function sendDefense(member: Member, id: string, text: string, files: Buffer[]) {
  const form = new FormData()
  form.set('token', formTokenOf(api.app.vault, member.session))
  form.set('once', suffixOf(newId()))
  form.set('text', text)
  for (let i = 0; i < 5; i++) {
    form.set(`file${i + 1}`, new Blob([new Uint8Array(files[i] ?? [])]), `${i}.pdf`)
  }
  const reply = await fetch(`${api.url}${member.home}/disputes/${id}/defend`, {
    method: 'POST',
    body: form,
    headers: { cookie: member.cookie },
    redirect: 'manual',
  })
  return { status: reply.status, text: await reply.text(), to: reply.headers.get('location') }
}

test('a dispute is explained, waits on the first page, and is defended with a file', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const { id: charge, endToEndId } = await makePaid(api, client, 1990)
  const { id } = await openDispute(client, endToEndId, { hours: 72 })
  assert.match((await owner.get('')).text, /1 disputa aguarda a sua resposta, até 23\/08\/2026/)
  const list = (await owner.get('/disputes')).text
  assert.match(list, /Aguardando resposta/)
  for (const [path, tab, count] of [
    ['/disputes', 'Todas', 1],
    ['/disputes?status=OPEN', 'Aguardando resposta', 1],
    ['/disputes?status=WON', 'Ganha', 0],
  ] as const) {
    const link = `href="${owner.home}${path.replace('?', '\\?')}"[^>]*>[^<]*${tab}\\w*[^<]*<[^>]*>${count}<`
    assert.match(list, new RegExp(link), tab)
  }
  const page = (await owner.get(`/disputes/${id}`)).text
  for (const said of [
    /sofreu uma fraude/,
    /Responda até 23\/08\/2026/,
    /Enviar defesa/,
    /Reservado agora/,
  ]) {
    assert.match(page, said)
  }
  assert.match((await owner.get('/balance')).text, /Em disputa/)
  assert.match((await owner.get(`/charges/${charge}`)).text, /O pagador contestou R\$\s19,90/)
  const wrong = await sendDefense(owner, id, 'Entregue.', [Buffer.from('<html>')])
  assert.equal(wrong.status, 400)
  assert.match(wrong.text, /Envie um PDF, PNG ou JPEG de até 1 MB\./)
  const pdf = Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(300_000, 7)])
  const sent = await sendDefense(owner, id, 'Entregue à Maria.', [pdf])
  assert.match(sent.to ?? sent.text, /done=defended$/)
  const shown = (await owner.get(`/disputes/${id}`)).text
  assert.match(shown, /Entregue à Maria\./)
  assert.doesNotMatch(shown, /Enviar defesa<\/a>/)
  const file = await fetch(`${api.url}${owner.home}/disputes/${id}/files/1`, {
    headers: { cookie: owner.cookie },
  })
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), pdf)
  assert.match(file.headers.get('content-disposition')!, /^attachment; /)
  assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
  assert.equal((await owner.get(`/disputes/${id}/files/2`)).status, 404)
})

test('to accept asks once, moves the money, and a viewer may not', async () => {
  const client = await api.client()
  const [owner, viewer] = [
    await signIn(api, client.company),
    await signIn(api, client.company, { role: 'viewer' }),
  ]
  const { endToEndId } = await makePaid(api, client, 1990)
  const { id } = await openDispute(client, endToEndId)
  assert.match(
    (await owner.get(`/disputes/${id}/accept`)).text,
    /R\$\s19,90 voltam para quem pagou/,
  )
  assert.equal((await viewer.post(`/disputes/${id}/accept`)).status, 403)
  assert.match((await owner.post(`/disputes/${id}/accept`)).location!, /done=accepted$/)
  assert.equal((await disputeNow(client, id)).status, 'ACCEPTED')
  await requireClean(api, client)
})

test('a balance below zero is explained where people see it', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const { endToEndId } = await makeReceived(api, client, 1990)
  await confirmed(api, client, 101_990)
  const { id } = await openDispute(client, endToEndId)
  assert.match((await owner.get('/balance')).text, /O saldo disponível está negativo: um pagamento/)
  await decide(client, id, 'lost')
  assert.match((await owner.get(`/disputes/${id}`)).text, /O banco acatou a contestação/)
})
