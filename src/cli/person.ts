import type { Config } from '../config.ts'
import { recordActivity } from '../core/activity/record.ts'
import { recordForPerson } from '../core/people/activity.ts'
import { changeRole, makeSignInLink, removeMember } from '../core/people/commands.ts'
import { invite as inviteByMail } from '../core/people/invitations.ts'
import { invitationIdOf, type PersonLink } from '../core/people/links.ts'
import { type ListedPerson, listPeople } from '../core/people/member-store.ts'
import { noteOperatorInvited, removeOperator } from '../core/people/operators.ts'
import { resetFactors } from '../core/people/reset-factors.ts'
import { type Person, ROLES, type Role } from '../core/people/rules.ts'
import { SANDBOX_PERSON } from '../core/people/sandbox.ts'
import { emailOf } from '../core/people/sign-in.ts'
import { findPersonByEmail } from '../core/people/store.ts'
import type { ControlTx, Tx } from '../db/database.ts'
import { systemClock } from '../lib/clock.ts'
import type { Uuid } from '../lib/ids.ts'
import { type Args, type Command, columns, Refusal, UsageFault } from './command.ts'
import { inOptions } from './faults.ts'
import { requireCompany, time } from './records.ts'
import { commandAuthor, withApp, withDatabase } from './session.ts'

const EMAIL = { value: 'EMAIL', required: true, help: 'the e-mail of the person' } as const
const COMPANY = { value: 'COMPANY_ID', required: true, help: 'the company' } as const
const ROLE = { value: 'ROLE', help: `what they may do: ${ROLES.join(', ')}` } as const

const isRole = (text: string): text is Role => ROLES.includes(text as Role)

function readRole(text: string): Role {
  if (isRole(text)) return text
  throw new UsageFault(`--role: one of ${ROLES.join(', ')}.`)
}

async function requirePerson(control: ControlTx, typed: string): Promise<Person> {
  const person = await findPersonByEmail(control, emailOf(typed))
  if (person) return person
  throw new Refusal(`Nobody has the e-mail ${typed}. "vintem person list" shows everybody.`)
}

const recordOf = ({ id }: Person) => ({ type: 'person', id }) as const

const link: Command = {
  name: 'person link',
  summary: 'Print an address at which a person signs in once, within 15 minutes.',
  example: 'vintem person link --email dona@example.com',
  operands: [],
  options: {
    email: { value: 'EMAIL', help: 'whose (default in local mode: the person of the sandbox)' },
  },
  async run({ options }) {
    const { email, url } = await withApp(async (app) => {
      const typed = options.email ?? defaultEmail(app.config)
      return app.db.control.transaction(async (tx) => {
        const person = await requirePerson(tx, typed)
        await recordForPerson(tx, app, person.id, commandAuthor(), 'sign-in-link.create')
        return {
          email: person.email,
          url: await makeSignInLink(tx, app, person, systemClock.now()),
        }
      })
    })
    return { json: { email, url }, text: `${url}\n` }
  },
}

function defaultEmail({ local }: Config): string {
  if (local) return SANDBOX_PERSON.email
  throw new UsageFault('Missing: --email.')
}

const invite: Command = {
  name: 'person invite',
  summary: 'Invite somebody by mail to a company, or to operate the whole installation.',
  example:
    'vintem person invite --email ana@example.com --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --role developer',
  operands: [],
  options: {
    email: EMAIL,
    company: { value: 'COMPANY_ID', help: 'the company; with --operator it can be left out' },
    role: ROLE,
    operator: { help: 'lets them see the whole installation' },
    language: { value: 'LANGUAGE', help: 'of the mail: pt or en (default that of the company)' },
    print: { help: 'print the address too; without SMTP_URL it is printed always' },
  },
  async run(args) {
    const { options, switches } = args
    requireWhole(args)
    const { email, url, isPrinted } = await withApp(async (app) => {
      const made = await app.db.transaction(async (tx, control) => {
        const company = options.company ? await requireCompany(tx, options.company) : null
        const invitation = {
          email: options.email!,
          company,
          role: options.role === undefined ? null : readRole(options.role),
          makesOperator: switches.has('operator'),
          language: languageOf(options.language) ?? company?.language ?? 'pt',
          by: null,
          invitedBy: null,
        }
        const now = systemClock.now()
        const made = await inOptions(() => inviteByMail(tx, control, app, invitation, now))
        if (company) await recordInvitation(tx, company.id, made.link)
        if (made.link.makesOperator) {
          await noteOperatorInvited(control, app, made.link, commandAuthor())
        }
        return made
      })
      const isPrinted = switches.has('print') || app.config.smtpUrl === null
      return { email: made.link.email, url: made.url, isPrinted }
    }, options.company)
    return {
      json: isPrinted ? { email, url } : { email },
      text: `${email} is invited by mail. The invitation works once, within 7 days.\n${isPrinted ? `\n  ${url}\n` : ''}`,
    }
  },
}

async function recordInvitation(tx: Tx, companyId: Uuid, link: PersonLink): Promise<void> {
  const { makesOperator } = link
  await recordActivity(tx, companyId, commandAuthor(), {
    action: 'member.invite',
    record: { type: 'invitation', id: invitationIdOf(link) },
    details: { role: link.role!, makesOperator },
  })
}

