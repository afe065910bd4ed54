import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, copyFileSync, globSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startApi } from '../support/api.ts'
import { makeClientProject } from '../support/client-package.ts'
import { freePort, inherited } from '../support/process.ts'
import { until } from '../support/until.ts'
import { makeReceiver, openDeliveryWorker } from '../support/webhooks.ts'

/** The client as npm packs it, against a real server, in each runtime that is found in the PATH. */
const run = promisify(execFile)
const { project, installed } = makeClientProject()
copyFileSync(join(import.meta.dirname, 'quickstart.js'), join(project, 'quickstart.js'))
writeFileSync(
  join(project, 'main.js'),
  `import { quickstart } from './quickstart.js'
const [given] = globalThis.Deno?.args ?? process.argv.slice(2)
console.log(JSON.stringify(await quickstart(JSON.parse(given))))\n`,
)

const api = await startApi()
// Deliveries are believed for five minutes by the clock of the machine.
api.clock.advance((Date.now() - api.clock.now().getTime()) / 1000)
const client = await api.client()
const { receiver, webhook } = await makeReceiver(client)
const customer = { name: 'Maria da Silva', taxId: '12345678909' }
const charge = await client.post('/charge/pix', { amount: 1990, customer, devMode: true })
await client.post(`/charge/${charge.body.data.id}/simulate-payment`)
await openDeliveryWorker(api).run()
await until('a delivery has arrived', () => receiver.received.length > 0)
const { body, headers } = receiver.received[0]!
const GIVEN = JSON.stringify({
  url: api.url,
  key: client.key,
  secret: webhook.secret,
  body,
  headers,
})

const EXPECTED = {
  made: [201, 'string', 'PAID', 1],
  missing: [404, 'charge_not_found'],
  refused: 401,
  away: 'connection_failed',
  late: 'timeout',
  signed: ['Charge.Paid', 'wrong-signature', 'Charge.Paid', 'wrong-signature'],
}

/** All programs of this name, in the order of the PATH. */
function findPrograms(name: string): string[] {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  return paths.filter((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

const versionOf = (program: string): string =>
  execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().split('\n')[0]!

async function runFile(program: string, args: string[]): Promise<unknown> {
  const env = { ...inherited, HOME: project }
  const { stdout } = await run(program, [...args, 'main.js', GIVEN], { cwd: project, env })
  return JSON.parse(stdout)
}

/** Each file is a module of the worker, by the path that an import finds. */
function workerConfig(port: number): string {
  const names = globSync('**/*.js', { cwd: join(installed, 'dist/esm') })
  const modules: [name: string, path: string][] = [
    ['worker.js', 'worker.js'],
    ['quickstart.js', 'quickstart.js'],
    ['@vintem/client', 'node_modules/@vintem/client/dist/esm/index.js'],
    ...names.map((name): [string, string] => [
      `@vintem/${name}`,
      `node_modules/@vintem/client/dist/esm/${name}`,
    ]),
  ]
  const list = modules.map(([name, path]) => `(name = "${name}", esModule = embed "${path}")`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [${list.join(', ')}],
      compatibilityDate = "2025-01-01",
    )),
    (name = "internet", network = (allow = ["local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);\n`
}

const WORKER = `import { quickstart } from './quickstart.js'
export default {
  async fetch(request) {
    return Response.json(await quickstart(await request.json()))
  },
}\n`

/** A worker at the edge has no command line: it is asked by a request. */
async function runWorker(program: string): Promise<unknown> {
  const port = await freePort()
  writeFileSync(join(project, 'worker.js'), WORKER)
  writeFileSync(join(project, 'config.capnp'), workerConfig(port))
  const worker = spawn(program, ['serve', 'config.capnp'], { cwd: project, stdio: 'inherit' })
  after(() => worker.kill())
  const ask = () => fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: GIVEN })
  const answer = await until('the worker answers', () => ask().catch(() => null))
  assert.equal(answer.status, 200, await answer.clone().text())
  return answer.json()
}

const RUNTIMES: Record<string, (program: string) => Promise<unknown>> = {
  node: (program) => runFile(program, []),
  deno: (program) => runFile(program, ['run', '--no-prompt', '--allow-net=127.0.0.1']),
  bun: (program) => runFile(program, []),
  workerd: runWorker,
}

for (const [name, start] of Object.entries(RUNTIMES)) {
  const programs = new Map(findPrograms(name).map((path) => [versionOf(path), path]))
  if (programs.size === 0) test.skip(`${name} is not in the PATH`)
  for (const [version, program] of programs) {
    test(`${name} ${version.replace(/^\w+ /, '')} creates, pays, lists, fails and verifies`, async () => {
      assert.deepEqual(await start(program), EXPECTED)
    })
  }
}
