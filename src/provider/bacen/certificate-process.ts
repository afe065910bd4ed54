import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { Worker } from 'node:worker_threads'
import { cpuUsage } from '../../lib/older-node.ts'
import { CertificateFault, readCertificate } from './certificate.ts'
import { MAX_MS, type WeighedCertificate } from './weigh-certificate.ts'

// Reads the certificate that it is given, and says what that costs. See `weigh-certificate.ts`.
// If the server is killed, nobody kills this process, and a certificate can keep its thread for
// long. So another thread ends it.
const limit = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${MAX_MS})`
const watch = new Worker(limit, { eval: true })
// If Node counts only the whole process, the start of that thread must not count.
await once(watch, 'online')
watch.unref()

const certificate = JSON.parse(await text(process.stdin))

function weigh(): WeighedCertificate {
  try {
    // What is loaded with the first one belongs to no certificate.
    readCertificate(certificate)
    const before = cpuUsage()
    const { endsAt, ...facts } = readCertificate(certificate)
    const { user, system } = cpuUsage(before)
    return { ...facts, endsAt_ms: endsAt.getTime(), cost_ms: (user + system) / 1000 }
  } catch (error) {
    if (error instanceof CertificateFault) return { fault: error.rule }
    throw error
  }
}

process.stdout.write(JSON.stringify(weigh()))