function requireWhole({ options, switches }: Args): void {
  const hasCompany = options.company !== undefined
  if (hasCompany !== (options.role !== undefined)) {
    throw new UsageFault('--company and --role belong together.')
  }
  if (!hasCompany && !switches.has('operator')) {
    throw new UsageFault('Missing: --company and --role, or --operator.')
  }
}

function languageOf(text: string | undefined): 'pt' | 'en' | null {
  if (text === undefined || text === 'pt' || text === 'en') return text ?? null
  throw new UsageFault('--language: pt or en.')
}

const list: Command = {
  name: 'person list',
  summary: 'List everybody who can sign in, or the people of a company.',
  example: 'vintem person list --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: { company: { value: 'COMPANY_ID', help: 'only its people' } },
  async run({ options }) {
    const people = await withDatabase(async ({ db }) => {
      const company = options.company ? await requireCompany(db, options.company) : null
      return listPeople(db.control, company?.id ?? null)
    }, options.company)
    return { json: people, text: peopleTable(people) }
  },
}

function peopleTable(people: ListedPerson[]): string {
  if (people.length === 0) return 'No people.\n'
  const rows = people.map(({ email, isOperator, lastSeenAt, memberships, name }) => [
    email,
    isOperator ? 'yes' : 'no',
    time(lastSeenAt),
    memberships.map(({ companyId, role }) => `${role}:${companyId}`).join(',') || '-',
    name,
  ])
  return columns([['EMAIL', 'OPERATOR', 'LAST SEEN', 'COMPANIES', 'NAME'], ...rows])
}

const role: Command = {
  name: 'person role',
  summary: 'Change what a person may do in a company. It ends their sessions.',
  example:
    'vintem person role --email ana@example.com --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80 --role finance',
  operands: [],
  options: { email: EMAIL, company: COMPANY, role: { ...ROLE, required: true } },
  async run({ options }) {
    const wanted = readRole(options.role!)
    const { email, companyId } = await withApp(
      (app) =>
        app.db.transaction(async (tx, control) => {
          const company = await requireCompany(tx, options.company!)
          const person = await requirePerson(control, options.email!)
          const now = app.systemClock.now()
          const changed = await inOptions(() =>
            changeRole(tx, control, app, company, person.id, wanted, null, now),
          )
          await recordActivity(tx, company.id, commandAuthor(), {
            action: 'member.change-role',
            record: recordOf(person),
            details: { role: wanted, ...changed },
          })
          return { email: person.email, companyId: company.id }
        }),
      options.company,
    )
    return { json: { email, companyId, role: wanted }, text: `${email} is ${wanted} now.\n` }
  },
}

const remove: Command = {
  name: 'person remove',
  summary: 'Remove a person from a company, or from the operators. It ends their sessions.',
  example:
    'vintem person remove --email ana@example.com --company 019a8c5e-2f60-7d31-9d5c-4b1d2e6f7a80',
  operands: [],
  options: {
    email: EMAIL,
    company: { value: 'COMPANY_ID', help: 'the company; with --operator it can be left out' },
    operator: { help: 'they no longer see the whole installation' },
  },
  async run(args) {
    const { options, switches } = args
    const isOperator = switches.has('operator')
    if (options.company === undefined && !isOperator)
      throw new UsageFault('Missing: --company, or --operator.')
    const { email, company } = await withApp(
      (app) =>
        app.db.transaction(async (tx, control) => {
          const company = options.company ? await requireCompany(tx, options.company) : null
          const person = await requirePerson(control, options.email!)
          if (company) await removeFrom(tx, control, company.id, person)
          if (isOperator && !(await removeOperator(control, app, person, commandAuthor())))
            throw new Refusal(`${person.email} is no operator.`)
          return { email: person.email, company }
        }),
      options.company,
    )
    const lost = [
      ...(company ? [`belongs to ${company.name}`] : []),
      ...(isOperator ? [OPERATES] : []),
    ]
    return {
      json: { email, ...(company && { companyId: company.id }), removed: true },
      text: `${email} no longer ${lost.join(' and ')}.\n`,
    }
  },
}

const OPERATES = 'operates the installation'

async function removeFrom(
  tx: Tx,
  control: ControlTx,
  companyId: Uuid,
  person: Person,
): Promise<void> {
  const { withdrawn } = await inOptions(() => removeMember(control, companyId, person.id))
  await recordActivity(tx, companyId, commandAuthor(), {
    action: 'member.remove',
    record: recordOf(person),
    ...(withdrawn && { details: { withdrawn } }),
  })
}

const reset: Command = {
  name: 'person reset-factors',
  summary: 'Remove the second factors of somebody who has lost theirs. It ends their sessions.',
  example: 'vintem person reset-factors --email ana@example.com',
  operands: [],
  options: { email: EMAIL },
  async run({ options }) {
    const email = await withApp((app) =>
      app.db.transaction(async (tx, control) => {
        const person = await requirePerson(control, options.email!)
        if (await resetFactors(tx, control, app, person, commandAuthor())) return person.email
        throw new Refusal(`${person.email} has no second factor: the password is enough.`)
      }),
    )
    return {
      json: { email, reset: true },
      text:
        `${email} has no second factor any more, is signed out everywhere, and gets a mail about it.\n` +
        'They sign in with the password, and set a factor again before real money can move.\n',
    }
  },
}

export const personCommands = [link, invite, list, role, remove, reset]
