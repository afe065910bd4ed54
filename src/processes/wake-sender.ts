import type { Wakes } from './messages.ts'

/** Sends a message, and calls back when it is written. */
type Send = (message: { wakes: Wakes }, written: () => void) => void

/**
 * Sends wakes to a process, one message at a time. What comes meanwhile goes together in the next
 * one, so that a process that reads nothing does not fill the memory of this one.
 */
export function createWakeSender(send: Send): (wakes: Wakes) => void {
  const woken = new Set<string>()
  let [hasWritten, isSending] = [false, false]
  function sendNext(): void {
    isSending = woken.size > 0 || hasWritten
    if (!isSending) return
    const wakes = { woken: [...woken], hasWritten }
    woken.clear()
    hasWritten = false
    send({ wakes }, sendNext)
  }
  return (wakes) => {
    for (const task of wakes.woken) woken.add(task)
    hasWritten ||= wakes.hasWritten
    if (!isSending) sendNext()
  }
}
