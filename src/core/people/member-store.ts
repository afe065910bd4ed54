import type { ControlTx, Row } from '../../db/database.ts'
import type { Uuid } from '../../lib/ids.ts'
import type { Role } from './rules.ts'

/** A person who belongs to a company. */
export type MemberOfCompany = {
  personId: Uuid
  email: string
  name: string
  role: Role
  /** Null: no session of theirs is left. */
  lastSeenAt: Date | null
}

type MemberRow = Row & {
  person_id: Uuid
  email: string
  name: string
  role: Role
  last_seen_at: Date | null
}

const MEMBER = `m.person_id, p.email, p.name, m.role,
  (select max(s.last_seen_at) from sessions s where s.person_id = p.id) as last_seen_at`

const memberOf = ({ person_id, last_seen_at, email, name, role }: MemberRow): MemberOfCompany => ({
  personId: person_id,
  email,
  name,
  role,
  lastSeenAt: last_seen_at,
})

/** The people of a company, in the order of their names. */
export async function listMembers(tx: ControlTx, companyId: Uuid): Promise<MemberOfCompany[]> {
  const rows = await tx.query<MemberRow>({
    text: `select ${MEMBER} from memberships m join people p on p.id = m.person_id
           where m.company_id = $1 order by p.name, p.email`,
    values: [companyId],
  })
  return rows.map(memberOf)
}

export async function findMember(
  tx: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<MemberOfCompany | null> {
  const [row] = await tx.query<MemberRow>({
    text: `select ${MEMBER} from memberships m join people p on p.id = m.person_id
           where m.company_id = $1 and m.person_id = $2`,
    values: [companyId, personId],
  })
  return row ? memberOf(row) : null
}

export async function countMembers(tx: ControlTx, companyId: Uuid): Promise<number> {
  const [row] = await tx.query<Row & { count: number }>({
    text: 'select count(*)::int as count from memberships where company_id = $1',
    values: [companyId],
  })
  return row!.count
}

/** Locks the owners of a company, so that two of them cannot leave at the same time. */
export async function lockOwners(tx: ControlTx, companyId: Uuid): Promise<Uuid[]> {
  const rows = await tx.query<Row & { person_id: Uuid }>({
    text: `select person_id from memberships where company_id = $1 and role = 'owner'
           order by person_id for update`,
    values: [companyId],
  })
  return rows.map(({ person_id }) => person_id)
}

/** The role of a person, which nobody changes until the transaction ends. Null: they have none. */
export async function lockRole(
  tx: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<Role | null> {
  const rows = await tx.query<Row & { role: Role }>({
    text: 'select role from memberships where company_id = $1 and person_id = $2 for share',
    values: [companyId, personId],
  })
  return rows[0]?.role ?? null
}

/** Whether a person operates the installation, which nobody changes until the transaction ends. */
export async function lockOperator(tx: ControlTx, personId: Uuid): Promise<boolean> {
  const rows = await tx.query<Row & { is_operator: boolean }>({
    text: 'select is_operator from people where id = $1 for share',
    values: [personId],
  })
  return rows[0]?.is_operator ?? false
}

export async function deleteMembership(
  tx: ControlTx,
  companyId: Uuid,
  personId: Uuid,
): Promise<void> {
  await tx.query({
    text: 'delete from memberships where company_id = $1 and person_id = $2',
    values: [companyId, personId],
  })
}

/** Lets the people of one company, and those who are invited, belong to another one instead. */
export async function moveMembers(tx: ControlTx, from: Uuid, to: Uuid): Promise<void> {
  await tx.query({
    text: `with moved as (delete from memberships where company_id = $1 returning *)
           insert into memberships (company_id, person_id, role, created_at)
           select $2, person_id, role, created_at from moved
           on conflict (company_id, person_id) do nothing`,
    values: [from, to],
  })
  await tx.query({
    text: 'update person_links set company_id = $2 where company_id = $1',
    values: [from, to],
  })
}

/** Everybody who can sign in, with what they belong to. */
export type ListedPerson = {
  id: Uuid
  email: string
  name: string
  isOperator: boolean
  lastSeenAt: Date | null
  memberships: { companyId: Uuid; role: Role }[]
}

type PersonRow = Row & {
  id: Uuid
  email: string
  name: string
  is_operator: boolean
  last_seen_at: Date | null
  memberships: ListedPerson['memberships']
}

/** All people, or those of a company, in the order of their e-mails. */
export async function listPeople(tx: ControlTx, companyId: Uuid | null): Promise<ListedPerson[]> {
  const rows = await tx.query<PersonRow>({
    text: `select p.id, p.email, p.name, p.is_operator,
             (select max(s.last_seen_at) from sessions s where s.person_id = p.id) as last_seen_at,
             coalesce((select json_agg(json_build_object('companyId', m.company_id, 'role', m.role)
               order by m.created_at, m.company_id)
               from memberships m where m.person_id = p.id), '[]') as memberships
           from people p
           where $1::uuid is null or exists (
             select from memberships m where m.company_id = $1 and m.person_id = p.id)
           order by p.email`,
    values: [companyId],
  })
  return rows.map(({ id, email, name, is_operator, last_seen_at, memberships }) => ({
    id,
    email,
    name,
    isOperator: is_operator,
    lastSeenAt: last_seen_at,
    memberships,
  }))
}
