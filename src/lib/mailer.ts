import { access, constants, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type NodemailerError, type SendMailOptions } from 'nodemailer'
import { assert } from './assert.ts'
import type { Uuid } from './ids.ts'
import { isAddress, type Mailbox, readMailbox } from './mailbox.ts'
import { makeFolder } from './make-folder.ts'
import { oneLine } from './one-line.ts'

/** What a mail says, and to whom. Both parts are complete: a reader sees one of them. */
export type Letter = {
  to: string
  subject: string
  text: string
  html: string
  /** In whose name it is sent, and who gets answers; left out: it is the service's own. */
  sender?: { name: string; replyTo: string }
}

/** A letter to be sent. If it is sent again, it is the same message, byte for byte. */
export type Mail = Letter & { id: Uuid; createdAt: Date }

export type Mailer = {
  /** Sends the mail to the server. Try again after a failure, unless `isPermanent` is true. */
  send(mail: Mail): Promise<void>
  /** Throws if mails cannot be sent now. */
  check(): Promise<void>
  close(): void
}

const CONNECTIONS = 6
/** For the connection and the greeting. A slow server must not delay those who wait for a code. */
const CONNECT_MS = 10_000
const SOCKET_TIMEOUT_MS = 20_000

/** Sends by SMTP, or without an address for it keeps every mail as a file in a folder. */
export function createMailer(options: {
  smtpUrl: string | null
  from: string
  folder: string
}): Mailer {
  const from = readMailbox(options.from)
  assert(from, 'mails are sent from one address')
  return options.smtpUrl ? smtpMailer(options.smtpUrl, from) : fileMailer(options.folder, from)
}

function smtpMailer(url: string, from: Mailbox): Mailer {
  const smtp = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // Mails that fail are tried again from the database, where the attempts are counted.
    maxRequeues: 0,
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

function fileMailer(folder: string, from: Mailbox): Mailer {
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
  const { sender } = mail
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
    headers: { 'Auto-Submitted': 'auto-generated' },
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

/**
 * Whether this mail will never be taken. A refused login or sender is no such case: those are ours,
 * and the operator can fix them while the mail waits.
 */
export function isPermanent(error: unknown): boolean {
  const { permanent, command = '' } = error as NodemailerError
  return permanent === true && ['RCPT TO', 'DATA'].includes(command)
}
