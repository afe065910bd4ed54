import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { startChromium } from '../test/browser/chromium.ts'
import { seed } from './seed.ts'

/** Takes the pictures of the README: of a server of its own, whose sandbox has sold for a while. */
const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'docs', 'pictures')
const DAYS = 75
const MAX_BYTES = 160 * 1024
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, deviceScaleFactor: 1.5 }
const DESKTOP = { viewport: { width: 1120, height: 760 } }
const TALL = { viewport: { width: 1120, height: 980 } }
/** As tall as a page is down to its chart. */
const WITH_CHART = { width: 1120, height: 1190 }

const folder = mkdtempSync(join(tmpdir(), 'vintem-pictures-'))
const port = await freePort()
const url = `http://127.0.0.1:${port}`
const server = spawn(process.execPath, [join(ROOT, 'src/main.ts')], {
  cwd: folder,
  env: { ...process.env, DATA_DIR: join(folder, 'data'), PORT: String(port), LOG_LEVEL: 'silent' },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(server, 'exit')
try {
  await Promise.race([once(server.stdout, 'data'), ended])
  mkdirSync(FOLDER, { recursive: true })
  // Fields for days have the form of the browser's own language, which its `--lang` does not set.
  const browser = await startChromium({ LANGUAGE: 'pt_BR', LANG: 'pt_BR.UTF-8' })
  await takeAll(browser).finally(() => browser.close())
} finally {
  server.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
}

async function freePort(): Promise<number> {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  taken.close()
  await once(taken, 'close')
  return port
}

function keyOf(): string {
  return JSON.parse(readFileSync(join(folder, 'data', 'sandbox.json'), 'utf8')).apiKey
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is read for one field or two
async function post(path: string, json: unknown): Promise<any> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-API-KEY': keyOf() },
    body: JSON.stringify(json),
  })
  const { data, message } = (await reply.json()) as { data: unknown; message: string }
  if (!reply.ok) throw new Error(`${path}: ${message}`)
  return data
}

function charge(amount: number, name: string) {
  const customer = { name, taxId: '52998224725', email: 'maria@example.com' }
  return post('/charge/pix', { amount, customer, expiresIn: 3600 })
}

async function takeAll(browser: Browser): Promise<void> {
  await seed(url, keyOf(), DAYS)
  const paid = await charge(8990, 'Ana Souza')
  await post('/bank/pix', { brCode: paid.brCode })
  await post(`/refund/${paid.id}`, { value: 1990 })
  await charge(123_456, 'João Pereira')
  for (const [amount, name] of [
    [4590, 'Bruno Lima'],
    [12_990, 'Carla Dias'],
  ] as const) {
    await post('/bank/pix', { brCode: (await charge(amount, name)).brCode })
  }
  const open = await charge(1990, 'Maria da Silva')
  await post('/charge/payment-link', {
    total: 5990,
    notifyCustomer: true,
    customer: { name: 'Maria da Silva', taxId: '52998224725', email: 'maria@example.com' },
  })

  await take(browser, 'checkout-phone', open.url, PHONE)
  await take(browser, 'checkout-desktop', open.url, DESKTOP)
  const code = encodeURIComponent(open.brCode)
  await take(browser, 'bank', `${url}/bank?code=${code}`, TALL)
  await take(browser, 'mailbox', `${url}/mailbox`, DESKTOP, async (page) => {
    while ((await page.locator('.mail').count()) < 2) await page.reload()
  })
  await takeDashboard(browser, paid.id)
}

/** Pages behind a sign-in, as the person of the sandbox sees them. */
async function takeDashboard(browser: Browser, chargeId: string): Promise<void> {
  const context = await browser.newContext({ ...TALL, locale: 'pt-BR', reducedMotion: 'reduce' })
  const page = await context.newPage()
  await page.goto(url)
  await page.getByRole('button', { name: 'Abrir o painel' }).click()
  await page.waitForURL(/\/dashboard\/\w+/)
  const home = page.url()
  await page.setViewportSize(WITH_CHART)
  await save(page, 'dashboard-today')
  await page.goto(`${home}/reports?period=last`)
  await save(page, 'dashboard-reports')
  await page.setViewportSize(TALL.viewport)
  await page.goto(`${home}/charges/${chargeId}`)
  await save(page, 'dashboard-charge')
  await page.goto(`${home}/developers/deliveries`)
  await save(page, 'dashboard-deliveries')
  await context.close()
}

async function take(
  browser: Browser,
  name: string,
  address: string,
  window: typeof PHONE | typeof DESKTOP,
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<void> {
  const page = await browser.newPage({ ...window, locale: 'pt-BR', reducedMotion: 'reduce' })
  await page.goto(address)
  await prepare(page)
  await save(page, name)
  await page.close()
}

async function save(page: Page, name: string): Promise<void> {
  const path = join(FOLDER, `${name}.png`)
  await page.screenshot({ path })
  const { size } = statSync(path)
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes, more than ${MAX_BYTES}`)
  console.log(`docs/pictures/${name}.png  ${Math.ceil(size / 1024)} KB`)
}
