import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as open } from 'node:http'
import { test } from 'node:test'
import type { Charge } from '../../../src/core/charges/rules.ts'
import { fromPublic, type Uuid } from '../../../src/lib/ids.ts'
import { startApi } from '../../support/api.ts'
import { makeCharge } from '../../support/payments.ts'
import { until } from '../../support/until.ts'

const api = await startApi()
const PAGES = 80
const MAX_AT_ONCE = 16

test('however many pages are open, few charges are looked up at once', async () => {
  const client = await api.client()
  const made = await Promise.all(Array.from({ length: PAGES }, () => makeCharge(client, 700)))
  const pages = await Promise.all(made.map(({ id }) => client.get(`/charge/${id}`)))
  const { find } = api.app.charges
  let [underWay, most, looked] = [0, 0, 0]
  const all = Promise.withResolvers<void>()
  const watched = async (...asked: Parameters<typeof find>): Promise<Charge | null> => {
    underWay += 1
    most = Math.max(most, underWay)
    const charge = await find(...asked)
    underWay -= 1
    looked += 1
    if (looked === PAGES) all.resolve()
    return charge
  }
  const streams = await Promise.all(
    pages.map(({ body }) => openStream(`${api.url}${new URL(body.data.url).pathname}/events`)),
  )
  api.app.charges.find = Object.assign(watched, { idle: find.idle })
  await all.promise
  api.app.charges.find = find
  for (const stream of streams) stream.destroy()
  assert.ok(most <= MAX_AT_ONCE, `${most} at once`)
  assert.ok(most > 1, 'and more than one, which would be slow')
})

test('a page that is closed before its stream begins is not looked up any more', async () => {
  const client = await api.client()
  const [closed, watching] = await Promise.all([makeCharge(client, 700), makeCharge(client, 700)])
  const eventsOf = async ({ id }: { id: string }) => {
    const { body } = await client.get(`/charge/${id}`)
    return `${api.url}${new URL(body.data.url).pathname}/events`
  }
  const { find } = api.app.charges
  const held = Promise.withResolvers<void>()
  const looked: Uuid[] = []
  const watched = async (asked: Parameters<typeof find>[0]): Promise<Charge | null> => {
    looked.push(asked.id)
    await held.promise
    return find(asked)
  }
  const [first, second] = [await eventsOf(closed), await eventsOf(watching)]
  const countOf = ({ id }: { id: string }) =>
    looked.filter((one) => one === fromPublic('charge', id)).length
  api.app.charges.find = Object.assign(watched, { idle: find.idle })
  const connected = once(api.service.server.server, 'connection')
  const page = open(first, { agent: false })
    .on('error', () => {})
    .end()
  const [connection] = await connected
  await until('it is looked up', () => countOf(closed) === 1)
  page.destroy()
  await once(connection, 'close')
  held.resolve()
  const stream = await openStream(second)
  await until('open pages are looked up again', () => countOf(watching) > 3)
  api.app.charges.find = find
  stream.destroy()
  assert.equal(countOf(closed), 1)
})

/** Resolves when the stream has begun. */
const openStream = (url: string) =>
  new Promise<{ destroy(): void }>((resolve, reject) => {
    const asking = open(url, (reply) => {
      assert.equal(reply.statusCode, 200)
      reply.on('error', () => {})
      reply.resume()
      resolve(asking)
    })
    asking.on('error', reject)
    asking.end()
  })
