import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startApi } from '../support/api.ts'
import { makeClientProject } from '../support/client-package.ts'
import { longTest } from '../support/long.ts'
import { inherited, temporaryFolder } from '../support/process.ts'

const ROOT = join(import.meta.dirname, '../..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const README = readFileSync(join(ROOT, 'packages/client/README.md'), 'utf8')
const blocks = [...README.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text]) => text!)
const api = await startApi()
const run = promisify(execFile)

const { project, installed } = makeClientProject()

/** Our own Node, and the one of the machine, which may be older. */
const nodes = new Set([process.execPath, machineNode()])

function machineNode(): string {
  const path = (process.env.PATH ?? '')
    .split(':')
    .filter((folder) => !folder.includes('node_modules'))
    .join(':')
  const print = 'process.stdout.write(process.execPath)'
  return execFileSync('node', ['-e', print], { env: { PATH: path }, encoding: 'utf8' })
}

test('the package has no runtime dependencies, and holds only what is needed', () => {
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  )
  assert.deepEqual([dependencies, peerDependencies, optionalDependencies], Array(3).fill(undefined))
  const files = globSync('**/*', { cwd: installed, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
  const odd = files.filter((name) => !/\.(js|js\.map|d\.ts)$/.test(name))
  assert.deepEqual(odd.sort(), ['LICENSE', 'README.md', 'package.json', 'package.json'])
})

test('npm shows where it comes from, and its README leads to pages that npm can show', () => {
  const { repository, homepage, publishConfig, scripts } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  )
  assert.equal(repository.directory, 'packages/client')
  assert.match(homepage, /^https:\/\/.*#readme$/)
  assert.deepEqual([publishConfig.access, scripts], ['public', undefined])
  const links = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to!)
  assert.ok(links.length > 3)
  const file = /^https:\/\/github\.com\/vintem\/vintem\/(?:blob|tree)\/main\/([^#]+)/
  for (const link of links) {
    const [, path] = file.exec(link) ?? []
    assert.ok(path === undefined ? /^https:/.test(link) : existsSync(join(ROOT, path)), link)
  }
})

test('stacks can be followed to the sources, which are in the maps', () => {
  const maps = globSync(join(installed, 'dist/*/*.js.map'))
  assert.ok(maps.length > 12)
  for (const path of maps) {
    const { sources, sourcesContent, sourceRoot } = JSON.parse(readFileSync(path, 'utf8'))
    const [source] = sources
    assert.match(sourceRoot, /^https:\/\/.*\/v[\d.]+\/packages\/client\/src\/$/)
    const text = readFileSync(join(ROOT, 'packages/client/src', source), 'utf8')
    assert.deepEqual(sourcesContent, [text])
  }
})

longTest('in a clone where nothing is built, npm refuses to make an empty package', () => {
  const clone = temporaryFolder()
  const filter = (path: string) => !/^(dist|node_modules)$/.test(basename(path))
  for (const name of ['.npmrc', 'package.json', 'packages/client']) {
    cpSync(join(ROOT, name), join(clone, name), { recursive: true, filter })
  }
  for (const [folder, what] of [
    ['', './packages/client'],
    ['packages/client', '.'],
  ] as const) {
    const { status } = spawnSync('npm', ['pack', what], { cwd: join(clone, folder) })
    assert.equal(status, 1, `npm pack ${what}`)
  }
  assert.deepEqual(globSync('**/*.tgz', { cwd: clone }), [])
})

longTest('two clones make the same file, byte by byte, wherever and whenever it is', () => {
  const packed = [
    { TZ: 'UTC', LANG: 'C' },
    { TZ: 'America/Sao_Paulo', LANG: 'pt_BR.UTF-8' },
  ].map((environment) => {
    const clone = join(temporaryFolder(), `clone of ${environment.LANG}`)
    execFileSync('git', ['clone', '--quiet', ROOT, clone])
    symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'))
    execFileSync(process.execPath, ['scripts/client/build.ts', '--pack'], {
      cwd: clone,
      env: { ...inherited, ...environment, HOME: clone },
    })
    const [file] = globSync(join(clone, '*.tgz'))
    return createHash('sha256').update(readFileSync(file!)).digest('hex')
  })
  assert.equal(packed[0], packed[1])
})

test('it imports nothing but itself, and names nothing that only Node has', () => {
  for (const file of globSync(join(installed, 'dist/**/*.js'))) {
    const whole = readFileSync(file, 'utf8')
    const own = /\brequire\(("\.[^"]+\.js"|s)\)/g
    const text = file.includes('/cjs/') ? whole.replace(own, 'import($1)') : whole
    const imports = [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(([, to]) => to!)
    assert.deepEqual(
      imports.filter((to) => !/^\.\.?\/[\w./-]+\.js$/.test(to)),
      [],
      file,
    )
    assert.doesNotMatch(text, /\b(Buffer|process|require|__dirname)\b\s*[.(]/, file)
  }
})

for (const node of nodes) {
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()

  test(`Node ${version} imports it, also without Web Crypto as a global, as Node 18 is`, () => {
    const script = `
      delete globalThis.crypto
      const { Vintem, unwrapWebhook, NotFoundError } = await import('@vintem/client')
      const { WebhookVerificationError } = await import('@vintem/client/webhooks')
      const seen = []
      const fetch = async (_, { headers }) => {
        seen.push(headers.get('idempotency-key'))
        return Response.json({ data: { id: 'charge_1' } })
      }
      const vintem = new Vintem({ url: 'http://vintem.test', key: 'vk_1', fetch })
      await vintem.charges.cancel('charge_1')
      const secret = 'whsec_' + btoa('k'.repeat(32))
      const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,' + btoa('s'.repeat(32)) }
      const refused = await unwrapWebhook('{}', headers, secret).catch((error) => error)
      console.log(seen[0].length, refused instanceof WebhookVerificationError, refused.reason)`
    const required = script
      .replace(/await import\(/g, 'require(')
      .replace(/^([\s\S]*)$/, '(async () => {$1})()')
    for (const [type, text] of [
      ['module', script],
      ['commonjs', required],
    ]) {
      const args = [`--input-type=${type}`, '-e', text!]
      const output = execFileSync(node, args, { cwd: project, encoding: 'utf8' })
      assert.equal(output.trim(), '32 true wrong-signature', type)
    }
  })
}

/** Compiles files in the project of somebody else. */
function compile(
  name: string,
  files: Record<string, string>,
  options: object,
  { tsc = TSC, type = 'module' } = {},
): void {
  const folder = join(project, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }))
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    module: 'nodenext',
    moduleResolution: 'nodenext',
    exactOptionalPropertyTypes: true,
    outDir: join(folder, 'out'),
    ...options,
  }
  const config = JSON.stringify({ compilerOptions, include: ['*.ts'] })
  writeFileSync(join(folder, 'tsconfig.json'), config)
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
}

/** What the types promise, checked by the compiler. */
const TYPES = `
import { type Charge, type List, Vintem, type WebhookEvent } from '@vintem/client'
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const [url, key] = ['http://vintem.test', 'vk_1']
const [latest, old] = [new Vintem({ url, key }), new Vintem({ url, key, version: '2025-01-01' })]
type StatusOf<V extends { charges: { get(id: string): PromiseLike<{ paymentStatus: string }> } }> =
  Awaited<ReturnType<V['charges']['get']>>['paymentStatus']
export const isTyped: Same<
  [StatusOf<typeof latest>, StatusOf<typeof old>],
  [
    'PENDING' | 'PROCESSING' | 'PAID' | 'RECEIVED' | 'EXPIRED' | 'REFUNDED',
    'PENDING' | 'PROCESSING' | 'PAID' | 'RECIEVED' | 'EXPIRED' | 'REFUNDED',
  ]
> = true
export const isTheLatest: Same<typeof latest.version, '2026-08-16'> = true
export const list: List<Charge> = latest.charges.list({ paymentStatus: 'RECEIVED' })
export const asPromise: Promise<Charge> = latest.charges.get('charge_1')
// @ts-expect-error the older version spells it otherwise
old.charges.list({ paymentStatus: 'RECEIVED' })
// @ts-expect-error there is no such version
new Vintem({ url, key, version: '2024-01-01' })
// @ts-expect-error the payer is missing
latest.charges.createPix({ amount: 1990 })
// @ts-expect-error cents are a number
latest.charges.createStatic({ amount: '1990' })
export const idOf = (event: WebhookEvent): string =>
  event.event === 'Withdrawal.Failed' ? event.withdrawal.id : ''
`

/** The code of the README, and what the types promise. */
const README_FILES = {
  ...Object.fromEntries(blocks.map((text, i) => [`block-${i}.ts`, text])),
  'types.ts': TYPES,
}

longTest(
  'the code of its README compiles for users of Node, and pays a charge in the sandbox',
  async () => {
    const typeRoots = [join(ROOT, 'node_modules/@types')]
    compile('node', README_FILES, { types: ['node'], lib: ['es2022'], typeRoots })
    const client = await api.client()
    const env = { ...inherited, VINTEM_URL: api.url, VINTEM_KEY: client.key }
    for (const node of nodes) {
      const { stdout } = await run(node, [join(project, 'node/out/block-0.js')], { env })
      const [, id] = /^(charge_\w+) PAID$/m.exec(stdout) ?? []
      const { body } = await client.get(`/charge/${id}`)
      assert.deepEqual([body.data.total, body.data.paymentStatus], [1990, 'PAID'])
    }
  },
)

const DOM = { types: [], lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'] }
const DECLARED = 'declare const process: { env: Record<string, string | undefined> }\n'

test('its types need no types of Node, and are whole', () => {
  compile('dom', { ...README_FILES, 'declared.d.ts': DECLARED }, { ...DOM, skipLibCheck: false })
})

/** How projects are compiled: options, the kind of package, and what runs the result. */
const MODES: Record<string, { options: object; type: string }> = {
  commonjs: { options: { module: 'commonjs', moduleResolution: 'node10' }, type: 'commonjs' },
  'node16 as CommonJS': {
    options: { module: 'node16', moduleResolution: 'node16' },
    type: 'commonjs',
  },
  node16: { options: { module: 'node16', moduleResolution: 'node16' }, type: 'module' },
  'nodenext as CommonJS': { options: {}, type: 'commonjs' },
  nodenext: { options: {}, type: 'module' },
  bundler: { options: { module: 'esnext', moduleResolution: 'bundler' }, type: 'module' },
}

/** No top-level await, which CommonJS has not. */
const EVERYWHERE = `
import { type Charge, signWebhook, Vintem, VintemError } from '@vintem/client'
import { unwrapWebhook, WebhookVerificationError } from '@vintem/client/webhooks'
const fetch = async () => Response.json({ data: { id: 'charge_1', total: 1990 } })
const vintem = new Vintem({ url: 'http://vintem.test', key: 'vk_1', fetch })
const secret = 'whsec_' + btoa('k'.repeat(32))
async function main(): Promise<void> {
  const charge: Charge = await vintem.charges.get('charge_1')
  const { body, headers } = await signWebhook('{"event":"Charge.Paid"}', secret)
  const { event } = await unwrapWebhook(body, headers, secret)
  const isOne = new WebhookVerificationError('too-old', '') instanceof Error && VintemError !== undefined
  console.log(charge.total, event, isOne)
}
main()
`

for (const [mode, { options, type }] of Object.entries(MODES)) {
  longTest(`TypeScript with ${mode} finds its types, and the program runs`, () => {
    const name = mode.replaceAll(' ', '-')
    // Newer ones know no node10, which ignores "exports".
    const tsc = join(ROOT, 'node_modules/typescript-5/bin/tsc')
    compile(name, { 'everywhere.ts': EVERYWHERE }, { ...DOM, ...options }, { tsc, type })
    const folder = join(project, name)
    for (const node of nodes) {
      const output = execFileSync(node, ['out/everywhere.js'], { cwd: folder, encoding: 'utf8' })
      assert.equal(output, '1990 Charge.Paid true\n')
    }
  })
}
