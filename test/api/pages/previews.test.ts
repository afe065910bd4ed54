import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../../src/lib/ids.ts'
import { payer, startApi } from '../../support/api.ts'
import { at, linkTo, productOf } from '../../support/pages.ts'
import { makePaid } from '../../support/payments.ts'
import { stopTime } from '../../support/stopped-time.ts'
import { makeSubscription, makeTemplate } from '../../support/subscriptions.ts'

const api = await startApi()

/** A messenger's crawler: it runs no script, and takes anything. */
const CRAWLER = { headers: { 'user-agent': 'WhatsApp/2.23', accept: '*/*' } }

async function tagsOf(url: string): Promise<Record<string, string>> {
  const page = await fetch(at(api, url), CRAWLER)
  assert.equal(page.status, 200)
  const markup = await page.text()
  assert.match(markup, /<meta name="robots" content="noindex">/)
  const tags = markup.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)
  return Object.fromEntries([...tags].map(([, name, content]) => [name, content]))
}

const pictureOf = (tags: Record<string, string>, headers = {}) =>
  fetch(at(api, tags['og:image']!), { headers, redirect: 'manual' })

test('each page that is sent as a link has a preview: charge, link, receipt, subscription', async () => {
  const client = await api.client({ name: 'Pão & "Cia"' })
  const made = await client.post('/charge/pix', { amount: 1990, customer: payer() })
  const link = await client.post('/charge/payment-link', { total: 4990, customer: payer() })
  const { id: paidId } = await makePaid(api, client, 2990)
  const receipt = (await client.get(`/charge/${paidId}`)).body.data
  const template = await makeTemplate(client)
  const { id } = await makeSubscription(client, { name: 'Clube' })
  const agreement = (await client.get(`/pix-automatic/recurrences/${id}`)).body.data
  const pages: [url: string, title: RegExp][] = [
    [made.body.data.url, /R\$ 19,90/],
    [link.body.data.url, /R\$ 49,90/],
    [receipt.url, /Comprovante.*R\$ 29,90/],
    [template.url, /Pão todo dia/],
    [agreement.paymentLinkUrl ?? template.url, /Clube|Pão/],
  ]
  for (const [url, title] of pages) {
    const tags = await tagsOf(url)
    assert.match(tags['og:title']!, title)
    assert.match(tags['og:title']!, /Pão &amp; &quot;Cia&quot;$/)
    assert.equal(tags['og:url'], url)
    assert.equal(tags['og:type'], 'website')
    assert.equal(tags['og:locale'], 'pt_BR')
    assert.equal(tags['twitter:card'], 'summary_large_image')
    assert.deepEqual([tags['og:image:width'], tags['og:image:height']], ['1200', '630'])
    assert.ok(tags['og:description']!.length > 10)
    assert.equal((await pictureOf(tags)).status, 200)
    assert.doesNotMatch(JSON.stringify(tags), /Maria|247-25|52998224725/, 'nothing of the payer')
    assert.doesNotMatch(tags['og:image']!, /1990|4990|2990/, 'nor the amount in the address')
  }
  const english = await tagsOf(`${link.body.data.url}?lang=en`)
  assert.equal(english['og:locale'], 'en_US')
  assert.match(english['og:url']!, /\?lang=en$/)
})

test('a preview of play money says so, one of real money does not', async () => {
  const live = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const trial = await live.post('/charge/pix', {
    amount: 1990,
    customer: payer(),
    devMode: true,
  })
  const sandbox = await linkTo(api, await api.client(), { total: 5000 })
  for (const url of [trial.body.data.url, sandbox]) {
    assert.match((await tagsOf(url))['og:description']!, /^TESTE, sem valor real\. /)
  }
  const productId = await productOf(live, { name: 'Pão', type: 'RECURRING', frequency: 'MONTHLY' })
  const template = await makeTemplate(live, { productId })
  assert.doesNotMatch((await tagsOf(template.url))['og:description']!, /teste/i)
})

test('a picture is small, kept forever under its hash, and not sent again', async () => {
  const client = await api.client({ name: 'Açaí 🍇'.repeat(30), color: '#5b21b6' })
  const tags = await tagsOf(await linkTo(api, client, { total: 5000 }))
  const picture = await pictureOf(tags)
  assert.equal(picture.headers.get('content-type'), 'image/png')
  assert.match(picture.headers.get('cache-control')!, /^public, max-age=\d{8}, immutable$/)
  assert.equal(picture.headers.get('x-content-type-options'), 'nosniff')
  const bytes = Buffer.from(await picture.arrayBuffer())
  assert.ok(bytes.length > 1_000 && bytes.length < 100_000, `${bytes.length} bytes`)
  assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [1200, 630])
  const etag = picture.headers.get('etag')!
  const again = await pictureOf(tags, { 'if-none-match': etag })
  assert.equal(again.status, 304)
  assert.equal((await again.arrayBuffer()).byteLength, 0)
})

test('another name or color is another address, and the old one leads to it', async () => {
  const client = await api.client()
  const url = await linkTo(api, client, { total: 5000 })
  const before = await tagsOf(url)
  await api.rows("update companies set color = '#b3261e' where id = $1", [client.company.id])
  const after = await tagsOf(url)
  assert.notEqual(before['og:image'], after['og:image'])
  const moved = await pictureOf(before)
  assert.equal(moved.status, 302)
  assert.ok(after['og:image']!.endsWith(moved.headers.get('location')!))
})

test('there are no pictures but those of companies', async () => {
  const { company } = await api.client()
  const file = `pt-${'0'.repeat(20)}.png`
  for (const path of [
    `/preview/${newId()}/${file}`,
    `/preview/x/${file}`,
    `/preview/${company.id}/x.png`,
    `/preview/${company.id}/de-${'0'.repeat(20)}.png`,
  ]) {
    assert.equal((await fetch(api.url + path)).status, 404, path)
  }
})

test('whoever asks for pictures without end is asked to wait', async (t) => {
  const limited = await startApi({ RATE_LIMIT: '100' })
  const { company } = await limited.client()
  const path = `${limited.url}/preview/${company.id}/pt-${'0'.repeat(20)}.png`
  stopTime(t)
  const asked = await Promise.all(
    Array.from({ length: 150 }, () => fetch(path, { redirect: 'manual' })),
  )
  const refused = asked.filter(({ status }) => status === 429)
  assert.ok(refused.length > 0)
  assert.match(refused[0]!.headers.get('retry-after')!, /^\d+$/)
})
