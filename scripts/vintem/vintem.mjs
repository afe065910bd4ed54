#!/usr/bin/env node
import module from 'node:module'
import { fileURLToPath } from 'node:url'

// If Node is older, the next file cannot even be read, so this one has nothing that is newer.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 20 || (major === 20 && minor >= 19)) {
  // What Node has compiled is kept, so that the next start begins sooner. Node 20 cannot do that.
  const { NODE_COMPILE_CACHE } = process.env
  const folder = fileURLToPath(new URL('../.compiled', import.meta.url))
  if (module.enableCompileCache && !NODE_COMPILE_CACHE) module.enableCompileCache(folder)
  if (!Promise.withResolvers) await import('../dist/node-20.js')
  await import('../dist/main.js')
} else {
  console.error(
    `Vintém needs Node.js 20.19 or newer, and this is ${process.version}: see nodejs.org.`,
  )
  process.exitCode = 1
}
