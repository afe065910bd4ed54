import { bytes } from '../../db/arrays.ts'
import { tableOf } from '../../db/columns.ts'
import type { ControlTx, Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import { inEachPlace } from './each-place.ts'
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
  factorCountsAt: ['factor_counts_at', 'timestamptz'],
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
  byLink: ['by_link', 'bool'],
  address: ['address', 'text'],
  device: ['device', 'text'],
})

export async function insertPerson(tx: ControlTx, person: Person): Promise<void> {
  await tx.query({ text: PERSON.insertInto('people'), values: PERSON.values([person]) })
}

/** Adds a person to a company, or changes their role there. */
export async function setMembership(
  tx: ControlTx,
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

/** The name is null if the place of the company does not answer. */
export type Membership = { companyId: Uuid; name: string | null; role: Role }

/** The companies of a person, with their role in each, in the order of their names. */
export async function listMemberships(tx: ControlTx, personId: Uuid): Promise<Membership[]> {
  const rows = await tx.query<Row & { company_id: Uuid; name: string | null; role: Role }>({
    name: 'memberships_of_person',
    text: `select m.company_id, c.name, m.role from memberships m
           left join companies c on c.id = m.company_id
           where m.person_id = $1 order by c.name, m.company_id`,
    values: [personId],
  })
  const elsewhere = rows.filter(({ name }) => name === null).map(({ company_id }) => company_id)
  const names = elsewhere.length > 0 ? await namesOf(tx, elsewhere) : null
  const named = rows.flatMap(({ company_id: companyId, name, role }) => {
    const found = name ?? names?.get(companyId)
    return found === undefined ? [] : [{ companyId, name: found, role }]
  })
  return names ? named.sort(byName) : named
}

function byName({ name: one }: Membership, { name: other }: Membership): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return one.localeCompare(other, 'pt-BR')
}

/** The names of companies, which may be in several places. Null: their place does not answer. */
async function namesOf(tx: ControlTx, companyIds: Uuid[]): Promise<Map<Uuid, string | null>> {
  const names = new Map<Uuid, string | null>()
  const missed = await inEachPlace(tx, companyIds, async (place, ids) => {
    const rows = await place.query<Row & { id: Uuid; name: string }>({
      name: 'names_of_companies',
      text: 'select id, name from companies where id = any ($1::uuid[])',
      values: [ids],
    })
    for (const { id, name } of rows) names.set(id, name)
  })
  for (const { companyId } of missed) names.set(companyId, null)
  return names
}

