import type { Command } from '../command.ts'
import { chargeCommands } from './charges.ts'
import { eventCommands } from './events.ts'
import { listen } from './listen.ts'
import { logCommands } from './logs.ts'
import { profileCommands } from './profile.ts'
import { triggerCommand } from './trigger.ts'
import { versionCommands } from './versions.ts'
import { webhookCommands } from './webhooks.ts'

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
