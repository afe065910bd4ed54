import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { headersOf, signerOf } from '../../src/core/deliveries/signing.ts'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { newId } from '../../src/lib/ids.ts'
import { inherited } from '../support/process.ts'
import { folderWithClient } from './client.ts'

/** A receiver of the guide that runs. */
export type Receiver = {
  /** Waits until it has printed something, and fails when it ends without. */
  printed(text: string): Promise<void>
  stop(): Promise<unknown>
}

export type Receiving = Promise<Receiver>

/** Runs a receiver that prints `listening`, as somebody who has installed the client. */
export async function runReceiver(
  code: string,
  port: number,
  secrets: string,
  folder = folderWithClient(),
  more: Record<string, string> = {},
): Receiving {
  writeFileSync(join(folder, 'receiver.ts'), code)
  return runIn(folder, ['receiver.ts'], { ...more, SECRET: secrets, PORT: String(port) })
}

/** Runs a program by Node.js, which is ready once it prints that. */
export async function runIn(
  folder: string,
  args: string[],
  environment: Record<string, string>,
  ready = 'listening',
): Receiving {
  const env = { ...inherited, ...environment }
  const child = spawn(process.execPath, args, { cwd: folder, env })
  const output = collect()
  child.stdout.on('data', output.add)
  child.stderr.on('data', output.add)
  child.once('exit', output.end)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
  after(stop)
  await output.printed(ready)
  return { printed: output.printed, stop }
}

export function collect() {
  let output = ''
  let onOutput = () => {}
  let onEnd = (_reason: unknown) => {}
  return {
    add(part: unknown) {
      output += part
      onOutput()
    },
    end: (reason: unknown) => onEnd(reason),
    printed: (text: string) =>
      new Promise<void>((resolve, reject) => {
        onOutput = () => {
          if (output.includes(text)) resolve()
        }
        onEnd = (reason) => reject(new Error(`it has ended: ${reason} ${output}`))
        onOutput()
      }),
  }
}

export const body =
  '{"event":"Charge.Paid","charge":{"id":"charge_1","status":"PAID","total":1990}}'
const at = (seconds: number) => new Date(Date.now() + seconds * 1000)

function sign(secrets: string[], now = at(0)): Record<string, string> {
  const eventId = newId()
  const signers = secrets.map(signerOf)
  const about = { eventId, deliveryId: 'dlv_1', type: 'charge.paid', mode: 'live' } as const
  return headersOf({ ...about, body, signers, now })
}

export type Letter = {
  what: string
  headers: Record<string, string>
  text: string
  status: number
}

type Sent = Pick<Letter, 'what' | 'headers'> & { text?: string }

/** Requests of which only the first few are ours, and how each is to be answered. */
export function letters(secret: string): Letter[] {
  const [good, other] = [sign([secret]), makeSecret()]
  const seconds = good['webhook-timestamp']!
  const stamped = (value: string) => ({ ...good, 'webhook-timestamp': value })
  const signed = (value: string) => ({ ...good, 'webhook-signature': value })
  const without = (name: string) => ({ ...good, [name]: '' })
  const ours: Sent[] = [
    { what: 'as it is', headers: good },
    { what: 'signed with a second secret too', headers: sign([other, secret]) },
    { what: 'four minutes old', headers: sign([secret], at(-240)) },
  ]
  const forged: Sent[] = [
    { what: 'signed with another secret', headers: sign([other]) },
    { what: 'with a changed body', headers: good, text: body.replace('1990', '1') },
    { what: 'with other bytes of the same body', headers: good, text: `${body} ` },
    { what: 'six minutes old', headers: sign([secret], at(-360)) },
    { what: 'six minutes ahead', headers: sign([secret], at(360)) },
    { what: 'with another time', headers: stamped(String(Number(seconds) + 1)) },
    { what: 'with a time that is no number', headers: stamped(`${seconds}x`) },
    { what: 'with a time beyond all numbers', headers: stamped('9'.repeat(400)) },
    { what: 'with another id', headers: { ...good, 'webhook-id': 'evt_1' } },
    { what: 'with an empty id', headers: without('webhook-id') },
    { what: 'with an empty time', headers: without('webhook-timestamp') },
    { what: 'with an empty header of signatures', headers: without('webhook-signature') },
    { what: 'with an empty signature', headers: signed('v1,') },
    { what: 'with a strange signature', headers: signed('v1,\u00e9 \u00ff') },
    { what: 'with no header of ours', headers: {} },
  ]
  return [
    ...ours.map((letter) => ({ text: body, ...letter, status: 204 })),
    ...forged.map((letter) => ({ text: body, ...letter, status: 400 })),
  ]
}

/** Sends all letters as a server of ours does, or somebody who pretends to be one. */
export async function sendAll(all: Letter[], url: string): Promise<void> {
  for (const { what, headers, text, status } of all) {
    const sent = { 'content-type': 'application/json; charset=utf-8', ...headers }
    const reply = await fetch(url, { method: 'POST', headers: sent, body: text })
    assert.equal(reply.status, status, what)
  }
}
