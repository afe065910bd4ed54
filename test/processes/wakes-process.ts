import cluster from 'node:cluster'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/lib/log.ts'
import { openChannel } from '../../src/processes/channel.ts'
import { startGroup } from '../../src/processes/group.ts'

/**
 * A parent with two processes for requests, each of which wakes a task and writes, and a worker
 * that prints what it gets. It ends when both tasks were woken.
 */
function runParent(): void {
  const config = readConfig({ DATA_DIR: process.argv[2]!, PROCESSES: '2', SHUTDOWN_SECONDS: '60' })
  const log = createLog('silent')
  const group = startGroup({ config, databaseUrl: '', hasWorker: true, log })
  process.on('SIGTERM', () => group.stop().then(() => process.exit(0)))
}

function runChild(): void {
  process.on('SIGTERM', () => {})
  let name = ''
  const write = (text: string) => process.stdout.write(`${name}: ${text}\n`)
  const channel = openChannel({
    start(order) {
      name = order.name
      channel.send({ isServing: true })
      if (order.kind === 'worker') write('serves')
      // The worker may not be there yet, and a wake that is lost costs nothing but time.
      else setInterval(() => wake(channel), 2)
    },
    stop: () => process.exit(0),
    handOver: () => channel.sendListener(null),
    prepare() {},
    wake: (task) => write(`woken for ${task}`),
    wrote: () => write('something was written'),
    know() {},
    answer: async () => null,
  })
  const wake = ({ wake, wrote }: typeof channel) => {
    wake(`task of ${name}`)
    wrote()
  }
}

if (cluster.isWorker) runChild()
else runParent()
