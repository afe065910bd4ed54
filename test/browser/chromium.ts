import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { temporaryFolder } from '../support/process.ts'

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules')
const PACKAGE = '@sparticuz/chromium'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--font-render-hinting=none',
  // What it is shown is ours, and each process of it takes its time.
  '--in-process-gpu',
  '--renderer-process-limit=1',
]
/** Where systems install a Chromium, for machines that the package has none for. */
const INSTALLED = [
  '/usr/lib/chromium/chromium-headless-shell',
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

export const NO_BROWSER =
  'The tests bring a Chromium for Linux on x64 only, and none is installed here. ' +
  'Install one (on Debian: apt-get install chromium-headless-shell), or name yours by CHROME_PATH.'

/** The Chromium that CHROME_PATH names, the package's, or the system's; null without any. */
export function findChromium(): string | null {
  const { CHROME_PATH } = process.env
  if (CHROME_PATH) return CHROME_PATH
  if (process.platform === 'linux' && process.arch === 'x64') return join(unpacked(), 'chromium')
  return INSTALLED.find((path) => existsSync(path)) ?? null
}

/**
 * Starts a Chromium that needs nothing else installed, not even a font, and no user of its own,
 * because what it is shown is ours. `more` is added to its environment.
 */
export async function startChromium(more: Record<string, string> = {}): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === null) throw new Error(NO_BROWSER)
  const env = { ...process.env, FONTCONFIG_FILE: writeFontSettings(unpacked()), ...more }
  return chromium.launch({ executablePath, args: FLAGS, env })
}

/**
 * Names the package's fonts to the browser. Its own settings name a folder of the temporary
 * directory; without any font, Chromium ends at its first page.
 */
function writeFontSettings(folder: string): string {
  const place = temporaryFolder()
  const path = join(place, 'fonts.conf')
  writeFileSync(
    path,
    `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(place, 'cache')}</cachedir>
</fontconfig>
`,
  )
  return path
}

/**
 * Unpacks the package once for each version. The package itself would do so into a place that all
 * users of the machine share, and take another's half of a file for the whole; here it appears when
 * whole.
 */
function unpacked(): string {
  const { version } = JSON.parse(readFileSync(join(MODULES, PACKAGE, 'package.json'), 'utf8'))
  const folder = join(MODULES, '.cache', `chromium-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(dirname(folder), { recursive: true })
  const part = mkdtempSync(`${folder}-`)
  const script = `import('${PACKAGE}').then((chromium) => chromium.default.executablePath())`
  // It writes to where temporary files go.
  const env = { ...process.env, TMPDIR: part }
  execFileSync(process.execPath, ['-e', script], { cwd: import.meta.dirname, env })
  for (const name of ['.', 'chromium']) chmodSync(join(part, name), 0o755)
  try {
    renameSync(part, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(part, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}
