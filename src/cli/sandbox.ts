import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Config, loadConfig } from '../config.ts'
import type { FullApp } from '../core/full-app.ts'
import { isWaiting } from '../core/mails/store.ts'
import { readSandbox, resetSandbox } from '../sandbox.ts'
import { listMails, readMail } from '../web/mails.ts'
import { type Command, columns, Refusal } from './command.ts'
import { commandAuthor, withApp } from './session.ts'

const reset: Command = {
  name: 'sandbox reset',
  summary: 'Start again with a new sandbox company and key (local mode).',
  example: 'vintem sandbox reset',
  operands: [],
  options: {},
  async run() {
    requireLocal()
    const { companyId, apiKey } = await withApp((app) => resetSandbox(app, commandAuthor()))
    const rows = [
      ['Company id', companyId],
      ['API key', apiKey],
    ]
    return {
      json: { companyId, apiKey },
      text:
        `A new sandbox company is ready, at the present time and with R$ 1.000,00.\n\n${columns(rows, '  ')}\n` +
        'The keys of the former one are revoked and its webhooks get nothing more. Its records stay.\n',
    }
  },
}

const code: Command = {
  name: 'sandbox code',
  summary: 'Print the newest one-time code that was mailed (local mode).',
  example: 'vintem sandbox code',
  operands: [],
  options: {},
  async run() {
    const { smtpUrl } = requireLocal()
    if (smtpUrl) throw new Refusal('SMTP_URL is set: the code is in the mailbox of the company.')
    const found = await withApp(findCode)
    if (!found) throw new Refusal('No code was mailed yet. Start a withdrawal first.')
    return { json: { code: found }, text: `${found}\n` }
  },
}

function requireLocal(): Config {
  const config = loadConfig()
  if (config.local) return config
  throw new Refusal(
    'DATABASE_URL is set, and only local mode has a sandbox of its own. Run vintem company create for another sandbox company.',
  )
}

const [RETRY_MS, MAX_TRIES] = [100, 100]

/** If a code is not sent yet, waits for it, because the code before it is no longer valid. */
async function findCode(app: FullApp): Promise<string | null> {
  const companyId = readSandbox(app)?.companyId
  for (let tries = 0; companyId && tries < MAX_TRIES; tries += 1) {
    if (!(await isWaiting(app.db, companyId, 'withdrawal-code'))) break
    await pause(RETRY_MS)
  }
  const folder = join(app.config.dataDir, 'mail')
  for (const id of await listMails(folder)) {
    const mail = await readMail(folder, id)
    if (mail?.code) return mail.code
  }
  return null
}

export const sandboxCommands = [reset, code]
