import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { crc32, deflateSync } from 'node:zlib'
import { encodeQR } from 'qr'
import { dynamicCode } from '../src/pix/brcode.ts'
import { qrDataUrl, qrPng } from '../src/pix/qr.ts'

type Approach = { name: string; texts: string[]; draw: (text: string) => unknown }

const ROUNDS = 9
const ROUND_MS = 100

// The package has no types of its own, and this is all that is used of it.
const qrcode = createRequire(import.meta.url)('qrcode') as {
  toDataURL(text: string, options: object): Promise<string>
}

/** Prints the cost of one QR image of a charge by several approaches, and the ratios to ours. */
export async function run(): Promise<void> {
  const locations = Array.from({ length: 1000 }, randomLocation)
  const charges = locations.map(chargeAt)
  const strangers = charges.map(({ length }) => randomAscii(length))
  const ours = { name: 'ours, one company', texts: charges, draw: qrDataUrl }
  const approaches: Approach[] = [
    ours,
    { name: 'ours, no character alike', texts: strangers, draw: qrDataUrl },
    { name: 'qr, fixed mask, and zlib', texts: charges, draw: (text) => plainDataUrl(text, 2) },
    { name: 'qr, best mask, and zlib', texts: charges, draw: (text) => plainDataUrl(text) },
    { name: 'qrcode toDataURL', texts: charges, draw: qrcodeDataUrl },
    { name: '(the text alone, dynamicCode)', texts: locations, draw: chargeAt },
  ]
  const costs = await measure(approaches)
  for (const { name } of approaches) {
    const cost = costs.get(name)!
    const ratio = cost / costs.get(ours.name)!
    console.log(
      `${name.padEnd(32)}${cost.toFixed(1).padStart(10)} µs${ratio.toFixed(2).padStart(10)} ×`,
    )
  }
  const [code] = charges
  console.log(`a code of ${code!.length} characters is a PNG of ${qrPng(code!).length} bytes`)
}

/**
 * Medians in microseconds of processor time, which others on the machine disturb less than time on
 * the clock. Each round measures all approaches, so that a slow moment hits all.
 */
async function measure(approaches: Approach[]): Promise<Map<string, number>> {
  const samples = new Map(approaches.map(({ name }) => [name, [] as number[]]))
  for (const approach of approaches) await timeRound(approach)
  for (let round = 0; round < ROUNDS; round++) {
    for (const approach of approaches) samples.get(approach.name)!.push(await timeRound(approach))
  }
  return new Map([...samples].map(([name, all]) => [name, all.sort((a, b) => a - b)[ROUNDS >> 1]!]))
}

async function timeRound({ texts, draw }: Approach): Promise<number> {
  const start = performance.now()
  const before = process.cpuUsage()
  let images = 0
  while (performance.now() - start < ROUND_MS) {
    for (let burst = 0; burst < 10; burst++) {
      const drawn = draw(texts[images++ % texts.length]!)
      if (drawn instanceof Promise) await drawn
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / images
}

function randomLocation(): string {
  return `pix.example.com/qr/v2/cob/${randomBytes(34).toString('base64url').slice(0, 45)}`
}

function chargeAt(location: string): string {
  return dynamicCode({ location, name: 'Padaria Pão Quente', city: 'São Paulo' })
}

function randomAscii(length: number): string {
  return Buffer.from(randomBytes(length).map((byte) => byte & 0x7f)).toString('latin1')
}

function qrcodeDataUrl(text: string): Promise<string> {
  return qrcode.toDataURL(text, { errorCorrectionLevel: 'M', margin: 4, scale: 8 })
}

/** The straightforward way to the same picture: the library's matrix, a PNG by node:zlib. */
function plainDataUrl(text: string, mask?: number): string {
  const modules = encodeQR(text, 'raw', { ecc: 'medium', encoding: 'byte', border: 4, mask })
  const lines = Buffer.alloc(8 * modules.length * (1 + modules.length))
  let at = 0
  for (const row of modules) {
    const line = Buffer.alloc(1 + row.length)
    for (const [x, dark] of row.entries()) line[1 + x] = dark ? 0x00 : 0xff
    for (let pixel = 0; pixel < 8; pixel++, at += line.length) lines.set(line, at)
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(modules.length * 8, 0)
  header.writeUInt32BE(modules.length * 8, 4)
  header[8] = 1
  const png = Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return `data:image/png;base64,${png.toString('base64')}`
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)])
}