export async function findRole(
  tx: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<Role | null> {
  const rows = await tx.query<Row & { role: Role }>({
    name: 'find_role',
    text: 'select role from memberships where company_id = $1 and person_id = $2',
    values: [companyId, personId],
  })
  return rows[0]?.role ?? null
}

/** Somebody as a member of a company, and since when they are one. */
export async function findMember(
  tx: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<{ id: Uuid; role: Role; since: Date } | null> {
  const [row] = await tx.query<{ id: Uuid; role: Role; since: Date }>({
    text: `select person_id as id, role, created_at as since from memberships
           where company_id = $1 and person_id = $2`,
    values: [companyId, personId],
  })
  return row ?? null
}

export async function insertSession(tx: ControlTx, session: Session): Promise<void> {
  await tx.query({ text: SESSION.insertInto('sessions'), values: SESSION.values([session]) })
}

/** The session of a token, and whose it is. It may have ended by its age. */
export async function findSession(
  tx: ControlTx,
  tokenHashes: Buffer[],
): Promise<{ session: Session; person: Person } | null> {
  const [row] = await tx.query({
    name: 'find_session',
    text: `select ${SESSION.select('s')} from sessions s where s.token_hash = any ($1::bytea[])`,
    values: [bytes(tokenHashes)],
  })
  if (!row) return null
  const session = SESSION.read(row)
  const person = await findPerson(tx, session.personId)
  return person && { session, person }
}

export async function findPerson(tx: ControlTx, id: Uuid): Promise<Person | null> {
  const rows = await tx.query({
    name: 'find_person',
    text: `select ${PERSON.select('p')} from people p where id = $1`,
    values: [id],
  })
  return rows[0] ? PERSON.read(rows[0]) : null
}

/** The e-mails of people, by their ids. Those who are gone are left out. */
export async function emailsOf(tx: ControlTx, ids: Uuid[]): Promise<Map<Uuid, string>> {
  const rows = await tx.query<{ id: Uuid; email: string }>({
    text: 'select id, email from people where id = any($1::uuid[])',
    values: [ids],
  })
  return new Map(rows.map(({ id, email }) => [id, email]))
}

/** The e-mail is in lower case. */
export async function findPersonByEmail(tx: ControlTx, email: string): Promise<Person | null> {
  const rows = await tx.query({
    name: 'find_person_by_email',
    text: `select ${PERSON.select('p')} from people p where email = $1`,
    values: [email],
  })
  return rows[0] ? PERSON.read(rows[0]) : null
}

/** Counts a password as wrong before it is checked. Gives how many there were in a row. */
export async function countPassword(tx: ControlTx, email: string): Promise<number> {
  const [row] = await tx.query<Row & { wrong_passwords: number }>({
    name: 'count_password',
    text: `update people set wrong_passwords = wrong_passwords + 1 where email = $1
           returning wrong_passwords`,
    values: [email],
  })
  return row?.wrong_passwords ?? 0
}

/** Begins to count again after a right password. */
export async function noteRightPassword(tx: ControlTx, email: string): Promise<void> {
  await tx.query({
    name: 'note_right_password',
    text: 'update people set wrong_passwords = 0 where email = $1',
    values: [email],
  })
}

/** Stores the hash of a new password. The next wrong one is the first again. */
export async function setPassword(
  tx: ControlTx,
  id: Uuid,
  password: string,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update people set password = $2, wrong_passwords = 0, updated_at = $3 where id = $1`,
    values: [id, password, now],
  })
}

export async function setName(tx: ControlTx, id: Uuid, name: string, now: Date): Promise<void> {
  await tx.query({
    text: 'update people set name = $2, updated_at = $3 where id = $1',
    values: [id, name, now],
  })
}

export async function setOperator(
  tx: ControlTx,
  id: Uuid,
  isOperator: boolean,
  now: Date,
): Promise<void> {
  await tx.query({
    text: `update people set is_operator = $2, updated_at = $3
           where id = $1 and is_operator <> $2`,
    values: [id, isOperator, now],
  })
}

export async function touchSession(tx: ControlTx, id: Uuid, now: Date): Promise<void> {
  await tx.query({
    name: 'touch_session',
    text: 'update sessions set last_seen_at = greatest(last_seen_at, $2) where id = $1',
    values: [id, now],
  })
}

/** The sessions of a person, the last seen first. */
export async function listSessions(tx: ControlTx, personId: Uuid): Promise<Session[]> {
  const rows = await tx.query({
    text: `select ${SESSION.select('s')} from sessions s where person_id = $1
           order by last_seen_at desc, id`,
    values: [personId],
  })
  return rows.map(SESSION.read)
}

/** Ends a session of a person. */
export async function deleteSessionOf(tx: ControlTx, personId: Uuid, id: Uuid): Promise<void> {
  await tx.query({
    text: 'delete from sessions where person_id = $1 and id = $2',
    values: [personId, id],
  })
}

export async function deleteSessionByToken(tx: ControlTx, tokenHashes: Buffer[]): Promise<void> {
  await tx.query({
    text: 'delete from sessions where token_hash = any ($1::bytea[])',
    values: [bytes(tokenHashes)],
  })
}

/** Ends all sessions of a person, or all but one. */
export async function deleteSessions(
  tx: ControlTx,
  personId: Uuid,
  except: Uuid | null = null,
): Promise<void> {
  await tx.query({
    text: 'delete from sessions where person_id = $1 and id is distinct from $2',
    values: [personId, except],
  })
}

/** Ends the sessions of a person that were seen longest ago, so that `max` are left. */
export async function keepNewestSessions(
  tx: ControlTx,
  personId: Uuid,
  max: number,
): Promise<void> {
  await tx.query({
    name: 'keep_newest_sessions',
    text: `delete from sessions where id in (
             select id from sessions where person_id = $1
             order by last_seen_at desc, id desc offset $2)`,
    values: [personId, max],
  })
}

/** Deletes sessions that have ended by their age. */
export async function purgeSessions(
  tx: ControlTx,
  idleSince: Date,
  createdBefore: Date,
): Promise<void> {
  await tx.query({
    text: 'delete from sessions where last_seen_at <= $1 or created_at <= $2',
    values: [idleSince, createdBefore],
  })
}

export async function deleteSession(tx: ControlTx, id: Uuid): Promise<void> {
  await tx.query({ text: 'delete from sessions where id = $1', values: [id] })
}

export async function setLanguage(
  tx: ControlTx,
  id: Uuid,
  language: string,
  now: Date,
): Promise<void> {
  await tx.query({
    text: 'update people set language = $2, updated_at = $3 where id = $1',
    values: [id, language, now],
  })
}
