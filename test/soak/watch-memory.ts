import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/** Is loaded into each process of the service, and writes down what memory that has. */
const EVERY_MS = 5_000
const MIB = 1024 * 1024

/** In MiB, but the time, which is in seconds since the process began. */
export type Sample = { at_s: number; rss: number; heap: number; external: number }

const { SOAK_FOLDER } = process.env

function look(folder: string): void {
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
  const sample: Sample = {
    at_s: process.uptime(),
    rss: rss / MIB,
    heap: heapUsed / MIB,
    external: (external + arrayBuffers) / MIB,
  }
  appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(sample)}\n`)
}

if (SOAK_FOLDER && isMainThread) setInterval(look, EVERY_MS, SOAK_FOLDER).unref()
