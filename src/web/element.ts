import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readElementToken } from '../core/charges/addresses.ts'
import { isPlayMoney } from '../core/charges/rules.ts'
import { showAmount } from '../core/charges/view.ts'
import type { FullFront } from '../core/full-app.ts'
import { problem } from '../lib/problems.ts'
import { lastDayToPay } from '../pix/due-amount.ts'
import { localDateOf } from '../pix/local-time.ts'
import { qrDataUrl } from '../pix/qr.ts'
import { sendFile } from './assets.ts'
import { type Found, findInDatabase, lookUp, type State, stateNow } from './found.ts'
import type { Site } from './site.ts'

/** What `<vintem-pix>` shows. It names no person. */
type Shown = {
  state: State
  /** Cents. With a due date it is the amount of today. */
  amount: number
  /** The code and its image while the charge can be paid, otherwise null. */
  brCode: string | null
  brCodeBase64: string | null
  /** By the clock of the server. Null if the charge is open for whole days. */
  secondsLeft: number | null
  lastDay: string | null
  /** Whether no money moves. */
  test: boolean
}

/** What pages of every origin may read. Nothing else of the service is for them. */
export function forShops(scope: FastifyInstance): void {
  const allow = async (_request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({
      'Access-Control-Allow-Origin': '*',
      'Cross-Origin-Resource-Policy': 'cross-origin',
      'X-Content-Type-Options': 'nosniff',
    })
  }
  scope.addHook('onRequest', allow)
  // Also what a limit has refused before.
  scope.addHook('onSend', allow)
}

/** Finds what an element shows. Its token opens no page, and that of a page no element. */
export const lookUpElement = (
  front: FullFront,
  token: string,
  findOwner = findInDatabase,
): Promise<Found> => lookUp(front, token, { read: readElementToken, findOwner })

/** The custom element, and what it asks for. `live.ts` tells it of changes. */
export function registerElement(scope: FastifyInstance, { app, assets }: Site): void {
  const file = assets.named('element.js')
  scope.register(async (shops) => {
    forShops(shops)
    shops.get('/element.js', async (request, reply) =>
      sendFile(request, reply.header('Cache-Control', 'public, max-age=3600'), file),
    )
    shops.get<{ Params: { token: string } }>('/element/:token', async (request, reply) => {
      const found = await lookUpElement(app, request.params.token)
      return reply.header('Cache-Control', 'no-store').send(await show(found))
    })
  })
}

async function show(found: Found): Promise<Shown> {
  if (!('charge' in found)) throw problem('charge_not_found')
  const { app, company, charge } = found
  const now = app.clock.now()
  const state = await stateNow(found)
  const brCode = state === 'open' ? charge.brCode : null
  const left_ms = charge.expiresAt.getTime() - now.getTime()
  return {
    state,
    amount: showAmount(charge, localDateOf(now)).total,
    brCode,
    brCodeBase64: brCode && qrDataUrl(brCode),
    secondsLeft: charge.due ? null : Math.max(0, Math.ceil(left_ms / 1000)),
    lastDay: charge.due && lastDayToPay(charge.due.terms),
    test: isPlayMoney(company, charge),
  }
}
