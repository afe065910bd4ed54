import { backup } from './backup.ts'
import { bankCommands } from './bank.ts'
import type { Command } from './command.ts'
import { companyCommands } from './company.ts'
import { doctor } from './doctor.ts'
import { exportCommands } from './export.ts'
import { keyCommands } from './key.ts'
import { ledgerCommands } from './ledger.ts'
import { migrateDatabase } from './migrate.ts'
import { payerCommands } from './payer.ts'
import { personCommands } from './person.ts'
import { placeCommands } from './place.ts'
import { restartServer } from './restart.ts'
import { restore } from './restore.ts'
import { sandboxCommands } from './sandbox.ts'
import { secretCommands } from './secret.ts'
import { withdrawalCommands } from './withdrawal.ts'

/** The commands of whoever runs the installation. They open its database. */
export const OPERATOR_COMMANDS: Command[] = [
  ...companyCommands,
  ...keyCommands,
  ...personCommands,
  ...payerCommands,
  ...bankCommands,
  ...withdrawalCommands,
  ...exportCommands,
  ...ledgerCommands,
  ...sandboxCommands,
  ...placeCommands,
  ...secretCommands,
  backup,
  restore,
  migrateDatabase,
  restartServer,
  doctor,
]
