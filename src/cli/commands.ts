import { CLIENT_COMMANDS } from './client/commands.ts'
import type { Command, Section } from './command.ts'
import { completionOf } from './completion.ts'
import { startService } from './start.ts'

const OF_CLIENT = [...CLIENT_COMMANDS, completionOf(loadSections)]

/** The commands that are found before those that take long to load. */
export const QUICK_COMMANDS: Command[] = [startService, ...OF_CLIENT]

/** All commands. Those of the operator take long to load, so they are loaded only where needed. */
export async function loadSections(): Promise<Section[]> {
  const { OPERATOR_COMMANDS } = await import('./operator-commands.ts')
  return [
    { heading: 'The service:', commands: [startService] },
    { heading: 'Commands of a client, which ask a server:', commands: OF_CLIENT },
    { heading: 'Commands of the operator, which open the database:', commands: OPERATOR_COMMANDS },
  ]
}
