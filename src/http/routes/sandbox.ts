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
    'A sandbox company has the real time until it moves its clock. During a move, `running` names the work at the moment that the clock has reached.',
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
    'By `advance` seconds or to `now`. All work that falls due is done at its own moment and in order: subscriptions are charged, charges expire, money becomes available, one-time codes expire, failed webhooks are tried again. Answers when that is done, or after some seconds with status ADVANCING and what is still running; the move continues, and GET shows its progress. Time never goes back.',
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
    const isAdvancing = moved.status === 'ADVANCING'
    if (isAdvancing) await untilAdvanced(app, company.id, app.config.clockWaitSeconds * 1000)
    // After the answer every server must use the new time.
    await oneMoveAtATime(app, company.id, () => waitUntilApplied(app.db))
    return isAdvancing ? call.revise(showClock(await readClock(app.db, app, company))) : moved
  },
})

export const sandboxRoutes = [get, move]
