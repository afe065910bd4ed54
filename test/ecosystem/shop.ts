import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { promisify } from 'node:util'
import { signWebhook, Vintem } from '../../packages/client/src/index.ts'
import type { Code } from '../../packages/shop/src/charge.ts'
import { build as buildClient } from '../../scripts/client/build.ts'
import { emptyDatabase } from '../support/database.ts'
import { freePort, inherited } from '../support/process.ts'
import { until } from '../support/until.ts'
import { startSandbox } from './sandbox.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')

/** Where a shop is to be, and its company at Vintém. */
export type Site = { programs: string; port: number; environment: Record<string, string> }

/** Starts a Vintém whose company has a webhook at a path of a shop that is to be started. */
export async function openSite(programs: string, path: string) {
  const { url, key } = await startSandbox()
  const vintem = new Vintem({ url, key })
  const port = await freePort()
  const webhook = await vintem.webhooks.create({
    name: 'shop',
    url: `http://127.0.0.1:${port}${path}`,
    events: ['charge.paid'],
  })
  const environment = {
    DATABASE_URL: await emptyDatabase(),
    VINTEM_URL: url,
    VINTEM_KEY: key,
    VINTEM_WEBHOOK_SECRET: webhook.secret,
  }
  return {
    site: { programs, port, environment } satisfies Site,
    vintem,
    secret: webhook.secret,
    /** As the app of the payer's bank. */
    pay: ({ brCode }: Pick<Code, 'brCode'>): Promise<{ endToEndId: string }> =>
      vintem.request<{ endToEndId: string }>(
        'POST',
        '/bank/pix',
        { body: { brCode } },
        { retries: 0 },
      ) as Promise<{ endToEndId: string }>,
    listen: (isHeard: boolean) =>
      vintem.webhooks.update(webhook.id, { status: isHeard ? 'ACTIVE' : 'INACTIVE' }),
    /** What arrives at the shop's address for webhooks, and the status of the answer. */
    async post({ chargeId: id, amount: total }: Code, secret: string): Promise<number> {
      const event = { event: 'Charge.Paid', charge: { id, status: 'PAID', total } } as const
      const request = await signWebhook(event, secret)
      return (await fetch(webhook.url, { method: 'POST', ...request })).status
    },
  }
}

/** A shop of npm with a package of ours, in a folder below that in which it is installed. */
export abstract class ShopProgram {
  readonly url: string
  protected readonly folder: string
  protected readonly programs: string
  protected readonly environment: Record<string, string>
  readonly #name: string
  #child: ChildProcess | null = null
  #output = ''

  /** `name` is that of the package. */
  constructor(name: string, { programs, port, environment }: Site) {
    this.#name = name
    this.url = `http://127.0.0.1:${port}`
    this.programs = programs
    this.folder = join(programs, `shop-${process.pid}`)
    this.environment = {
      ...inherited,
      HOME: this.folder,
      NODE_ENV: 'production',
      PORT: String(port),
      ...environment,
    }
    after(async () => {
      await this.stop()
      rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** What the shop has written. */
  output(): string {
    return this.#output
  }

  /** Puts the package and its client where npm would. */
  protected async installPackage(build: (folder: string) => Promise<void>): Promise<void> {
    const modules = join(this.folder, 'node_modules')
    mkdirSync(join(modules, '@vintem'), { recursive: true })
    await buildClient(join(modules, '@vintem/client'))
    await build(join(modules, this.#name))
  }

  /** Checks the package against the types of the shop. `more` adds files to its folder. */
  async checkTypes(more: (project: string) => void = () => {}): Promise<void> {
    const packages = join(this.folder, 'packages')
    for (const name of [this.#name, 'shop']) {
      cpSync(join(ROOT, 'packages', name), join(packages, name), { recursive: true })
    }
    const compiler = join(ROOT, 'node_modules/typescript-5/bin/tsc')
    const project = join(packages, this.#name)
    more(project)
    await run(process.execPath, [compiler, '-p', project], { env: inherited }).catch((error) => {
      throw new Error(error.stdout)
    })
    rmSync(packages, { recursive: true })
  }

  protected async startProgram(args: string[], environment: object): Promise<void> {
    const child = spawn(process.execPath, args, {
      cwd: this.folder,
      env: { ...this.environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        this.#output += chunk
      })
    await until('the shop answers', async () => {
      if (child.exitCode !== null) throw new Error(`The shop has ended: ${this.#output}`)
      const reply = await fetch(`${this.url}/health`).catch(() => null)
      return reply?.ok ?? false
    })
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGTERM')
    await ended
  }
}
