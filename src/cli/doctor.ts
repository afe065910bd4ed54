import { accessSync, constants } from 'node:fs'
import { type Config, ConfigFault, loadConfig } from '../config.ts'
import { isLoopback } from '../lib/addresses.ts'
import { findUnsafe } from '../safety.ts'
import { check, checkDatabase, inspectMail, report } from './checks.ts'
import type { Command } from './command.ts'
import { textOfError } from './faults.ts'
import type { Check, Finding } from './finding.ts'
import { inspectBacklog, inspectFileLimit, inspectRights, inspectSpace } from './machine-checks.ts'
import {
  inspectCertificate,
  inspectCollector,
  inspectProxies,
  inspectReach,
} from './reach-checks.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check configuration, database, clock, provider and mail, and say what to do.',
  example: 'vintem doctor',
  operands: [],
  options: {},
  run: async () => report(await diagnose()),
}

/**
 * Runs all checks and never throws. If the data directory is new, it creates the database there, as
 * any first command does.
 */
async function diagnose(): Promise<Check[]> {
  let config: Config
  try {
    config = loadConfig()
  } catch (error) {
    const faults = error instanceof ConfigFault ? error.faults : [textOfError(error)]
    return faults.map((detail) => ({ name: 'configuration', state: 'failed', detail }))
  }
  return [
    ...checkOptions(config),
    ...checkSafety(config),
    await check('monitoring', async () => inspectMonitoring(config)),
    await check('public address', async () => inspectAddress(config)),
    await check('proxy', async () => inspectProxies(config)),
    await check('reach', () => inspectReach(config)),
    await check('certificate', () => inspectCertificate(config)),
    await check('collector', () => inspectCollector(config)),
    await check('rights', async () => inspectRights(config)),
    await check('open files', async () => inspectFileLimit()),
    await check('backlog', async () => inspectBacklog(config)),
    await check('data directory', async () => inspectDataDirectory(config)),
    ...(await checkDatabase(config)),
    await check('mail', () => inspectMail(config)),
  ]
}

function checkOptions({ warnings }: Config): Check[] {
  const detail = 'Every option is valid.'
  if (warnings.length === 0) return [{ name: 'configuration', state: 'ok', detail }]
  return warnings.map((warning) => ({ name: 'configuration', state: 'warning', detail: warning }))
}

function checkSafety(config: Config): Check[] {
  const found = findUnsafe(config)
  if (found.length > 0) return found.map((detail) => ({ name: 'safety', state: 'failed', detail }))
  const allowed = config.allowed.join(', ')
  if (allowed === '')
    return [{ name: 'safety', state: 'ok', detail: 'A server may start with this configuration.' }]
  return [
    { name: 'safety', state: 'warning', detail: `ALLOW lets a server start with ${allowed}.` },
  ]
}

function inspectMonitoring({ operator, local }: Config): Finding {
  if (operator) return ['ok', `Metrics are at http://${operator.host}:${operator.port}/metrics.`]
  if (local) return ['ok', 'No OPERATOR_PORT: metrics are not served.']
  return ['warning', 'This server cannot be monitored: set OPERATOR_PORT for /metrics.']
}

/** Payers and banks connect from other machines. In local mode nobody does. */
function inspectAddress({ publicUrl, local }: Config): Finding {
  const { hostname } = new URL(publicUrl)
  if (local || !isLoopback(hostname)) return ['ok', `Links start with ${publicUrl}.`]
  // Whether a server starts with it is said by the check of safety.
  return ['warning', `Links start with ${publicUrl}, the payer’s own machine for every payer.`]
}

function inspectDataDirectory({ dataDir, databaseUrl, databaseSetting }: Config): Finding {
  if (databaseUrl) {
    const [state, detail] = inspectSpace({ dataDir })
    return [state, `Holds no database, because ${databaseSetting} is set. ${detail}`]
  }
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return [
      'failed',
      `${textOfError(error)} Run as the owner of ${dataDir}, or choose another DATA_DIR.`,
    ]
  }
  return inspectSpace({ dataDir })
}
