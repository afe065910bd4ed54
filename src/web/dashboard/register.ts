import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { recordActivity } from '../../core/activity/record.ts'
import { forCompany, withCompanyClock } from '../../core/companies/clock.ts'
import type { Company } from '../../core/companies/rules.ts'
import { findCompany } from '../../core/companies/store.ts'
import { readWaiting, type Waiting } from '../../core/figures/waiting.ts'
import { listInvitationsTo } from '../../core/people/link-store.ts'
import { isAllowed, ROLES, type Role, SCOPES_OF } from '../../core/people/rules.ts'
import { mayMoveMoney } from '../../core/people/second-factors.ts'
import { findRole, listMemberships, type Membership } from '../../core/people/store.ts'
import { placeOf } from '../../core/places/front.ts'
import { idOfSuffix, suffixOf } from '../../lib/ids.ts'
import type { RateLimit } from '../../lib/limits.ts'
import { problem } from '../../lib/problems.ts'
import { factorNeeded } from '../account/security-pages.ts'
import { ACCOUNT } from '../account/texts.ts'
import { html } from '../html.ts'
import { icon } from '../layout.ts'
import type { Site } from '../site.ts'
import { problemText } from './problem-texts.ts'
import { ROUTES } from './routes.ts'
import { faultBody, homeOf, sendDashboardPage, sendOwnPage, showFault } from './shell.ts'
import {
  findSignedIn,
  hasConfirmed,
  peekSignedIn,
  requireToken,
  visitorOf,
  withForm,
} from './signed-in.ts'
import { DASHBOARD } from './texts.ts'
import { readUploads, TAKES_FILE } from './uploads.ts'
import type { DashboardRoute, SignedIn, Visit } from './visit.ts'

const SUSPENDED = { pt: 'Empresa suspensa', en: 'Company suspended' }
const ROOT = '/dashboard/:company'
/** Pages and forms of one company, whose people may have many open that update themselves. */
const OPENED = { perSecond: 20, burst: 200 }

/** Who was let in to a page, until the handler has the body. */
const entered = new WeakMap<FastifyRequest, Entered>()
type Member = { company: Company; role: Role; waiting: Waiting }
type Entered = { visitor: SignedIn; member: Member }

/** The pages of a company, for its people. */
export function registerDashboard(scope: FastifyInstance, site: Site): void {
  readUploads(scope, (request, token) => requireToken(entered.get(request)!.visitor, token))
  const { limits, config } = site.app
  const limit =
    config.rateLimit && limits.rate('pages of a company', OPENED.perSecond, OPENED.burst)
  scope.get('/dashboard', async (request, reply) => {
    const visitor = await findSignedIn(site, request, reply)
    return visitor ? showCompanies(visitor) : askToSignIn(request, reply)
  })
  for (const route of [...ROUTES, ...UNKNOWN]) {
    scope.route({
      method: route.method,
      url: `${ROOT}${route.path}`,
      exposeHeadRoute: false,
      ...(route.bodyBytes ? { bodyLimit: route.bodyBytes, config: TAKES_FILE } : {}),
      onRequest: (request, reply) => enter(site, limit, route, request, reply),
      handler: async (request) => {
        const { visitor, member } = entered.get(request)!
        // The company may have changed its place while the body arrived.
        const visit = await visitOf(withForm(visitor), member)
        try {
          return await route.handle(visit)
        } catch (error) {
          return showFault(visit, error)
        }
      },
    })
  }
}

/**
 * Lets in who may see or do what a page is for, before the body is read. To whoever does not belong
 * to the company its pages do not exist.
 */
async function enter(
  site: Site,
  limit: RateLimit | null,
  route: DashboardRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const found = await peekSignedIn(site, request)
  if (!found && UNKNOWN.includes(route)) throw problem('route_not_found')
  if (!found) return askToSignIn(request, reply)
  const visitor = visitorOf(site, request, reply, found)
  const member = await findMember(visitor)
  if (!member) return sendMissing(visitor)
  const { company } = member
  const wait_s = limit ? await limit.take(company.id) : 0
  if (wait_s > 0) {
    throw problem('rate_limited', undefined, { 'Retry-After': String(Math.ceil(wait_s)) })
  }
  const visit = await visitOf(visitor, await withWaiting(site, member))
  entered.set(request, { visitor, member: visit })
  if (!visit.can(route.needs)) return refuse(visit)
  const needsFactor = route.movesMoney || route.needsFactor
  const now = site.app.systemClock.now()
  if (needsFactor && !mayMoveMoney(company, visitor.session, visitor.person, now)) {
    return visit.send({ ...factorNeeded(visit, 'money'), here: 'today' })
  }
  if (route.confirmed && !hasConfirmed(visit)) return askToConfirm(visit)
  const isChange = route.method === 'POST' && route.movesMoney
  if (isChange && company.suspendedAt !== null) return refuseSuspended(visit)
}

/** An address below that of a company that has no page. */
const UNKNOWN: DashboardRoute[] = (['GET', 'POST'] as const).map((method) => ({
  method,
  path: '/*',
  needs: ROLES,
  handle: () => {
    throw problem('route_not_found')
  },
}))

