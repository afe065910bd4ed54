import { createApp } from '../app.ts'
import { type Config, ConfigFault, loadConfig } from '../config.ts'
import { appsOf } from '../core/places/front.ts'
import { preparePlaces } from '../core/places/prepare.ts'
import { OF_PARENT } from '../db/connection-counts.ts'
import { systemClock } from '../lib/clock.ts'
import { createLog } from '../lib/log.ts'
import { OperatorFault } from '../lib/operator-fault.ts'
import { findUnsafe } from '../safety.ts'
import { undoApp } from '../serving.ts'
import { PROTOCOL, type PrepareOrder, type SentConfig, sendConfig } from './messages.ts'

/** What the first process has begun with, and keeps until the next full start. */
const FIXED = {
  processes: 'PROCESSES',
  host: 'HOST',
  port: 'PORT',
  operator: 'OPERATOR_PORT or OPERATOR_HOST',
  dataDir: 'DATA_DIR',
  databaseUrl: 'DATABASE_URL',
  otherPlaces: 'PLACES',
  telemetry: 'A variable of OpenTelemetry (OTEL_…)',
} satisfies Partial<Record<keyof Config, string>>

const STOP_AND_START =
  'Stop the server and start it again for that; its processes go on as they are.'

/**
 * Brings the database to this version, for processes that are to run with it. Throws if they could
 * not: then nothing is replaced. Gives their configuration.
 */
export async function prepareVersion(
  { protocol, databaseUrl, config: running }: PrepareOrder,
  say: (line: string) => void,
): Promise<SentConfig> {
  if (protocol !== PROTOCOL) {
    throw new OperatorFault(`This version has another first process. ${STOP_AND_START}`)
  }
  const config = loadConfig()
  const unsafe = findUnsafe(config)
  if (unsafe.length > 0) throw new ConfigFault([...unsafe, ...config.warnings])
  requireSame(running, config)
  const app = createApp({
    config,
    databaseUrl,
    clock: systemClock,
    log: createLog('silent'),
    publicUrl: config.publicUrl,
    connections: OF_PARENT,
  })
  try {
    const databases = appsOf(app).map(({ db }) => db)
    const urls = [databaseUrl, ...config.otherPlaces]
    const by = { report: say, warn: say, setting: config.databaseSetting }
    for (const place of await preparePlaces(urls, databases, app.vault, by)) {
      say(`place ${place} does not answer: its companies are refused`)
    }
  } finally {
    for (const undo of undoApp(app)) await undo()
  }
  return sendConfig(config)
}

function requireSame(running: SentConfig, config: Config): void {
  const changed = Object.entries(FIXED).flatMap(([field, setting]) => {
    const [before, now] = [running, config].map((one) => one[field as keyof typeof FIXED])
    return JSON.stringify(before) === JSON.stringify(now) ? [] : [setting]
  })
  if (changed.length === 0) return
  throw new OperatorFault(`${changed.join(', ')} has changed. ${STOP_AND_START}`)
}
