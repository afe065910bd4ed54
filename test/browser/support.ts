import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterEach } from 'node:test'
import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core'
import { isLong } from '../support/long.ts'
import { startChromium } from './chromium.ts'

/** How somebody looks at pages. */
export type Visit = {
  /** With a phone of 360 × 740 points instead of a desktop's window. */
  phone?: boolean
  /** Another size of the window. */
  size?: { width: number; height: number }
  /** False: without scripts. */
  javaScript?: boolean
  /** What the browser asks for. */
  language?: 'pt' | 'en'
  dark?: boolean
  calm?: boolean
  /** A server besides that of its pages that they may ask. */
  mayAsk?: string
}

export type Visitor = {
  /** Another tab of the same person. */
  open(url: string): Promise<Page>
  context: BrowserContext
}

export type Browsing = {
  visitor(visit?: Visit): Promise<Visitor>
  /** A page that somebody new looks at. */
  open(url: string, visit?: Visit): Promise<Page>
}

const WINDOW = { width: 1280, height: 800 }
const PHONE = { width: 360, height: 740 }
const PATIENCE_MS = 120_000
/** What the service of a test calls itself. A test that loads something from there answers it. */
const PUBLIC_ORIGIN = 'http://vintem.test'

/** One browser for all files of a process. Playwright ends it with the process. */
let browser: Promise<Browser> | null = null

/**
 * Pages for the tests of a file. A test fails when one of its pages has complained: of an
 * error in a script, of something that its Content-Security-Policy forbids, of a file that is not
 * there; or when it has asked anybody but the server that it came from.
 */
export function browsing(): Browsing {
  let contexts: BrowserContext[] = []
  let complaints: string[] = []
  afterEach(async () => {
    const [open, found] = [contexts, complaints]
    contexts = []
    complaints = []
    await Promise.all(open.map((context) => context.close()))
    assert.deepEqual(found, [], 'a page has complained')
  })

  const visitor = async (visit: Visit = {}): Promise<Visitor> => {
    browser ??= startChromium()
    const context = await (await browser).newContext(optionsOf(visit))
    contexts.push(context)
    context.setDefaultTimeout(PATIENCE_MS)
    listen(context, complaints, visit.mayAsk)
    const open = async (url: string) => {
      const page = await context.newPage()
      await page.goto(url)
      return page
    }
    return { open, context }
  }
  return { visitor, open: async (url, visit) => (await visitor(visit)).open(url) }
}

function optionsOf({ phone, size, javaScript = true, language = 'pt', dark, calm }: Visit) {
  return {
    ...(phone ? { viewport: size ?? PHONE, hasTouch: true, isMobile: true } : {}),
    ...(phone ? {} : { viewport: size ?? WINDOW }),
    javaScriptEnabled: javaScript,
    locale: language === 'pt' ? 'pt-BR' : 'en-US',
    timezoneId: 'America/Sao_Paulo',
    colorScheme: dark ? ('dark' as const) : ('light' as const),
    reducedMotion: calm ? ('reduce' as const) : ('no-preference' as const),
    permissions: ['clipboard-read', 'clipboard-write'],
  }
}

function listen(context: BrowserContext, complaints: string[], mayAsk = PUBLIC_ORIGIN): void {
  const origins = new Set<string>()
  context.on('page', (page) => {
    page.on('console', (message) => {
      if (message.type() === 'error' && !isRefusal(message, page, mayAsk))
        complaints.push(message.text())
    })
  })
  context.on('weberror', (fault) => {
    complaints.push(String(fault.error()))
  })
  context.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (!/^https?:/.test(protocol) || [PUBLIC_ORIGIN, mayAsk].includes(origin)) return
    origins.add(origin)
    if (origins.size > 1) complaints.push(`asked another server: ${request.url()}`)
  })
}

/**
 * A page that says no with its status, such as a form sent back, is not a missing file; nor is the
 * icon that a browser with a window asks every server for.
 */
function isRefusal(message: ConsoleMessage, page: Page, mayAsk: string): boolean {
  const { url } = message.location()
  const isExpected = url === page.url() || url.endsWith('/favicon.ico') || url.startsWith(mayAsk)
  return message.text().startsWith('Failed to load resource') && isExpected
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

type Violation = { id: string; help: string; nodes: { html: string; failureSummary: string }[] }

const checked = new Set<string>()

/**
 * Everybody can use the page, as far as axe can check that. It takes half a second, so `npm test`
 * checks a page once, whichever tests open it; `npm run test:pages` checks it every time.
 */
export async function isAccessible(page: Page): Promise<void> {
  const place = new URL(page.url()).pathname.replaceAll(/[^/]*\d[^/]*/g, ':id')
  if (checked.has(place) && !isLong) return
  checked.add(place)
  await page.evaluate(AXE)
  const found = await page.evaluate<{ violations: Violation[] }>(
    `axe.run({ runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] })`,
  )
  const reported = found.violations.map(({ id, help, nodes }) => ({
    [`${id}: ${help}`]: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
  }))
  assert.deepEqual(reported, [], page.url())
}

/** A name that is markup, should anybody take it for that. */
export const INJECTION = `"><script>document.title='broken'</script><img src=x onerror=alert(1)>`

/** The text is on the page as it was written, and nothing of it has become markup. */
export async function showsAsText(page: Page, text: string): Promise<void> {
  const shown = await page.locator('body').innerText()
  assert.ok(shown.includes(text), `${page.url()} shows ${text}`)
  assert.equal(await page.locator('img[src=x]').count(), 0)
  assert.notEqual(await page.title(), 'broken')
}

/** Nothing sticks out to the right of the window. */
export async function fitsTheWindow(page: Page): Promise<void> {
  const width = await page.evaluate<number>('document.documentElement.scrollWidth')
  const { width: most } = page.viewportSize()!
  assert.ok(width <= most, `${page.url()} is ${width} wide in a window of ${most}`)
}

/** What may have to break inside a word: codes, and what others have named. */
const BREAKABLE =
  'code, .code, pre, textarea, script, style, dd, h1, .item dt, .name, .about, .rows'

const NONE = /(?!)/

/** Every word of ours is on one line. Those that match are of others. */
export async function breaksNoWord(page: Page, ofOthers = NONE): Promise<void> {
  const broken = await page.evaluate<string[]>(`(() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const broken = []
    while (texts.nextNode()) {
      const { currentNode: node, currentNode: { parentElement: around } } = texts
      if (!around.checkVisibility() || around.closest('${BREAKABLE}')) continue
      for (const { 0: word, index } of node.data.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange()
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
        if (lines.size > 1) broken.push(word)
      }
    }
    return broken
  })()`)
  const ours = broken.filter((word) => !ofOthers.test(word))
  assert.deepEqual(ours, [], page.url())
}
