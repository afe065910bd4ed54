import type { FastifyReply, FastifyRequest } from 'fastify'
import { recordForPerson } from '../../core/people/activity.ts'
import type { Person } from '../../core/people/rules.ts'
import { setFactorCountsAt } from '../../core/people/second-factors-store.ts'
import { endSession, type Proof, startSession } from '../../core/people/sessions.ts'
import { clientName } from '../../lib/client-name.ts'
import { giveCookie, readCookie } from '../dashboard/cookie.ts'
import { authorOf, safePath } from '../dashboard/signed-in.ts'
import type { Site } from '../site.ts'

/**
 * Signs somebody in who has proved who they are, with a new token in any case. The session that the
 * browser had before ends, so that nobody who knows its token is signed in. If they have opened a
 * link from us and given a second factor that does not count yet, it counts from now on.
 */
export async function startSessionIn(
  { app }: Site,
  request: FastifyRequest,
  reply: FastifyReply,
  person: Person,
  proven: Pick<Proof, 'hasSecondFactor' | 'byLink'>,
  next: string | undefined,
): Promise<FastifyReply> {
  const origin = {
    address: clientName(request.ip),
    device: request.headers['user-agent'] ?? '',
  }
  const proof = { isConfirmed: true, ...proven }
  const isWaiting = person.factorCountsAt !== null
  const now = app.systemClock.now()
  const former = readCookie(app.publicUrl, request)
  const { token } = await app.db.control.transaction(async (tx) => {
    if (former) await endSession(tx, app.vault, former)
    if (isWaiting && proof.byLink && proof.hasSecondFactor) {
      await setFactorCountsAt(tx, person.id, null)
    }
    await recordForPerson(tx, app, person.id, authorOf(person, request), 'session.start')
    return startSession(tx, app.vault, person.id, origin, proof, now)
  })
  return giveCookie(reply, app.publicUrl, token).redirect(safePath(next), 303)
}
