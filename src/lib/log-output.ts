import { write } from 'node:fs'

/**
 * Writes lines to an open file in the background. If the file cannot be written, because a disk is
 * full or a terminal is gone, lines are lost and nothing else: the service goes on.
 */
type LogOutput = {
  write(lines: string): void
  /** Writes what waits, for `timeout_ms` at most. False if the system still hangs in a write. */
  flush(timeout_ms: number): Promise<boolean>
}

const FLUSH_MS = 500
const FLUSH_ABOVE = 16_000
/** If a reader stops reading, so many characters wait for it; what comes after is lost. */
const MAX_WAITING = 1_000_000
const RETRY_MS = 100

/** What POSIX lets one write put into a pipe whole, whoever else writes. */
const WHOLE_BYTES = 4096

/** If the file is shared by processes, lines are written so that they do not mix. */
export function createLogOutput(fd: number, isShared = false): LogOutput {
  let waiting = ''
  let lost = 0
  let writing: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null
  const file = openFile(fd, isShared)

  async function writeWaiting(): Promise<void> {
    while (waiting !== '') {
      const [lines, lostBefore] = [waiting, lost]
      waiting = ''
      const notice = lostBefore > 0 ? lostLine(lostBefore) : ''
      if (await file.write(Buffer.from(notice + lines))) lost -= lostBefore
      else lost += countLines(lines)
    }
    writing = null
  }

  function start(): void {
    if (timer) clearTimeout(timer)
    timer = null
    writing ??= writeWaiting()
  }

  return {
    write(lines) {
      if (waiting.length + lines.length > MAX_WAITING) {
        lost += countLines(lines)
        return
      }
      waiting += lines
      if (writing) return
      if (waiting.length >= FLUSH_ABOVE) start()
      else timer ??= setTimeout(start, FLUSH_MS).unref()
    },
    async flush(timeout_ms) {
      start()
      const late = Promise.withResolvers<void>()
      const limit = setTimeout(late.resolve, timeout_ms)
      await Promise.race([writing, late.promise])
      clearTimeout(limit)
      return !file.isInWrite()
    },
  }
}

/** Writes bytes to an open file. */
function openFile(fd: number, isShared: boolean) {
  let isInWrite = false

  function writeSome(bytes: Buffer): Promise<{ written: number; code?: string }> {
    isInWrite = true
    return new Promise((resolve) => {
      write(fd, bytes, (error, written) => {
        isInWrite = false
        resolve(error ? { written: 0, code: error.code ?? 'unknown' } : { written })
      })
    })
  }
  async function writeAll(bytes: Buffer): Promise<boolean> {
    for (let from = 0; from < bytes.length; ) {
      const { written, code } = await writeSome(bytes.subarray(from))
      if (code === undefined) from += written
      // The reader of a pipe is slow: what is logged meanwhile waits.
      else if (code === 'EAGAIN') await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      else return false
    }
    return true
  }
  return {
    isInWrite: () => isInWrite,
    /** Whether all of it was written. */
    async write(bytes: Buffer): Promise<boolean> {
      if (!isShared) return writeAll(bytes)
      for (const part of wholeLines(bytes)) if (!(await writeAll(part))) return false
      return true
    },
  }
}

/** Parts that end with a line. If a line is not longer than one write may be, no part is. */
function* wholeLines(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const most = bytes.subarray(from, from + WHOLE_BYTES)
    const isLast = from + most.length === bytes.length
    const end = isLast ? most.length : most.lastIndexOf(LINE_FEED) + 1
    const next = end > 0 ? from + end : bytes.indexOf(LINE_FEED, from) + 1 || bytes.length
    yield bytes.subarray(from, next)
    from = next
  }
}

const LINE_FEED = 10

const countLines = (lines: string): number => lines.split('\n').length - 1

const lostLine = (lost: number): string =>
  `{"level":40,"time":${Date.now()},"lost":${lost},"msg":"log lines could not be written"}\n`
