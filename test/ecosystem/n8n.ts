import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after } from 'node:test'
import { emptyDatabase } from '../support/database.ts'
import { freePort, temporaryFolder } from '../support/process.ts'
import { until } from '../support/until.ts'

const HOST = '127.0.0.1'
const OWNER = { email: 'owner@example.com', password: 'Correct-horse-1' }

/** What n8n would tell its makers, or ask them. */
const SILENT = {
  N8N_DIAGNOSTICS_ENABLED: 'false',
  N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
  N8N_TEMPLATES_ENABLED: 'false',
  N8N_PERSONALIZATION_ENABLED: 'false',
  N8N_HIRING_BANNER_ENABLED: 'false',
  N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
  N8N_VERIFIED_PACKAGES_ENABLED: 'false',
  N8N_DYNAMIC_BANNERS_ENABLED: 'false',
  N8N_DISABLED_MODULES: 'mcp-registry',
}

export type Item = Record<string, unknown>
export type Step = { name: string; type: string; parameters: Item; webhookId?: string }

/** The real n8n with a folder and a database of its own. */
export class N8n {
  readonly home = temporaryFolder()
  readonly #program: string
  #environment: Record<string, string> = {}
  #process: ReturnType<typeof spawn> | null = null
  #cookie = ''
  url = ''

  constructor(programs: string) {
    this.#program = join(programs, 'node_modules/n8n/bin/n8n')
    after(() => this.kill())
  }

  /** Chooses where it listens and what it stores, once. */
  async prepare(): Promise<void> {
    const port = String(await freePort())
    const database = new URL(await emptyDatabase())
    this.url = `http://${HOST}:${port}`
    const part = (text: string) => decodeURIComponent(text)
    this.#environment = {
      ...SILENT,
      PATH: process.env.PATH ?? '',
      HOME: this.home,
      TMPDIR: this.home,
      N8N_USER_FOLDER: this.home,
      N8N_LISTEN_ADDRESS: HOST,
      N8N_PORT: port,
      N8N_RUNNERS_BROKER_PORT: String(await freePort()),
      N8N_SECURE_COOKIE: 'false',
      WEBHOOK_URL: this.url,
      DB_TYPE: 'postgresdb',
      DB_POSTGRESDB_HOST: database.hostname,
      DB_POSTGRESDB_PORT: database.port,
      DB_POSTGRESDB_DATABASE: database.pathname.slice(1),
      DB_POSTGRESDB_USER: part(database.username),
      DB_POSTGRESDB_PASSWORD: part(database.password),
    }
  }

  async start(): Promise<void> {
    const log = join(this.home, 'n8n.log')
    const out = openSync(log, 'a')
    const child = spawn(process.execPath, [this.#program, 'start'], {
      cwd: this.home,
      env: this.#environment,
      stdio: ['ignore', out, out],
    })
    closeSync(out)
    this.#process = child
    await until('n8n is ready', async () => {
      assert.equal(child.exitCode, null, readFileSync(log, 'utf8'))
      const reply = await fetch(`${this.url}/healthz/readiness`).catch(() => null)
      return reply?.ok ?? false
    })
  }

  async kill(): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }

  /** Asks what the editor of n8n asks. */
  async ask<Data>(method: string, path: string, body?: unknown): Promise<Data> {
    const reply = await fetch(`${this.url}/rest${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', Cookie: this.#cookie },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await reply.text()
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`)
    const cookie = reply.headers.getSetCookie().find((one) => one.startsWith('n8n-auth='))
    if (cookie) this.#cookie = cookie.split(';')[0]!
    return JSON.parse(text).data
  }

  async setUpOwner(): Promise<void> {
    await this.ask('POST', '/owner/setup', { ...OWNER, firstName: 'Ana', lastName: 'Souza' })
  }

  async signIn(): Promise<void> {
    const { email, password } = OWNER
    await this.ask('POST', '/login', { emailOrLdapLoginId: email, password })
  }

  /** Creates a workflow of nodes that run one after the other, and waits until it is active. */
  async activate(name: string, steps: Step[], credentials: Item): Promise<string> {
    const nodes = steps.map((step, i) => ({
      id: crypto.randomUUID(),
      typeVersion: 1,
      position: [i * 200, 0],
      ...(step.type.includes('vintem') && { credentials: { vintemApi: credentials } }),
      ...step,
    }))
    const links = steps.slice(1).map((next, i) => {
      const main = [[{ node: next.name, type: 'main', index: 0 }]]
      return [steps[i]!.name, { main }]
    })
    const { id, versionId } = await this.ask<{ id: string; versionId: string }>(
      'POST',
      '/workflows',
      { name, nodes, connections: Object.fromEntries(links), settings: { executionOrder: 'v1' } },
    )
    await this.ask('POST', `/workflows/${id}/activate`, { versionId })
    await until(`${name} is active`, async () => {
      const { triggerCount } = await this.ask<{ triggerCount: number }>('GET', `/workflows/${id}`)
      return triggerCount > 0
    })
    return id
  }

  /** How the runs of a workflow have ended, the latest first. */
  async runsOf(workflowId: string): Promise<string[]> {
    const filter = encodeURIComponent(JSON.stringify({ workflowId }))
    const { results } = await this.ask<{ results: { status: string }[] }>(
      'GET',
      `/executions?filter=${filter}`,
    )
    return results.map(({ status }) => status)
  }
}
