import { HOSTILE, openReceiver } from '../support/receiver.ts'

/**
 * Hostile receivers in a process of their own, so that what they do costs the worker nothing but
 * what it cannot avoid. Prints their addresses as a line of JSON.
 */
const urls: Record<string, string> = {}
for (const [name, answer] of Object.entries(HOSTILE)) {
  const receiver = await openReceiver()
  receiver.answer = (response, request) => {
    receiver.received.length = 0
    answer(response, request)
  }
  urls[name] = receiver.url
}
console.log(JSON.stringify(urls))
