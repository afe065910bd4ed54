import { cpu_ms } from '../support/loop.ts'

/**
 * Is loaded into the service, and reports to whoever started it how long the event loop was blocked
 * at most since it was last asked: the time of the processor between two ticks, so that other
 * processes of a busy machine do not count.
 */
const LOOK_MS = 4

let longest_ms = 0
let last = cpu_ms()
const look = () => {
  const now = cpu_ms()
  longest_ms = Math.max(longest_ms, now - last)
  last = now
}
setInterval(look, LOOK_MS).unref()

process.on('message', () => {
  process.send!({ longest_ms })
  longest_ms = 0
})
// If whoever started the service is gone, it ends as if it had been asked to.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()
