import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { ownScript } from '../../lib/own-files.ts'
import type { CertificateFacts, CertificateRule } from './certificate.ts'
import type { Certificate } from './connection.ts'

/** What a process of its own says about a certificate. */
export type WeighedCertificate =
  | { fault: CertificateRule }
  | (Omit<CertificateFacts, 'endsAt'> & { endsAt_ms: number; cost_ms: number })

export type HeavyRule = 'too-slow' | 'key-kind'

const PROCESS = ownScript('#certificate-process')
/** To start a process takes most of it. */
export const MAX_MS = 5_000
/** The server reads the certificate once itself, and nobody may keep it for longer. */
const MAX_COST_MS = 50
/** With a longer key every connection to the bank would keep the server for long. */
const MAX_RSA_BITS = 4096

/**
 * Reads a certificate that a stranger may have made. Whoever makes a file decides how long it takes
 * to decrypt it, which cannot be interrupted, so it is tried in a process that can be killed.
 */
export async function weighCertificate(
  certificate: Certificate,
): Promise<{ endsAt: Date } | { fault: CertificateRule | HeavyRule }> {
  const child = spawn(process.execPath, [PROCESS], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {},
    timeout: MAX_MS,
    killSignal: 'SIGKILL',
  })
  // If it ends before it has read everything, its answer is missing, and that is enough to know.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(certificate))
  const [answer] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (answer === '') return { fault: 'too-slow' }
  const weighed: WeighedCertificate = JSON.parse(answer)
  if ('fault' in weighed) return weighed
  const { key, cost_ms, endsAt_ms } = weighed
  if (cost_ms > MAX_COST_MS) return { fault: 'too-slow' }
  const isUsual = key.type === 'ec' || (key.type === 'rsa' && (key.bits ?? 0) <= MAX_RSA_BITS)
  return isUsual ? { endsAt: new Date(endsAt_ms) } : { fault: 'key-kind' }
}
