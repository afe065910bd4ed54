import { Worker } from 'node:worker_threads'
import type { Copy } from '../lib/copies.ts'
import { ownScript } from '../lib/own-files.ts'
import { LATEST, VERSIONS } from '../versions/history.ts'
import { documentPath } from './openapi.ts'

export type ReferencePage = { page: string; script: Copy }

/** The page must not load anything from other servers. */
const CONFIGURATION = {
  pageTitle: 'Vintém',
  sources: VERSIONS.toReversed().map((version) => ({
    title: `Vintém ${version.name}`,
    slug: version.name,
    url: documentPath(version),
    default: version === LATEST,
  })),
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
}

/**
 * The page of the API reference and its script. Another thread makes them, because to load the
 * library takes a quarter of a second and 11 MB.
 */
export function makeReferencePage(): Promise<ReferencePage> {
  const file = ownScript('#reference-worker')
  const worker = new Worker(file, { workerData: CONFIGURATION, execArgv: [] })
  // A server that ends does not wait for it.
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.once('message', ({ page, script }) => resolve({ page, script: withBuffers(script) }))
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('the page of the API reference was not made')))
  })
}

/** A buffer arrives from another thread as an array of bytes. */
function withBuffers({ plain, packed, tag }: Copy): Copy {
  const toBuffer = (bytes: Uint8Array<ArrayBufferLike>) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return { plain: toBuffer(plain), packed: toBuffer(packed), tag }
}
