import type { BrowserContext } from 'playwright-core'
import type { Company } from '../../src/core/companies/rules.ts'
import type { Person, Role, Session } from '../../src/core/people/rules.ts'
import { formTokenOf, startSession } from '../../src/core/people/sessions.ts'
import { insertPerson, setMembership } from '../../src/core/people/store.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import type { TestApi } from './api.ts'

export type Answer = { status: number; headers: Headers; text: string; location: string | null }

/** Somebody who is signed in. Paths are those of the company, unless they begin with "//". */
export type Member = {
  person: Person
  session: Session
  cookie: string
  /** The path of the company's pages. */
  home: string
  get(path: string, headers?: Record<string, string>): Promise<Answer>
  /** Sends a form with what every form of the session has. */
  post(
    path: string,
    form?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Answer>
}

export type MemberOptions = {
  role?: Role | null
  language?: 'pt' | 'en'
  /** Whether they have just proved who they are. True unless it is said otherwise. */
  isConfirmed?: boolean
  hasSecondFactor?: boolean
  /** Whether they came by a link from us. */
  byLink?: boolean
  isOperator?: boolean
  name?: string
  /** Since when they are a member; without it, since now. */
  since?: Date
}

let count = 0

/** A person with a role in a company, or with none, and their session. */
export async function signIn(
  api: TestApi,
  company: Pick<Company, 'id'>,
  options: MemberOptions = {},
): Promise<Member> {
  const { role = 'owner', language = 'pt', isConfirmed = true, hasSecondFactor = false } = options
  const { db, vault, clock } = api.app
  const now = clock.now()
  const person: Person = {
    id: newId(),
    email: `person-${++count}-${newId()}@example.com`,
    name: options.name ?? 'Ana Souza',
    password: null,
    language,
    isOperator: options.isOperator ?? false,
    totpSecret: null,
    totpConfirmedAt: null,
    totpLastPeriod: null,
    factorCountsAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await insertPerson(db.control, person)
  if (role) await setMembership(db.control, company.id, person.id, role, options.since ?? now)
  const origin = { address: '127.0.0.1', device: 'test' }
  const proof = { isConfirmed, hasSecondFactor, byLink: options.byLink ?? false }
  const { session, token } = await startSession(db.control, vault, person.id, origin, proof, now)
  return memberOf(api, company, person, session, token)
}

export function memberOf(
  api: TestApi,
  { id }: Pick<Company, 'id'>,
  person: Person,
  session: Session,
  token: string,
): Member {
  const cookie = `vintem=${token}`
  const home = `/dashboard/${suffixOf(id)}`
  const urlOf = (path: string) =>
    api.url + (path.startsWith('//') ? path.slice(1) : `${home}${path}`)
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const headers = { cookie, accept: 'text/html', ...(init.headers as object) }
    const reply = await fetch(urlOf(path), { ...init, headers, redirect: 'manual' })
    const text = await reply.text()
    return { status: reply.status, headers: reply.headers, text, location: locationOf(reply) }
  }
  return {
    person,
    session,
    cookie,
    home,
    get: (path, headers = {}) => ask(path, { headers }),
    post(path, form = {}, headers = {}) {
      const body = new URLSearchParams({
        token: formTokenOf(api.app.vault, session),
        once: suffixOf(newId()),
        ...form,
      })
      return ask(path, { method: 'POST', body, headers })
    },
  }
}

const locationOf = ({ headers }: Response): string | null => headers.get('location')

/** Lets a browser be signed in as somebody. */
export async function useSessionIn(
  context: BrowserContext,
  { url }: TestApi,
  { cookie }: Member,
): Promise<void> {
  const [name, value] = cookie.split('=') as [string, string]
  await context.addCookies([{ name, value, url }])
}
