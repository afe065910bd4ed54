import type { ControlTx } from '../../db/database.ts'
import { newId, type Uuid } from '../../lib/ids.ts'
import { recordForInstallation } from '../activity/record.ts'
import { SERVICE } from '../activity/rules.ts'
import type { Person } from './rules.ts'
import * as store from './store.ts'

/** Who signs in to the sandbox of local mode: an owner of its company, and an operator. */
export const SANDBOX_PERSON = { email: 'ana@example.com', name: 'Ana Souza' } as const

/** Lets the person of the sandbox be an owner of its company. */
export async function addSandboxPerson(tx: ControlTx, companyId: Uuid, now: Date): Promise<void> {
  const known = await store.findPersonByEmail(tx, SANDBOX_PERSON.email)
  const person: Person = known ?? {
    ...SANDBOX_PERSON,
    id: newId(),
    password: null,
    language: 'pt',
    isOperator: true,
    totpSecret: null,
    totpConfirmedAt: null,
    totpLastPeriod: null,
    factorCountsAt: null,
    createdAt: now,
    updatedAt: now,
  }
  if (!known) {
    await store.insertPerson(tx, person)
    const record = { type: 'person', id: person.id } as const
    await recordForInstallation(tx, SERVICE, { action: 'operator.join', record })
  }
  if (!(await store.findRole(tx, companyId, person.id))) {
    await store.setMembership(tx, companyId, person.id, 'owner', now)
  }
}
