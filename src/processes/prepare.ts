import cluster from 'node:cluster'
import { withoutEnvFile } from '../config.ts'
import { OperatorFault } from '../lib/operator-fault.ts'
import { PROTOCOL, type PrepareOrder, type SentConfig, type ToParent } from './messages.ts'

const UNKNOWN =
  'The version on the disk ended before it was ready, and the log of the server says why. Is all ' +
  'that it needs installed (node scripts/install.mjs)?'

/**
 * Lets the version on the disk read its configuration and migrate the database, in a process of
 * its own, because this one is of the version before. Rejects with what keeps it from running.
 */
export function prepareNext(
  running: Omit<PrepareOrder, 'protocol'>,
  say: (line: string) => void,
): Promise<SentConfig> {
  const { promise, resolve, reject } = Promise.withResolvers<SentConfig>()
  // What .env has given to this process may have changed there.
  const worker = cluster.fork(withoutEnvFile())
  worker.on('message', (message: ToParent) => {
    if ('said' in message) say(message.said)
    else if ('prepared' in message) resolve(message.prepared)
    else if ('fault' in message) reject(new OperatorFault(message.fault))
  })
  worker.once('error', () => reject(new OperatorFault(UNKNOWN)))
  worker.once('exit', () => reject(new OperatorFault(UNKNOWN)))
  const order: PrepareOrder = { ...running, protocol: PROTOCOL }
  worker.send({ prepare: order })
  return promise.finally(() => worker.process.kill('SIGKILL'))
}
