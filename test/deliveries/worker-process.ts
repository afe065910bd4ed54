import { createApp } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { FullApp } from '../../src/core/full-app.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createLog } from '../../src/lib/log.ts'
import { startWorker, TASKS } from '../../src/worker/worker.ts'
import { LIFE_HEADER } from './life.ts'

/**
 * The worker in a process of its own, wired as by `main.ts --role worker`. Only local mode delivers
 * to this machine, and `main.ts` has that mode only with a database of its own.
 */
const config = { ...readConfig(process.env), local: true }
const { publicUrl } = config
const databaseUrl = config.databaseUrl!
const log = createLog('warn')
const app = createApp({ config, databaseUrl, clock: systemClock, log, publicUrl })
/** Tells a receiver which life of a worker a delivery comes from. */
const named: FullApp['sender'] = {
  ...app.sender,
  post: (url, headers, body, signal) =>
    app.sender.post(url, { ...headers, [LIFE_HEADER]: process.env.LIFE ?? '' }, body, signal),
}
// It does not see what other processes write.
const worker = startWorker({ ...app, sender: named }, TASKS, 0)
process.on('SIGTERM', async () => {
  await worker.stop()
  await app.sender.close()
  app.mailer.close()
  await app.db.end()
  process.exit(0)
})
console.log('working')
