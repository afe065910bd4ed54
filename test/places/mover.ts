import { moveCompany } from '../../src/core/moves/move.ts'

/** Moves a company, and sends itself a signal at a step. */
const [companyId, from, to, lastStep, signal, ...urls] = process.argv.slice(2) as string[]
await moveCompany({
  companyId: companyId!,
  urls,
  from: Number(from),
  to: Number(to),
  workers_ms: 0,
  grace_ms: 0,
  onStep(step) {
    if (step === lastStep) process.kill(process.pid, signal)
  },
})
