import assert from 'node:assert/strict'
import { readSandbox, startServer, temporaryFolder } from '../support/process.ts'

/** A server in local mode with its limits as they are, and the key of its sandbox. */
export async function startSandbox(): Promise<{ url: string; key: string }> {
  const DATA_DIR = temporaryFolder()
  const { url, output } = await startServer({
    DATA_DIR,
    RATE_LIMIT: '500',
    CODE_MAILS_PER_HOUR: '5',
    CODE_MAILS_PER_DAY: '20',
  })
  assert.match(output(), /Vintém is running/)
  return { url, key: readSandbox(DATA_DIR).apiKey }
}

/** How many requests a collection has. */
export async function countRequests(url: string): Promise<number> {
  const reply = await fetch(`${url}/collection.json`)
  const { item } = (await reply.json()) as { item: { item: unknown[] }[] }
  return item.flatMap((folder) => folder.item).length
}

/** Vintém as a program with a key asks it. */
export function callerOf({ url, key }: { url: string; key: string }) {
  return async <Data>(method: string, path: string, body?: unknown): Promise<Data> => {
    const reply = await fetch(url + path, {
      method,
      headers: { 'X-API-KEY': key, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    assert.ok(reply.ok, `${method} ${path}: ${text}`)
    return JSON.parse(text).data
  }
}
