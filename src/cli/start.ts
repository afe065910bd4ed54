import type { Role } from '../main.ts'
import type { Command } from './command.ts'

const ROLES: readonly Role[] = ['api', 'worker', 'both']

export const startService: Command = {
  name: 'start',
  summary: 'Start the service. Without DATABASE_URL it sets up a database and a sandbox in .data.',
  example: 'vintem start',
  operands: [],
  options: {
    role: {
      value: 'role',
      choices: ROLES,
      help: 'answer requests (api), do the background work (worker), or both, which is the default',
    },
  },
  async run({ options }) {
    // It takes long to load, and no other command needs it.
    const { runService } = await import('../main.ts')
    runService(() => (options.role as Role | undefined) ?? 'both')
    // A signal ends the process.
    return new Promise(() => {})
  },
}
