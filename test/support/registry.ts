import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after } from 'node:test'
import { temporaryFolder } from './process.ts'

export type Manifest = {
  name: string
  version: string
  scripts?: Record<string, string>
  bin?: Record<string, string>
}

export type Published = Manifest & { bytes: Buffer; integrity: string }

/** A package as npm keeps it, with a file `bin/node` that says which package it belongs to. */
export function pack(manifest: Manifest, content: string = manifest.version): Published {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'package', 'bin'), { recursive: true })
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package', 'bin', 'node'), content, { mode: 0o755 })
  const bytes = execFileSync('tar', ['-czf', '-', '-C', folder, 'package'])
  const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
  return { ...manifest, bytes, integrity }
}

/** A registry of npm on the loopback address. `asked` resolves with the first request. */
export async function startRegistry(published: Published[], { answers = true } = {}) {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    resolve()
    if (!answers) return
    const [name, file] = decodeURIComponent(request.url!.slice(1)).split('/-/')
    const found = published.filter((one) => one.name === name)
    if (file) response.end(found.find((one) => file === `${one.version}.tgz`)?.bytes)
    else response.end(JSON.stringify(describe(name!, found, url)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  after(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url, asked }
}

function describe(name: string, found: Published[], url: string) {
  const versions = found.map(({ bytes: _, integrity, ...manifest }) => {
    const dist = { integrity, tarball: `${url}/${name}/-/${manifest.version}.tgz` }
    return [manifest.version, { ...manifest, dist }]
  })
  return { name, 'dist-tags': {}, versions: Object.fromEntries(versions) }
}
