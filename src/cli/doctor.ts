import { type Check, diagnose } from './checks.ts'
import type { Command } from './command.ts'
import { columns } from './command.ts'

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check configuration, database, clock and provider, and say what to do.',
  operands: [],
  options: {},
  async run() {
    const checks = await diagnose()
    const failed = checks.some(({ state }) => state === 'failed')
    const rows = checks.map(({ name, state, detail }) => [state, name, detail])
    const text = `${columns(rows)}\n${conclude(checks)}\n`
    return { json: { ok: !failed, checks }, text, failed }
  },
}

function conclude(checks: Check[]): string {
  const count = (state: Check['state']) => checks.filter((check) => check.state === state).length
  const failed = count('failed')
  const warnings = count('warning')
  if (failed > 0) return `${failed} failed, ${warnings} to look at.`
  return warnings > 0 ? `Vintém can work; ${warnings} to look at.` : 'All is well.'
}
