import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { cpuBelow_ms } from '../../bench/processor.ts'

/** Where the processes of the tests write what they use. Not set unless TEST_TIMES asks for it. */
const path = process.env.VINTEM_TEST_TIMES
let file = relative(process.cwd(), process.argv[1] ?? '')
let until_ms = 0

/** From now on, what this process and those below it use counts for this file. */
export function beginFile(name: string): void {
  endFile()
  file = name
}

function endFile(): void {
  if (path === undefined) return
  const now_ms = cpuBelow_ms(process.pid)
  appendFileSync(path, `${((now_ms - until_ms) / 1000).toFixed(1)}\t${file}\n`)
  until_ms = now_ms
}

if (path !== undefined) process.on('exit', endFile)
