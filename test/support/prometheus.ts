import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program of Prometheus, where PROMETHEUS_BIN or the PATH has it; on Debian `apt-get install prometheus`. */
export function findProgram(name: 'prometheus' | 'promtool'): string | null {
  const { PROMETHEUS_BIN = '', PATH = '' } = process.env
  const isThere = (path: string) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  }
  const folders = [PROMETHEUS_BIN, ...PATH.split(delimiter)].filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find(isThere) ?? null
}

export const NO_PROGRAM = 'there is no Prometheus: apt-get install prometheus, or PROMETHEUS_BIN'

export type Rule = {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook_url: string }
}
