import type { Language } from '../../lib/language.ts'
import { ACCOUNT_PAGE } from './account-texts.ts'

/** The first that occurs names the browser, because many name others too. */
const BROWSERS: [part: RegExp, name: string][] = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const SYSTEMS: [part: RegExp, name: string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
]

const nameIn = (text: string, names: [RegExp, string][]): string | null =>
  names.find(([part]) => part.test(text))?.[1] ?? null

/** A browser and its system in words, from what it says about itself. */
export function deviceOf(userAgent: string, language: Language): string {
  const { unknown, on } = ACCOUNT_PAGE[language].device
  const [browser, system] = [nameIn(userAgent, BROWSERS), nameIn(userAgent, SYSTEMS)]
  return browser && system ? on(browser, system) : (browser ?? system ?? unknown)
}
