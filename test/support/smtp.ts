import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after } from 'node:test'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { freePort } from './process.ts'

export type Received = { from: string; to: string[]; secure: boolean; raw: string; mail: Email }

export type TestSmtp = {
  url: string
  /** What has been taken, in the order in which it came. */
  received: Received[]
  /** Resolves when as many mails have been taken. */
  arrived(count: number): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** What a server says no with. */
export const refusal = (responseCode: number): Error =>
  Object.assign(new Error('no'), { responseCode })

/** A mail server for as long as the tests of a file take. */
export async function startSmtp(options: SMTPServerOptions = {}): Promise<TestSmtp> {
  const smtp = await openSmtp(options)
  after(smtp.stop)
  return smtp
}

/** A mail server on a port of its own; it can be away for a while and come back. */
export async function openSmtp(
  options: SMTPServerOptions = {},
  onMail: (mail: Received) => void = () => {},
): Promise<TestSmtp> {
  const port = await freePort()
  const received: Received[] = []
  const waiting = new Set<() => void>()
  let server: SMTPServer | null = null

  const onData: NonNullable<SMTPServerOptions['onData']> = async (stream, session, callback) => {
    const raw = await text(stream)
    const { mailFrom, rcptTo } = session.envelope
    const from = mailFrom ? mailFrom.address : ''
    const to = rcptTo.map(({ address }) => address)
    const mail = await PostalMime.parse(raw)
    const got = { from, to, secure: session.secure, raw, mail }
    received.push(got)
    callback()
    onMail(got)
    for (const look of waiting) look()
  }

  async function start(): Promise<void> {
    const plain = { disabledCommands: ['STARTTLS', 'AUTH'], authOptional: true }
    const quick = { disableReverseLookup: true, closeTimeout: 100, logger: false }
    server = new SMTPServer({ ...plain, ...quick, onData, ...options })
    server.on('error', () => {})
    server.listen(port, '127.0.0.1')
    await once(server.server, 'listening')
  }

  async function stop(): Promise<void> {
    const running = server
    server = null
    if (running) await new Promise<void>((resolve) => running.close(resolve))
  }

  async function arrived(count: number): Promise<void> {
    while (received.length < count) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      await promise
      waiting.delete(resolve)
    }
  }

  await start()
  return { url: `smtp://127.0.0.1:${port}`, received, arrived, start, stop }
}
