import { parentPort, workerData } from 'node:worker_threads'
import { SMTPServer } from 'smtp-server'

/** A mail server in a thread of its own, which takes so long for each mail. */
const { delay_ms } = workerData as { delay_ms: number }

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, done) {
    stream.on('end', () => setTimeout(done, delay_ms)).resume()
  },
})
server.listen(0, '127.0.0.1', () => {
  parentPort!.postMessage((server.server.address() as { port: number }).port)
})
