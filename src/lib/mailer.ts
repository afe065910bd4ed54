import { access, constants, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import SMTPTransport from 'nodemailer/lib/smtp-transport'
import { assert } from './assert.ts'
import type { Clock } from './clock.ts'
import { makeFolder } from './folders.ts'
import type { Uuid } from './ids.ts'
import { isAddress, type Mailbox, readMailbox } from './mailbox.ts'
import { oneLine } from './one-line.ts'

/** What a mail says, and to whom. Both parts are complete: a reader sees one of them. */
export type Letter = {
  to: string
  subject: string
  text: string
  html: string
  /** In whose name it is sent, and who gets answers; left out: it is the service's own. */
  sender?: { name: string; replyTo: string }
  /** It tells a payer of money that is not real. */
  isPlayMoney?: true
  /** Where its reader says that they want no more of its kind, at the mail program's button too. */
  unsubscribeUrl?: string
}

/** A letter to be sent. If it is sent again, it is the same message, byte for byte. */
export type Mail = Letter & { id: Uuid; createdAt: Date }

export type Mailer = {
  /**
   * How many mails may be under way, and how many more. None for a while after the server has
   * failed, and fewer than were asked for if it takes no more.
   */
  room(): { all: number; free: number }
  /** Counts a mail as under way until the returned function is called. */
  begin(): () => void
  /** Sends the mail to the server. Try again after a failure, unless `isPermanent` is true. */
  send(mail: Mail): Promise<void>
  /** Throws if mails cannot be sent now. */
  check(): Promise<void>
  close(): void
}

type Transport = Pick<Mailer, 'send' | 'check' | 'close'>

/** For the connection and the greeting. A slow server must not delay those who wait for a code. */
const CONNECT_MS = 10_000
const SOCKET_TIMEOUT_MS = 20_000
/** If the server fails, nothing is sent for this time, then for twice as long, and so on. */
const PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
/** When each connection has sent so many mails, one more is tried. */
const MAILS_BEFORE_MORE = 10

/** What a mail server says to a command, as nodemailer passes it on. It has no method for it. */
type Dialogue = SMTPConnection & {
  _responseActions: ((reply: string) => void)[]
  _sendCommand(command: string): void
}

/** What a mail server refuses, or null: the sender, or that mails come to the sender. */
export type RefusedSender = { part: 'sender' | 'answers'; reply: string } | null

/** Logs in and asks whether mails may come from an address and go to it. Sends nothing. */
export async function trySender(url: string, address: string): Promise<RefusedSender> {
  const { options, auth } = new SMTPTransport({ url })
  const timeouts = { connectionTimeout: CONNECT_MS, greetingTimeout: CONNECT_MS }
  const smtp = new SMTPConnection({
    ...options,
    ...timeouts,
    socketTimeout: CONNECT_MS,
  }) as Dialogue
  try {
    return await new Promise((resolve, reject) => {
      smtp.once('error', reject)
      smtp.once('end', () => reject(new Error('Connection closed')))
      const ask = async () => {
        const refusedBy = (reply: string) => (reply.startsWith('2') ? null : reply.trim())
        const sender = refusedBy(await say(smtp, `MAIL FROM:<${address}>`))
        if (sender !== null) return { part: 'sender', reply: sender } as const
        const answers = refusedBy(await say(smtp, `RCPT TO:<${address}>`))
        await say(smtp, 'RSET')
        return answers === null ? null : ({ part: 'answers', reply: answers } as const)
      }
      const begin = (error?: Error | null) => (error ? reject(error) : ask().then(resolve, reject))
      smtp.connect((error) => {
        if (error || !auth) begin(error)
        else smtp.login(auth, begin)
      })
    })
  } finally {
    smtp.close()
  }
}

const say = (smtp: Dialogue, command: string): Promise<string> =>
  new Promise((resolve) => {
    smtp._responseActions.push(resolve)
    smtp._sendCommand(command)
  })

/** Sends by SMTP, or without an address for it keeps every mail as a file in a folder. */
export function createMailer(options: {
  smtpUrl: string | null
  from: string
  folder: string
  connections: number
  clock: Clock
}): Mailer {
  const { smtpUrl, folder, connections, clock } = options
  const from = readMailbox(options.from)
  assert(from, 'mails are sent from one address')
  const transport = smtpUrl ? smtpMailer(smtpUrl, from, connections) : fileMailer(folder, from)
  return keepPace(transport, connections, () => clock.now().getTime())
}

/**
 * Follows what the server takes. If it refuses a connection while others work, so many are enough
 * for now. If it fails, it is left alone for a while, and then begun with a single mail.
 */
function keepPace(transport: Transport, connections: number, now_ms: () => number): Mailer {
  let [underWay, sending] = [0, 0]
  /** What the server has taken so far, and how many are tried since it last failed. */
  let [most, tried] = [connections, connections]
  let [accepted, failures, closedUntil_ms] = [0, 0, 0]

  function onAccepted(): void {
    failures = 0
    tried = Math.min(tried + 1, connections)
    accepted += 1
    if (accepted < most * MAILS_BEFORE_MORE || most === connections) return
    accepted = 0
    most += 1
  }

  function onRefused(error: unknown): void {
    if (isOfMail(error) || (isUsedUp(error) && accepted > 0)) return
    accepted = 0
    if (isTooMany(error) && most > 1) {
      most = Math.max(1, Math.min(most, sending - 1))
      return
    }
    // Mails that were sent together fail together: that is one failure.
    if (now_ms() < closedUntil_ms) return
    closedUntil_ms = now_ms() + Math.min(PAUSE_MS * 2 ** failures, MAX_PAUSE_MS)
    failures += 1
    tried = 1
  }

  return {
    ...transport,
    room() {
      const all = now_ms() < closedUntil_ms ? 0 : Math.min(most, tried)
      return { all, free: Math.max(0, all - underWay) }
    },
    begin() {
      underWay += 1
      return () => {
        underWay -= 1
      }
    },
    async send(mail) {
      sending += 1
      try {
        await transport.send(mail)
        onAccepted()
      } catch (error) {
        onRefused(error)
        throw error
      } finally {
        sending -= 1
      }
    },
  }
}

function smtpMailer(url: string, from: Mailbox, connections: number): Transport {
  const smtp = createTransport({
    url,
    pool: true,
    maxConnections: connections,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // If the server has ended an idle connection before anything was sent, another one is used.
    // Otherwise mails are tried again from the database, where attempts are counted.
    maxRequeues: 1,
  })
  return {
    async send(mail) {
      await smtp.sendMail(messageOf(mail, from))
    },
    async check() {
      await smtp.verify()
    },
    close: () => smtp.close(),
  }
}

function fileMailer(folder: string, from: Mailbox): Transport {
  const writer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const open = async () => makeFolder(folder)
  return {
    async send(mail) {
      const { message } = await writer.sendMail(messageOf(mail, from))
      await open()
      // Ids sort by time, and so do the files. The name appears once the file is whole.
      const part = join(folder, `.${mail.id}.part`)
      await writeFile(part, message, { mode: 0o600 })
      await rename(part, join(folder, `${mail.id}.eml`))
    },
    async check() {
      await open()
      await access(folder, constants.W_OK | constants.X_OK)
    },
    close: () => writer.close(),
  }
}

function messageOf(mail: Mail, from: Mailbox): SendMailOptions {
  if (!isAddress(mail.to)) throw badRecipient()
  const domain = from.address.split('@')[1]
  const { sender, unsubscribeUrl } = mail
  return {
    // The address stays ours: a mail server takes no mail from addresses that are not its own.
    from: sender ? { name: oneLine(sender.name), address: from.address } : from,
    ...(sender && isAddress(sender.replyTo) && { replyTo: { name: '', address: sender.replyTo } }),
    to: { name: '', address: mail.to },
    subject: oneLine(mail.subject),
    text: mail.text,
    html: mail.html,
    // Leaves a code readable in a file that is merely looked at.
    encoding: 'quoted-printable',
    // What a retry must not change: who has got the mail already then shows it once.
    messageId: `<${mail.id}@${domain}>`,
    date: mail.createdAt,
    baseBoundary: mail.id,
    // Asks answering machines not to answer.
    headers: {
      'Auto-Submitted': 'auto-generated',
      // RFC 8058: a mail program posts to the address when its reader presses the button.
      ...(unsubscribeUrl && {
        'List-Unsubscribe': `<${oneLine(unsubscribeUrl)}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      }),
    },
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

const badRecipient = (): NodemailerError =>
  Object.assign(new Error('the recipient is not one address'), {
    code: 'EENVELOPE',
    command: 'RCPT TO',
    permanent: true,
  })

/** Whether the server has judged this mail. Anything else is between the server and us. */
const isOfMail = (error: unknown): boolean =>
  ['RCPT TO', 'DATA'].includes((error as NodemailerError).command ?? '')

/**
 * Whether this mail will never be taken. A refused login or sender is no such case: those are ours,
 * and the operator can fix them while the mail waits.
 */
export const isPermanent = (error: unknown): boolean =>
  (error as NodemailerError).permanent === true && isOfMail(error)

/** Whether the server takes no more mails by a connection, of which there may still be as many. */
function isUsedUp(error: unknown): boolean {
  const { responseCode, command } = error as NodemailerError
  return responseCode === 421 && command === 'MAIL FROM'
}

/** Whether the server takes no more for now, before it was offered the mail. */
export function isTooMany(error: unknown): boolean {
  const { responseCode = 0 } = error as NodemailerError
  return responseCode >= 400 && responseCode < 500 && !isOfMail(error)
}
