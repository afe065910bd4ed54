import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { inherited, temporaryFolder } from '../support/process.ts'
import { install } from './installed.ts'
import { startSandbox } from './sandbox.ts'

const run = promisify(execFile)
const { folder: programs, missing } = install('generators')
const require = createRequire(join(programs, 'package.json'))

const README = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')
/** What the first call of the README sends. */
const [, CHARGE] = /\/charge\/pix[\s\S]*?-d '(\{[\s\S]*?\})'/.exec(README) ?? []

const SETTINGS = `
declare const process: { env: Record<string, string> }
const { URL, KEY } = process.env
`

/** A program with its options left as they are, and the first call with what it has made. */
type Generator = { options: (document: string) => string[]; program: string }

const GENERATORS: Record<string, Generator> = {
  'openapi-typescript': {
    options: (document) => [document, '-o', 'schema.d.ts'],
    program: `
import createClient from 'openapi-fetch'
import type { paths } from './schema'
${SETTINGS}
const client = createClient<paths>({ baseUrl: URL, headers: { 'X-API-KEY': KEY } })
const { data, error } = await client.POST('/charge/pix', { body: ${CHARGE} })
if (error) throw new Error(error.message)
console.log(data.data.id)
// @ts-expect-error: an amount is a number, so the types are not of everything.
export const wrong = () => client.POST('/charge/pix', { body: { amount: '1990' } })
`,
  },
  '@hey-api/openapi-ts': {
    options: (document) => ['-i', document, '-o', 'client'],
    program: `
import { createPixCharge } from './client'
import { client } from './client/client.gen'
${SETTINGS}
client.setConfig({ baseUrl: URL, auth: KEY })
const { data, error } = await createPixCharge({ body: ${CHARGE} })
if (error) throw new Error(error.message)
console.log(data.data.id)
// @ts-expect-error: an amount is a number, so the types are not of everything.
export const wrong = () => createPixCharge({ body: { amount: '1990' } })
`,
  },
  orval: {
    options: (document) => ['--input', document, '--output', 'api.ts'],
    program: `
import axios from 'axios'
import { createPixCharge } from './api'
${SETTINGS}
axios.defaults.baseURL = URL
axios.defaults.headers.common['X-API-KEY'] = KEY
const { data } = await createPixCharge(${CHARGE})
console.log(data.data.id)
// @ts-expect-error: an amount is a number, so the types are not of everything.
export const wrong = () => createPixCharge({ amount: '1990' })
`,
  },
}

/** What `tsc --init` and a bundler set. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    target: 'esnext',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['esnext', 'dom', 'dom.iterable'],
    types: [],
  },
  files: ['main.ts'],
}

const programOf = (name: string, bin: string): { path: string; version: string } => {
  const file = join(programs, 'node_modules', name, 'package.json')
  const { version, bin: bins } = JSON.parse(readFileSync(file, 'utf8'))
  const path = typeof bins === 'string' ? bins : bins[bin]
  return { path: join(programs, 'node_modules', name, path), version }
}

test('generators make clients with which the first call of the README compiles and works', {
  skip: missing,
}, async (t) => {
  const { url, key } = await startSandbox()
  for (const [name, { options, program }] of Object.entries(GENERATORS)) {
    const cwd = temporaryFolder()
    symlinkSync(join(programs, 'node_modules'), join(cwd, 'node_modules'))
    const env = { ...inherited, URL: url, KEY: key }
    const { path, version } = programOf(name, name.split('/').at(-1)!)
    await run(process.execPath, [path, ...options(`${url}/openapi.json`)], { cwd, env })
    writeFileSync(join(cwd, 'main.ts'), program)
    writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify(TSCONFIG))
    const compiled = await run(process.execPath, [require.resolve('typescript/bin/tsc')], {
      cwd,
      env,
    }).catch((fault) => fault)
    assert.equal(compiled.code ?? 0, 0, `${name}: ${compiled.stdout}`)
    const outfile = join(cwd, 'main.mjs')
    await build({
      entryPoints: [join(cwd, 'main.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'error',
    })
    const { stdout } = await run(process.execPath, [outfile], { cwd, env })
    assert.match(stdout, /^charge_\w+$/m, name)
    t.diagnostic(`ECOSYSTEM ${name} ${version}: the first call of the README compiles and works`)
  }
})
