import { text } from 'node:stream/consumers'
import { CertificateFault, readCertificate } from './certificate.ts'
import type { WeighedCertificate } from './weigh-certificate.ts'

// Reads the certificate that it is given, and says what that costs. See `weigh-certificate.ts`.
const certificate = JSON.parse(await text(process.stdin))

function weigh(): WeighedCertificate {
  try {
    // What is loaded with the first one belongs to no certificate.
    readCertificate(certificate)
    const before = process.cpuUsage()
    const { endsAt, ...facts } = readCertificate(certificate)
    const { user, system } = process.cpuUsage(before)
    return { ...facts, endsAt_ms: endsAt.getTime(), cost_ms: (user + system) / 1000 }
  } catch (error) {
    if (error instanceof CertificateFault) return { fault: error.rule }
    throw error
  }
}

process.stdout.write(JSON.stringify(weigh()))
