import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Company } from '../core/companies/rules.ts'
import { findCompany } from '../core/companies/store.ts'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { clientName } from '../lib/client-name.ts'
import { forEachLimited } from '../lib/for-each-limited.ts'
import type { Uuid } from '../lib/ids.ts'
import { describeError } from '../lib/log.ts'
import { problem } from '../lib/problems.ts'
import { forShops, lookUpElement } from './element.ts'
import {
  type FindOwner,
  type Found,
  findInDatabase,
  isFinal,
  lookUp,
  needsOthers,
  type State,
  stateNow,
  stateOf,
} from './found.ts'
import type { Site } from './site.ts'
import { holdSlot } from './slots.ts'

/** How an address finds what its page shows. */
type Look = (token: string, findOwner?: FindOwner) => Promise<Found>

/** How often the states of all open pages are read. */
const POLL_MS = 500
/** The next poll starts at the earliest after so many times the duration of the last one. */
const POLL_FACTOR = 10
/** How many charges are read at the same time, so that other reads of charges are not delayed. */
const LOOKUPS_AT_ONCE = 16
/** How often something is sent, so that no proxy closes an idle connection. */
const HEARTBEAT_MS = 15_000
/** If there are more, a page polls by itself, which needs no open connection. */
const MAX_WATCHERS = 5000
/** Open pages of one address. Customers of a shop may share it. An IPv6 network counts as one. */
const MAX_OF_ADDRESS = 100
/** Pages that one address opens. One that is refused asks by itself. */
const OPENED = { perSecond: 10, burst: MAX_OF_ADDRESS }
/** Open pages of one charge, which has one payer and perhaps a few devices. */
const MAX_OF_CHARGE = 20

type Watcher = {
  token: string
  look: Look
  state: State | null
  reply: FastifyReply
  /** Most states are those of the charge, and reading more for each page would cost too much. */
  needsOthers: boolean
}

/**
 * Notifies open pages if the state of what they show has changed. A page receives the state and
 * then reloads itself, so that only one file knows what a state looks like.
 */
export function registerLive(scope: FastifyInstance, { app, closing }: Site): void {
  type Named = { Params: { token: string } }
  const watch = createWatch(app, closing)
  const { rate, queue } = app.limits
  const byAddress = queue('open pages', { size: MAX_WATCHERS, perOwner: MAX_OF_ADDRESS })
  const byToken = queue('open pages of a charge', { perOwner: MAX_OF_CHARGE })
  const opened = app.config.rateLimit && rate('opened pages', OPENED.perSecond, OPENED.burst)

  function follow(on: FastifyInstance, path: string, look: Look): void {
    // Nobody asks for the head of something that has no end.
    on.get<Named>(path, { exposeHeadRoute: false }, async (request, reply) => {
      const { token } = request.params
      const address = clientName(request.ip)
      if (opened && (await opened.take(address)) > 0) throw tooManyPages()
      const hasSlot = await holdSlot(byAddress, address, reply)
      if (!hasSlot || !(await holdSlot(byToken, token, reply))) throw tooManyPages()
      const found = await look(token)
      const watcher = { token, look, state: null, reply, needsOthers: await needsOthers(found) }
      const state = watcher.needsOthers ? await stateNow(found) : stateOf(found)
      startStream(reply)
      watch.join(watcher, state)
    })
  }

  follow(scope, '/pay/:token/events', (token, findOwner = findInDatabase) =>
    lookUp(app, token, { findOwner }),
  )
  scope.get<Named>('/pay/:token/status', async (request, reply) => {
    const state = await stateNow(await lookUp(app, request.params.token))
    return reply.header('Cache-Control', 'no-store').send({ state })
  })
  scope.register(async (shops) => {
    forShops(shops)
    follow(shops, '/element/:token/events', (token, findOwner) =>
      lookUpElement(app, token, findOwner),
    )
  })
}

const tooManyPages = () => problem('rate_limited', 'Too many open pages.', { 'Retry-After': '10' })

function startStream(reply: FastifyReply): void {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
    'X-Content-Type-Options': 'nosniff',
  })
  reply.raw.write('retry: 2000\n\n')
}

/** Polls the states of all open pages, while there are any. */
function createWatch(app: FullFront, closing: AbortSignal) {
  const watchers = new Set<Watcher>()
  let timer: NodeJS.Timeout | null = null
  let polling = false
  let nextPoll_ms = 0
  let heartbeat_ms = 0

  function leave(watcher: Watcher): void {
    watchers.delete(watcher)
    if (watchers.size > 0 || !timer) return
    clearInterval(timer)
    timer = null
  }

  function notify(watcher: Watcher, state: State): void {
    const { raw } = watcher.reply
    if (watcher.state !== state) raw.write(`data: ${JSON.stringify({ state })}\n\n`)
    watcher.state = state
    if (!isFinal(state)) return
    leave(watcher)
    raw.end()
  }

  async function poll(): Promise<void> {
    const start_ms = performance.now()
    if (polling || start_ms < nextPoll_ms) return
    polling = true
    const findOwner = cacheOwners()
    const faults: unknown[] = []
    const byToken = [...Map.groupBy(watchers, ({ token }) => token)]
    await forEachLimited(LOOKUPS_AT_ONCE, byToken, async ([token, group]) => {
      try {
        const found = await group[0]!.look(token, findOwner)
        const state = group[0]!.needsOthers ? await stateNow(found) : stateOf(found)
        for (const watcher of group) if (watchers.has(watcher)) notify(watcher, state)
      } catch (error) {
        faults.push(error)
      }
    })
    polling = false
    nextPoll_ms = start_ms + POLL_FACTOR * (performance.now() - start_ms)
    if (faults.length > 0)
      app.log.warn(describeError(faults[0]), 'the states of open pages could not be read')
    if (start_ms < heartbeat_ms) return
    heartbeat_ms = start_ms + HEARTBEAT_MS
    for (const { reply } of watchers) reply.raw.write(':\n\n')
  }

  // Pages then open another stream, at a process that goes on.
  closing.addEventListener('abort', () => {
    for (const { reply } of watchers) reply.raw.end()
  })
  return {
    join(watcher: Watcher, state: State): void {
      if (closing.aborted) watcher.reply.raw.end()
      // If the page was closed meanwhile, nothing would make it leave.
      if (watcher.reply.raw.destroyed || closing.aborted) return
      watchers.add(watcher)
      timer ??= setInterval(poll, POLL_MS).unref()
      watcher.reply.raw.on('close', () => leave(watcher))
      notify(watcher, state)
    },
  }
}

/** Reads each company once in a poll, because many pages belong to the same one. */
function cacheOwners(): (app: FullApp, id: Uuid) => Promise<Company | null> {
  const owners = new Map<Uuid, Promise<Company | null>>()
  return (app, id) => {
    const owner = owners.get(id) ?? findCompany(app.db, id)
    owners.set(id, owner)
    return owner
  }
}
