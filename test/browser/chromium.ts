import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const MODULES = join(import.meta.dirname, '..', '..', 'node_modules')
const PACKAGE = '@sparticuz/chromium'
const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  '--font-render-hinting=none',
]

/**
 * Starts the Chromium that the package brings, or the one that CHROME_PATH names. It needs nothing
 * else installed, not even a font, and no user of its own: what it is shown is ours.
 */
export async function launchChromium(): Promise<Browser> {
  const { CHROME_PATH } = process.env
  if (CHROME_PATH) return chromium.launch({ executablePath: CHROME_PATH, args: FLAGS })
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('The Chromium of the tests is for Linux on x64. Name another by CHROME_PATH.')
  }
  const folder = unpacked()
  const env = { ...process.env, FONTCONFIG_PATH: join(folder, 'fonts') }
  return chromium.launch({ executablePath: join(folder, 'chromium'), args: FLAGS, env })
}

/**
 * Unpacks it once for each version. The package itself would do so into a place that all users of
 * the machine share, and take another's half of a file for the whole; here it appears when whole.
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
