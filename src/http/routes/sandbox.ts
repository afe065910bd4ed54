import { moveClock, oneMoveAtATime, readClock, untilAdvanced } from '../../core/clocks/commands.ts'
import { moveFaults } from '../../core/clocks/rules.ts'
import { ClockMove, ClockView, showClock } from '../../core/clocks/view.ts'
import { waitUntilApplied } from '../../core/companies/announce.ts'
import { route } from '../route.ts'

const get = route({
  method: 'GET',
  path: '/sandbox/clock',
  operationId: 'getClock',
  tag: 'Sandbox',
  summary: 'Get the time of a sandbox company',
  description:
    'A sandbox company lives in real time until it moves its clock. While a move is under way, `running` names what is being done at the moment that the clock has come to.',
  scope: 'company:read',
  data: ClockView,
  status: 200,
  message: 'Clock found.',
  problems: ['clock_not_found'],
  handle: async ({ app, company }) => showClock(await readClock(app.db, app, company)),
})

const move = route({
  method: 'POST',
  path: '/sandbox/clock',
  operationId: 'moveClock',
  tag: 'Sandbox',
  summary: 'Move the time of a sandbox company forward',
  description:
    'By `advance` seconds or to `now`. Everything that falls due on the way is done at its own moment and in order: subscriptions are charged, charges expire, money settles, one-time codes run out, failed webhooks are tried again. Answers when that is done, or after some seconds with status ADVANCING and what is still running; it goes on by itself, and GET shows how far it is. Time never goes back.',
  scope: 'company:write',
  body: ClockMove,
  example: { advance: 86_400 },
  check: moveFaults,
  data: ClockView,
  status: 200,
  message: 'Clock moved.',
  problems: ['clock_not_found', 'clock_advancing'],
  async handle(call) {
    const { app, company, body } = call
    const moved = await oneMoveAtATime(app, company.id, () =>
      call.commit(async (tx) => {
        await moveClock(tx, app, company, body)
        return showClock(await readClock(tx, app, company))
      }),
    )
    const arrives = moved.status === 'ADVANCING'
    if (arrives) await untilAdvanced(app, company.id, app.config.clockWaitSeconds * 1000)
    // Whoever has the answer meets the new time everywhere.
    await oneMoveAtATime(app, company.id, () => waitUntilApplied(app.db))
    return arrives ? call.revise(showClock(await readClock(app.db, app, company))) : moved
  },
})

export const sandboxRoutes = [get, move]
