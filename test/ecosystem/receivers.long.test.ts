import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { makeSecret } from '../../src/core/webhooks/rules.ts'
import { letters, type Receiver, runIn, sendAll } from '../guides/receiving.ts'
import { blocksOf } from '../guides/samples.ts'
import { makeClientProject } from '../support/client-package.ts'
import { freePort, inherited } from '../support/process.ts'
import { until } from '../support/until.ts'
import { install } from './installed.ts'
import { callerOf, startSandbox } from './sandbox.ts'

const run = promisify(execFile)
const { folder: programs, missing } = install('receivers')
const PATH = '/webhooks/vintem'

const program = (path: string): string => join(programs, 'node_modules', path)
const versionOf = (name: string): string =>
  JSON.parse(readFileSync(program(`${name}/package.json`), 'utf8')).version

type Framework = {
  name: string
  package: string
  start(folder: string, code: string, environment: Record<string, string>): Promise<Receiver>
}

/** As somebody compiles and starts a program of their own. */
const compiled =
  (options: object): Framework['start'] =>
  async (folder, code, environment) => {
    const compilerOptions = {
      strict: true,
      skipLibCheck: true,
      target: 'es2023',
      module: 'nodenext',
      types: ['node'],
      ...options,
    }
    writeFileSync(join(folder, 'receiver.ts'), code)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
    await runProgram(folder, ['typescript/bin/tsc'])
    return runIn(folder, ['receiver.js'], environment)
  }

/** The programs print what is wrong to their standard output. */
async function runProgram(folder: string, [path, ...args]: [string, ...string[]]): Promise<void> {
  const env = { ...inherited, HOME: folder, NEXT_TELEMETRY_DISABLED: '1' }
  await run(process.execPath, [program(path), ...args], { cwd: folder, env }).catch((fault) => {
    assert.fail(`${path}: ${fault.stdout}${fault.stderr}`)
  })
}

async function startNext(
  folder: string,
  code: string,
  environment: Record<string, string>,
): Promise<Receiver> {
  const route = join(folder, 'app', PATH)
  mkdirSync(route, { recursive: true })
  writeFileSync(join(route, 'route.ts'), code)
  // Next looks upwards for a lock file, and would take that of this clone.
  const config = `export default { turbopack: { root: ${JSON.stringify(programs)} } }\n`
  writeFileSync(join(folder, 'next.config.mjs'), config)
  await runProgram(folder, ['next/dist/bin/next', 'build'])
  const args = [program('next/dist/bin/next'), 'start', '--hostname', '127.0.0.1']
  return runIn(folder, args, { ...environment, NEXT_TELEMETRY_DISABLED: '1' }, 'Ready in')
}

const DECORATORS = { experimentalDecorators: true, emitDecoratorMetadata: true }
const FRAMEWORKS: Framework[] = [
  { name: 'Express', package: 'express', start: compiled({}) },
  { name: 'Fastify', package: 'fastify', start: compiled({}) },
  { name: 'Nest', package: '@nestjs/core', start: compiled(DECORATORS) },
  { name: 'Next', package: 'next', start: startNext },
]

type Delivery = { eventId: string; status: string; attempts: { status: number }[] }

test('the receivers of the guide take what a started Vintém sends, and nothing forged', {
  skip: missing,
}, async (t) => {
  const sandbox = await startSandbox()
  const call = callerOf(sandbox)
  // Below the frameworks, so that they are found, with the client in it as npm packs it.
  const project = mkdtempSync(join(programs, 'project-'))
  after(() => rmSync(project, { recursive: true }))
  makeClientProject(project)

  for (const { name, package: found, start } of FRAMEWORKS) {
    await t.test(`${name} ${versionOf(found)}`, async (t) => {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}${PATH}`
      const webhook = await call<{ id: string; secret: string }>('POST', '/webhook', {
        url,
        name,
        events: ['charge.paid'],
      })
      const folder = join(project, name)
      mkdirSync(folder)
      writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
      const SECRET = `${makeSecret()} ${webhook.secret}`
      const [code] = blocksOf(name)
      const receiver = await start(folder, code!, { SECRET, PORT: String(port) })

      const customer = { name: 'Maria da Silva', taxId: '12345678909' }
      const charge = { amount: 1990, customer, devMode: true }
      const { id } = await call<{ id: string }>('POST', '/charge/pix', charge)
      await call('POST', `/charge/${id}/simulate-payment`)
      let deliveries: Delivery[] = []
      await until(`${name} has taken the delivery`, async () => {
        deliveries = await call('GET', `/webhook/${webhook.id}/deliveries`)
        return deliveries.some(({ status }) => status === 'DELIVERED')
      })
      assert.deepEqual(
        deliveries.map(({ attempts }) => attempts.map(({ status }) => status)),
        [[204]],
      )
      await receiver.printed(`${deliveries[0]!.eventId} Charge.Paid`)
      await sendAll(letters(webhook.secret), url)
      await receiver.stop()
      await call('DELETE', `/webhook/${webhook.id}`)
      t.diagnostic(
        `ECOSYSTEM ${name} ${versionOf(found)}: the guide's receiver takes a real delivery and refuses forged ones`,
      )
    })
  }
})
