import { tableOf } from '../../db/columns.ts'
import type { Row, Tx } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Person, Role, Session } from './rules.ts'

const PERSON = tableOf<Person>({
  id: ['id', 'uuid'],
  email: ['email', 'text'],
  name: ['name', 'text'],
  password: ['password', 'text'],
  language: ['language', 'text'],
  isOperator: ['is_operator', 'bool'],
  totpSecret: ['totp_secret', 'bytea'],
  totpConfirmedAt: ['totp_confirmed_at', 'timestamptz'],
  totpLastPeriod: ['totp_last_period', 'int8'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
})

const SESSION = tableOf<Session>({
  id: ['id', 'uuid'],
  personId: ['person_id', 'uuid'],
  tokenHash: ['token_hash', 'bytea'],
  createdAt: ['created_at', 'timestamptz'],
  lastSeenAt: ['last_seen_at', 'timestamptz'],
  confirmedAt: ['confirmed_at', 'timestamptz'],
  hasSecondFactor: ['has_second_factor', 'bool'],
  address: ['address', 'text'],
  device: ['device', 'text'],
})

export async function insertPerson(tx: Tx, person: Person): Promise<void> {
  await tx.query({ text: PERSON.insertInto('people'), values: PERSON.values([person]) })
}

/** Adds a person to a company, or changes their role there. */
export async function setMembership(
  tx: Tx,
  companyId: Uuid,
  personId: Uuid,
  role: Role,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `insert into memberships (company_id, person_id, role, created_at)
           values ($1, $2, $3, $4)
           on conflict (company_id, person_id) do update set role = excluded.role`,
    values: [companyId, personId, role, now],
  })
}

/** The companies of a person, with their role in each, in the order of their names. */
export async function listMemberships(
  tx: Tx,
  personId: Uuid,
): Promise<{ companyId: Uuid; name: string; role: Role }[]> {
  const rows = await tx.query<Row & { company_id: Uuid; name: string; role: Role }>({
    name: 'memberships_of_person',
    text: `select m.company_id, c.name, m.role from memberships m
           join companies c on c.id = m.company_id
           where m.person_id = $1 order by c.name, c.id`,
    values: [personId],
  })
  return rows.map(({ company_id, name, role }) => ({ companyId: company_id, name, role }))
}

export async function findRole(tx: Tx, companyId: Uuid, personId: Uuid): Promise<Role | null> {
  const rows = await tx.query<Row & { role: Role }>({
    name: 'find_role',
    text: 'select role from memberships where company_id = $1 and person_id = $2',
    values: [companyId, personId],
  })
  return rows[0]?.role ?? null
}

export async function insertSession(tx: Tx, session: Session): Promise<void> {
  await tx.query({ text: SESSION.insertInto('sessions'), values: SESSION.values([session]) })
}

/** The session of a token, and whose it is. It may have ended by its age. */
export async function findSession(
  tx: Tx,
  tokenHash: Buffer,
): Promise<{ session: Session; person: Person } | null> {
  const [row] = await tx.query({
    name: 'find_session',
    text: `select ${SESSION.select('s')} from sessions s where s.token_hash = $1`,
    values: [tokenHash],
  })
  if (!row) return null
  const session = SESSION.read(row)
  const person = await findPerson(tx, session.personId)
  return person && { session, person }
}

export async function findPerson(tx: Tx, id: Uuid): Promise<Person | null> {
  const rows = await tx.query({
    name: 'find_person',
    text: `select ${PERSON.select('p')} from people p where id = $1`,
    values: [id],
  })
  return rows[0] ? PERSON.read(rows[0]) : null
}

export async function touchSession(tx: Tx, id: Uuid, now: Date): Promise<void> {
  await tx.query({
    name: 'touch_session',
    text: 'update sessions set last_seen_at = greatest(last_seen_at, $2) where id = $1',
    values: [id, now],
  })
}

export async function deleteSession(tx: Tx, id: Uuid): Promise<void> {
  await tx.query({ text: 'delete from sessions where id = $1', values: [id] })
}

export async function setLanguage(tx: Tx, id: Uuid, language: string, now: Date): Promise<void> {
  await tx.query({
    text: 'update people set language = $2, updated_at = $3 where id = $1',
    values: [id, language, now],
  })
}
