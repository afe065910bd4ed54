import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FullApp, FullFront } from '../core/full-app.ts'
import { clientName } from '../lib/client-name.ts'
import { describeError } from '../lib/log.ts'
import { Problem, problem } from '../lib/problems.ts'
import { registerLinks } from './account/link.ts'
import { registerAccount } from './account/register.ts'
import { readAssets, registerAssets } from './assets.ts'
import { registerBank } from './bank.ts'
import { registerCheckout } from './checkout.ts'
import { MAX_FILES } from './dashboard/csv.ts'
import { registerDashboard } from './dashboard/register.ts'
import { sendFault } from './dashboard/shell.ts'
import { withHeader } from './developer.ts'
import { registerElement } from './element.ts'
import { registerFront } from './front.ts'
import { registerGuides } from './guides/register.ts'
import { faultOf, faultPage, languageOf, sendPage } from './layout.ts'
import { registerShopLinks } from './link.ts'
import { registerLive } from './live.ts'
import { registerLogos } from './logos.ts'
import { registerMailbox } from './mailbox.ts'
import { registerOperator } from './operator/register.ts'
import { registerPlan } from './plan.ts'
import { registerPreviews } from './preview.ts'
import { registerReset } from './sandbox-reset.ts'
import { registerSandboxSignIn } from './sandbox-sign-in.ts'
import { addField, type Form, type Site } from './site.ts'
import { registerUnsubscribe } from './unsubscribe.ts'

/** Forms per address. Many people in an office may share one. */
const FORMS = { perSecond: 10, burst: 100 }
/** Pages and their files per address. Customers of a shop may share one. */
const READS = { perSecond: 50, burst: 500 }

type Pages = {
  register(server: FastifyInstance): void
  /** Shows the page for an unknown path. */
  missing(request: FastifyRequest, reply: FastifyReply): void
  /** Puts our header above the page of the API reference. */
  withHeader(page: string): string
}

/** The pages for people. They need no key, read forms instead of JSON, and show errors as pages. */
export function createPages(app: FullFront, own: Omit<Site, 'app' | 'assets' | 'files'>): Pages {
  const files = app.limits.queue('files of a company', { perOwner: MAX_FILES })
  const site: Site = { app, assets: readAssets(), files, ...own }
  return {
    register(server) {
      server.register(async (scope) => {
        readForms(scope)
        limitByAddress(scope, app)
        refuseForeignForms(scope, app.publicUrl, 'accepted')
        scope.setErrorHandler((error: FastifyError, request, reply) => {
          const status = noteError(site, error, request, reply)
          const page = faultPage(faultOf(status), languageOf(request), status)
          return sendPage(request, reply, site.assets, page)
        })
        registerAssets(scope, site.assets)
        registerCheckout(scope, site)
        registerPlan(scope, site)
        registerShopLinks(scope, site)
        registerElement(scope, site)
        registerLive(scope, site)
        registerLogos(scope, site)
        registerPreviews(scope, site)
        registerLinks(scope, site)
        registerUnsubscribe(scope, site)
        scope.register(async (open) => registerForDevelopers(open, site))
        scope.register(async (signedIn) => registerForPeople(signedIn, site))
      })
    },
    missing(request, reply) {
      sendPage(request, reply, site.assets, faultPage('missing', languageOf(request), 404))
    },
    withHeader: (page) => withHeader(site, page),
  }
}

/** The front page, the guides, the simulated bank and the mails. */
function registerForDevelopers(scope: FastifyInstance, site: Site): void {
  refuseForeignForms(scope, site.app.publicUrl, 'refused')
  registerFront(scope, site)
  registerGuides(scope, site)
  registerReset(scope, site)
  registerSandboxSignIn(scope, site)
  registerBank(scope, site)
  registerMailbox(scope, site)
}

/** Pages behind a sign-in. */
function registerForPeople(scope: FastifyInstance, site: Site): void {
  refuseForeignForms(scope, site.app.publicUrl, 'refused')
  scope.setErrorHandler((error: FastifyError, request, reply) =>
    sendFault(site, request, reply, noteError(site, error, request, reply)),
  )
  registerAccount(scope, site)
  registerDashboard(scope, site)
  registerOperator(scope, site)
}

/** No form of ours has so many fields. Parsing more of them would block other requests. */
const MAX_FIELDS = 1000

const readForm = (text: string): Form => {
  // Only this sign separates fields.
  if (text.split('&', MAX_FIELDS + 1).length > MAX_FIELDS) throw problem('invalid_value')
  const form: Form = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) addField(form, name, value)
  return form
}

function readForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, text: string) => readForm(text),
  )
}

function limitByAddress(scope: FastifyInstance, app: FullApp): void {
  if (!app.config.rateLimit) return
  const { rate } = app.limits
  const forms = rate('forms', FORMS.perSecond, FORMS.burst)
  const reads = rate('pages', READS.perSecond, READS.burst)
  scope.addHook('onRequest', async (request) => {
    const limit = request.method === 'POST' ? forms : reads
    const wait_s = await limit.take(clientName(request.ip))
    const headers = { 'Retry-After': String(Math.ceil(wait_s)) }
    if (wait_s > 0) throw problem('rate_limited', undefined, headers)
  })
}

/** Logs what nobody expected, and returns the status of the page that says so. */
function noteError(
  { app }: Site,
  error: FastifyError | Problem,
  request: FastifyRequest,
  reply: FastifyReply,
): number {
  const expected = error instanceof Problem
  const status = expected ? error.status : (error.statusCode ?? 500)
  if (status >= 500 && !expected) {
    app.log.error({ ...describeError(error), reqId: request.id }, 'unexpected error')
  }
  if (expected) reply.headers(error.headers)
  return status
}

/**
 * Refuses forms that another site sends through a visitor's browser. Browsers name the origin of a
 * form in Sec-Fetch-Site or at least in Origin. A request with neither is not from a browser.
 *
 * Our pages send no referrer, so older browsers send the origin `null`. It is accepted on the page
 * of a payer, because its URL has a token that other sites do not know. Elsewhere it is refused.
 */
function refuseForeignForms(
  scope: FastifyInstance,
  publicUrl: string,
  nullOrigin: 'accepted' | 'refused',
): void {
  const own = new URL(publicUrl).origin
  scope.addHook('onRequest', (request, _reply, done) => {
    const isForeign = request.method === 'POST' && isFromOtherSite(request, own, nullOrigin)
    done(isForeign ? problem('invalid_value') : undefined)
  })
}

function isFromOtherSite(
  { headers, host }: FastifyRequest,
  own: string,
  nullOrigin: 'accepted' | 'refused',
): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  if (origin === 'null') return nullOrigin === 'refused'
  return origin !== own && (!URL.canParse(origin) || new URL(origin).host !== host)
}
