import { chargeCommands } from './client/charges.ts'
import { eventCommands } from './client/events.ts'
import { listen } from './client/listen.ts'
import { logCommands } from './client/logs.ts'
import { profileCommands } from './client/profile.ts'
import { triggerCommand } from './client/trigger.ts'
import { versionCommands } from './client/versions.ts'
import { webhookCommands } from './client/webhooks.ts'
import type { Command, Section } from './command.ts'
import { completionFor, SHELL_NAMES, type Shell } from './completion.ts'
import { startService } from './start.ts'

/** The commands of a client: they ask a server and open no database. */
export const CLIENT_COMMANDS: Command[] = [
  ...profileCommands,
  ...chargeCommands,
  ...eventCommands,
  ...webhookCommands,
  ...logCommands,
  triggerCommand,
  ...versionCommands,
  listen,
]

const completion: Command = {
  name: 'completion',
  summary: 'Print a script that completes commands, options and values in your shell.',
  example: 'vintem completion bash',
  operands: ['shell'],
  choices: { shell: SHELL_NAMES },
  options: {},
  async run({ operands }) {
    const commands = (await loadSections()).flatMap((section) => section.commands)
    const script = completionFor(operands[0] as Shell, commands)
    return { json: { script }, text: script }
  },
}

const OF_CLIENT = [...CLIENT_COMMANDS, completion]

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

export function findCommand(commands: Command[], words: string[]): Command | undefined {
  return commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
}
