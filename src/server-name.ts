import { createHash } from 'node:crypto'
import type { Config } from './config.ts'
import { LAST_KNOWN } from './db/migrate.ts'
import { VERSION } from './lib/version.ts'

/** What all servers of a database must have in common, besides the secret key. None is a secret. */
const SHARED: [setting: string, read: (config: Config) => unknown][] = [
  // In local mode it is the port of each server, which a command does not know.
  ['PUBLIC_URL', ({ publicUrl, isPublicUrlDefault }) => (isPublicUrlDefault ? null : publicUrl)],
  ['PLACES', ({ otherPlaces }) => otherPlaces.length],
  ['MAIL_FROM', ({ mailFrom }) => mailFrom],
  ['MAILS_PER_…', ({ dailyMails }) => dailyMails],
  ['STATIC_SALES_LIMIT', ({ staticSalesLimit }) => staticSalesLimit],
  ['CODE_MAILS_PER_…', ({ codeMails }) => codeMails],
  ['WEBHOOKS_PER_COMPANY', ({ webhooksPerCompany }) => webhooksPerCompany],
  ['DELIVERY_RETENTION_DAYS', ({ deliveryRetentionDays }) => deliveryRetentionDays],
]

const DIGITS = 4
const NAME = /^vintem (\S+) schema (\d+) ([0-9a-f]+)$/

/** By this name the database knows the connections of a server: `vintem doctor` compares them. */
export function serverName(config: Config): string {
  const marks = SHARED.map(([, read]) =>
    createHash('sha256')
      .update(JSON.stringify(read(config)))
      .digest('hex')
      .slice(0, DIGITS),
  )
  return `vintem ${VERSION} schema ${LAST_KNOWN} ${marks.join('')}`
}

/** How a server differs from one with this configuration, in words. Null: it is no server's name. */
export function differencesOf(name: string, config: Config): string[] | null {
  const [, version, schema, marks = ''] = NAME.exec(name) ?? []
  if (!version) return null
  const [, , , own = ''] = NAME.exec(serverName(config))!
  const isOther = version !== VERSION || Number(schema) !== LAST_KNOWN
  const code = isOther ? [`version ${version} with schema ${schema}`] : []
  // Another version may compare other settings.
  if (marks.length !== own.length) return code
  const markAt = (text: string, i: number) => text.slice(i * DIGITS, (i + 1) * DIGITS)
  const settings = SHARED.filter((_, i) => markAt(marks, i) !== markAt(own, i))
  return [...code, ...settings.map(([setting]) => `another ${setting}`)]
}
