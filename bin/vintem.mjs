#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ensureInstalled } from '../scripts/install.mjs'

const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url))

try {
  run(await ensureInstalled())
} catch (fault) {
  console.error(fault.message)
  process.exitCode = 1
}

// The sources are TypeScript, which this Node runs and the machine's own may not.
function run(node) {
  // From wherever it is called, it is about the installation it belongs to: its .env and .data.
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  // What Node.js has compiled is kept, as by `npm start`, so that the next command begins sooner.
  const compiled = { NODE_COMPILE_CACHE: 'node_modules/.cache/compiled' }
  // Files that the user names are in the folder of the user.
  const env = { ...compiled, ...process.env, VINTEM_CALLER_FOLDER: process.cwd() }
  const cli = spawn(node, [main, ...process.argv.slice(2)], { cwd, env, stdio: 'inherit' })
  const forward = (signal) => {
    // A terminal sends Ctrl-C to both of us, and a second one would mean impatience.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) cli.kill(signal)
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  for (const signal of signals) process.on(signal, forward)
  cli.on('error', (fault) => {
    console.error(fault.message)
    process.exitCode = 1
  })
  cli.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = code
  })
}
