import type { FastifyReply, FastifyRequest } from 'fastify'
import { recordForPerson } from '../../core/people/activity.ts'
import type { Person } from '../../core/people/rules.ts'
import { endSession, startSession } from '../../core/people/sessions.ts'
import { clientName } from '../../lib/client-name.ts'
import { giveCookie, readCookie } from '../dashboard/cookie.ts'
import { authorOf, safePath } from '../dashboard/signed-in.ts'
import type { Site } from '../site.ts'

/**
 * Signs somebody in who has proved who they are, with a new token in any case. The session that the
 * browser had before ends, so that nobody who knows its token is signed in.
 */
export async function startSessionIn(
  { app }: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  person: Person,
  hasSecondFactor: boolean,
  next: string | undefined,
): Promise<FastifyReply> {
  const origin = {
    address: clientName(request.ip),
    device: request.headers['user-agent'] ?? '',
  }
  const proof = { isConfirmed: true, hasSecondFactor }
  const now = app.systemClock.now()
  const former = readCookie(app.publicUrl, request)
  const { token } = await app.db.transaction(async (tx) => {
    if (former) await endSession(tx, app.vault, former)
    await recordForPerson(tx, app, person.id, authorOf(person, request), 'session.start')
    return startSession(tx, app.vault, person.id, origin, proof, now)
  })
  return giveCookie(reply, app.publicUrl, token).redirect(safePath(next), 303)
}
