import type { Attack } from './attack.ts'
import { NEIGHBOURS } from './neighbours.ts'
import { STRANGERS } from './strangers.ts'

/** All attacks, by the name that the command and the other process know them by. */
export const ATTACKS: Record<string, Attack> = { ...NEIGHBOURS, ...STRANGERS }
