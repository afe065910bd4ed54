import type { Config } from './config.ts'
import { isLoopback, isUnspecified } from './lib/addresses.ts'

/** Why a server must not start with this configuration: each a sentence that says what to do. */
export const findUnsafe = (config: Config): string[] =>
  config.local ? findExposed(config) : findUnfit(config)

/** Local mode shows its key and all mails to anybody, so only this machine may reach it. */
function findExposed({ host, publicUrl, allowed }: Config): string[] {
  if (allowed.includes('exposed-local-mode')) return []
  const { hostname } = new URL(publicUrl)
  const found: string[] = []
  const shows =
    'Without DATABASE_URL this is local mode, which shows its API key and all mails to anybody'
  const otherwise =
    'set DATABASE_URL for a real installation, or ALLOW=exposed-local-mode if nobody else can reach it, as in a container'
  if (!isLoopback(host) || isUnspecified(host)) {
    found.push(
      `HOST ${host} lets other machines connect. ${shows}: use HOST=127.0.0.1, ${otherwise}.`,
    )
  }
  if (!isLoopback(hostname)) {
    found.push(
      `PUBLIC_URL ${publicUrl} is not an address of this machine alone. ${shows}: leave it out, ${otherwise}.`,
    )
  }
  return found
}

/** An installation with real money needs a strong secret, mails and TLS. */
function findUnfit(config: Config): string[] {
  const { secretKey, secretKeyNext: next, publicUrl, isPublicUrlDefault, smtpUrl, allowed } = config
  const { protocol, hostname } = new URL(publicUrl)
  const found: string[] = []
  for (const [name, secret] of Object.entries({ SECRET_KEY: secretKey, SECRET_KEY_NEXT: next })) {
    const weakness = secret && secretWeakness(secret)
    if (!weakness) continue
    found.push(`${name} ${weakness}. Make one that nobody can guess: openssl rand -base64 32.`)
  }
  if (!smtpUrl && !allowed.includes('mail-files')) {
    found.push(
      'SMTP_URL is missing: one-time codes would be written to plain files, and nobody would get them. Name your mail server, or set ALLOW=mail-files.',
    )
  }
  if (allowed.includes('http')) return found
  if (isPublicUrlDefault) {
    found.push(
      `PUBLIC_URL is missing: links and mails would lead payers to ${publicUrl}, and banks would call back there. Set it to the https address under which payers reach this server, or set ALLOW=http to try it on this machine alone.`,
    )
  } else if (isLoopback(hostname)) {
    found.push(
      `PUBLIC_URL ${publicUrl} is the payer’s own machine for every payer: no link, mail or callback would reach this server. Use the https address under which payers reach it, or set ALLOW=http to try it on this machine alone.`,
    )
  } else if (protocol === 'http:') {
    found.push(
      `PUBLIC_URL ${publicUrl} has no TLS: payers' data and API keys would be readable on the way. Use its https address, or set ALLOW=http.`,
    )
  }
  return found
}

/** A random key of 32 bytes has about 30 different ones. Fewer than this happens to nobody. */
const LEAST_DIFFERENT = 16
/** Of sixteen digits, as some write a key before they write it in base64. */
const LEAST_DIGITS = 10

/** Why a secret can be guessed, as the rest of a sentence, or null. */
export function secretWeakness(secret: Buffer): string | null {
  const text = secret.toString('latin1')
  const isHex = /^[0-9a-f]{64,}\s*$/i.test(text)
  const least = isHex ? LEAST_DIGITS : LEAST_DIFFERENT
  const steps = secret.map((byte, i) => byte - secret[(i || secret.length) - 1]!)
  if (new Set(secret).size < least) return 'repeats few bytes'
  if (new Set(steps.subarray(1)).size < least) return 'repeats a pattern'
  if (/^[\t\n\r -~]+$/.test(text) && !isHex) return 'is readable text in base64'
  return null
}
