import { systemClock } from '../src/lib/clock.ts'
import { startBank } from '../test/bank/bank.ts'

/** The stand-in bank of the tests, alone in its process. It sends how to connect to it. */
const bank = await startBank({ clock: systemClock })
process.send!(bank.connection())
process.on('SIGTERM', () => process.exit(0))