const askToSignIn = ({ method, url }: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.redirect(`/sign-in${method === 'GET' ? nextOf(url) : ''}`, 303)

/** After a form the person goes on at the page of the company, because the form is gone. */
const askToConfirm = ({ request, reply, url }: Visit): FastifyReply =>
  reply.redirect(`/account/confirm${nextOf(request.method === 'GET' ? request.url : url(''))}`, 303)

const nextOf = (url: string): string => `?${new URLSearchParams({ next: url })}`

/** The company of a page, and the person's role in it. */
async function findMember({ site, person, params }: SignedIn) {
  const id = idOfSuffix(params.company ?? '')
  if (id === null) return null
  const app = await placeOf(site.app, id)
  const [role, company] = await Promise.all([
    findRole(site.app.db.control, id, person.id),
    findCompany(app.db, id),
  ])
  return role && company ? { role, company } : null
}

/** The member with what waits in the company, which every page shows in its menu. */
async function withWaiting({ app }: Site, member: Omit<Member, 'waiting'>): Promise<Member> {
  const { company } = member
  const own = withCompanyClock(await placeOf(app, company.id), company)
  return { ...member, waiting: await readWaiting(own, company) }
}

async function visitOf(visitor: SignedIn, { company, role, waiting }: Member): Promise<Visit> {
  const { site, author } = visitor
  const { id } = company
  const app = await placeOf(site.app, id)
  const scopes = SCOPES_OF[role]
  const home = homeOf(id)
  const visit: Visit = {
    ...visitor,
    app: withCompanyClock(forCompany(app, company), company),
    company,
    role,
    waiting,
    scopes,
    can: (needs) => isAllowed(role, needs),
    operate: (operationId, input) =>
      site.operate(operationId, { app, company, scopes, author }, input),
    record: (tx, action, record = null, details = {}) =>
      recordActivity(tx, id, author, { action, record, details }),
    url: (path) => `${home}${path}`,
    send: (page) => sendDashboardPage(visit, page),
    redirect: (path, done) => visitor.reply.redirect(`${home}${withDone(path, done)}`, 303),
  }
  return visit
}

/**
 * Says that there is no such page: with the menu of the person's company if they have only one, and
 * else with the way to their companies.
 */
async function sendMissing(visitor: SignedIn): Promise<FastifyReply> {
  const { site, person } = visitor
  const [only, ...others] = await listMemberships(site.app.db.control, person.id)
  if (only && others.length === 0) {
    const params = { company: suffixOf(only.companyId) }
    const member = await findMember({ ...visitor, params })
    if (member) {
      const visit = await visitOf(visitor, await withWaiting(site, member))
      return showFault(visit, problem('route_not_found'))
    }
  }
  return sendOwnPage(visitor, { ...faultBody(visitor, 404, '/dashboard'), status: 404 })
}

const withDone = (path: string, done: string | undefined): string =>
  done === undefined ? path : `${path}${path.includes('?') ? '&' : '?'}done=${done}`

function refuse(visit: Visit): FastifyReply {
  const { title, text } = DASHBOARD[visit.language].forbidden
  const body = html`<section class="card result">${icon('lock')}<h1>${title}</h1><p>${text}</p></section>`
  return visit.send({ title, body, here: 'today', status: 403 })
}

/** The same answer as that of the API, on a page that says that the company is suspended. */
function refuseSuspended(visit: Visit): FastifyReply {
  const { status } = problem('company_suspended')
  const title = SUSPENDED[visit.language]
  const text = problemText('company_suspended', visit.language)
  const body = html`<section class="card result">${icon('lock')}<h1>${title}</h1><p>${text}</p></section>`
  return visit.send({ title, body, here: 'today', status })
}

/** The only company of the person, or a list of all. */
async function showCompanies(visitor: SignedIn): Promise<FastifyReply> {
  const { site, reply, person, language } = visitor
  const texts = DASHBOARD[language]
  const [memberships, invitations] = await Promise.all([
    listMemberships(site.app.db.control, person.id),
    listInvitationsTo(site.app.db.control, person.email, site.app.systemClock.now()),
  ])
  const reached = memberships.filter(({ name }) => name !== null)
  if (memberships.length === 1 && reached.length === 1 && invitations.length === 0)
    return reply.redirect(homeOf(memberships[0]!.companyId), 303)
  const row = ({ companyId, name, role }: Membership) =>
    html`<li><a class="row" href="${homeOf(companyId)}"><span><strong>${name}</strong><span class="soft small">${texts.roles[role]}</span></span>${icon('next')}</a></li>`
  const body = html`<section class="card">
<h1>${texts.chooseCompany}</h1>
${memberships.length === 0 && html`<p>${texts.noCompany}</p>`}
${reached.length > 0 && html`<ul class="rows">${reached.map(row)}</ul>`}
${reached.length < memberships.length && html`<p>${texts.unreached}</p>`}
${invitations.length > 0 && html`<p><a class="button" href="/account/invitations">${ACCOUNT[language].invitation.waiting}</a></p>`}
</section>`
  return sendOwnPage(visitor, { title: texts.companies, body })
}
