import type { ControlTx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Scope } from '../companies/rules.ts'
import { isAllowed, type Person, ROLES } from './rules.ts'

export type Colleague = Pick<Person, 'id' | 'name' | 'email' | 'language'>

/** Since when they are a member of the company. */
type Member = Colleague & { since: Date }

/** Who operates the installation, by their names, at most `max`. */
export const listOperators = (tx: ControlTx, max: number): Promise<Colleague[]> =>
  tx.query<Colleague>({
    text: `select id, name, email, language from people where is_operator
           order by name, id limit $1`,
    values: [max],
  })

/** The people of a company who may do something there, by their names, at most `max`. */
export const listAllowed = (
  tx: ControlTx,
  companyId: Uuid,
  scope: Scope,
  max: number,
): Promise<Member[]> =>
  tx.query<Member>({
    text: `select p.id, p.name, p.email, p.language, m.created_at as since from memberships m
           join people p on p.id = m.person_id
           where m.company_id = $1 and m.role = any ($2::text[])
           order by p.name, p.id limit $3`,
    values: [companyId, ROLES.filter((role) => isAllowed(role, scope)), max],
  })
