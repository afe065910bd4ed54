import type { Command } from '../command.ts'
import { balanceCommands } from './balance.ts'
import { chargeCommands } from './charges.ts'
import { customerCommands } from './customers.ts'
import { eventCommands } from './events.ts'
import { linkCommands } from './links.ts'
import { listen } from './listen.ts'
import { logCommands } from './logs.ts'
import { productCommands } from './products.ts'
import { profileCommands } from './profile.ts'
import { rawCommands } from './raw.ts'
import { subscriptionCommands } from './subscriptions.ts'
import { triggerCommand } from './trigger.ts'
import { unmatchedCommands } from './unmatched.ts'
import { versionCommands } from './versions.ts'
import { webhookCommands } from './webhooks.ts'

/** The commands of a client: they ask a server and open no database. */
export const CLIENT_COMMANDS: Command[] = [
  ...profileCommands,
  ...chargeCommands,
  ...linkCommands,
  ...subscriptionCommands,
  ...customerCommands,
  ...productCommands,
  ...unmatchedCommands,
  ...balanceCommands,
  ...eventCommands,
  ...webhookCommands,
  ...logCommands,
  triggerCommand,
  ...versionCommands,
  listen,
  ...rawCommands,
]
