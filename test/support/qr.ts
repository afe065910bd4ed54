import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader'

// From the file system, because the package would fetch it from the network.
const wasm = fileURLToPath(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'))
prepareZXingModule({ overrides: { wasmBinary: new Uint8Array(readFileSync(wasm)).buffer } })

/** What an independent decoder reads from a PNG in a data URL. */
export async function decode(dataUrl: string): Promise<string> {
  const [head, body] = dataUrl.split(',')
  assert.equal(head, 'data:image/png;base64')
  const found = await readBarcodes(Buffer.from(body!, 'base64'), { formats: ['QRCode'] })
  assert.equal(found.length, 1, 'one QR code in the image')
  return found[0]!.text
}
