import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { isAllowed, ROLES, type Role } from '../../src/core/people/rules.ts'
import { ROUTES } from '../../src/web/dashboard/routes.ts'
import type { DashboardRoute } from '../../src/web/dashboard/visit.ts'
import { type Client, startApi } from '../support/api.ts'
import { type Answer, type Member, signIn } from '../support/dashboard.ts'
import { MARK, makeRecords, pathOf, type Records } from '../support/dashboard-records.ts'
import { isLong } from '../support/long.ts'

const api = await startApi()
/** The company whose records nobody else may see, and another one. */
const [company, other]: Client[] = [await api.client(), await api.client()]
const people = new Map<Role, { own: Member; stranger: Member }>()
let records: Records

/** Who asks at a page: everybody, or in `npm test` one of them, another at the next page. */
function askers(at: number, fits: (role: Role) => boolean = () => true) {
  const all = [...people].filter(([role]) => fits(role))
  return isLong ? all : all.slice(at % all.length).slice(0, 1)
}

let stateBefore: string

before(async () => {
  records = await makeRecords(api, company!)
  for (const role of ROLES) {
    const own = await signIn(api, company!.company, { role })
    people.set(role, { own, stranger: await signIn(api, other!.company, { role }) })
  }
  stateBefore = await stateOfCompany()
})

/** A hash of all rows of the company. */
async function stateOfCompany(): Promise<string> {
  await Promise.all([api.app.lateActivity.idle(), api.app.requestLog.idle()])
  const tables = await api.rows<{ name: string }>(
    `select table_name as name from information_schema.columns
     where table_schema = current_schema() and column_name = 'company_id' order by 1`,
  )
  const states = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await api.rows<{ state: string }>(
        `select md5(string_agg(t::text, '|' order by t::text)) as state from ${name} t
         where company_id = $1`,
        [company!.company.id],
      )
      return `${name} ${row!.state}`
    }),
  )
  return states.join('\n')
}

/** What forms of all kinds ask for, so that nothing is refused for a missing field. */
const FORM = {
  amount: '1,00',
  value: '1,00',
  name: 'Ana',
  email: 'ana@example.com',
  role: 'viewer',
  description: 'x',
  comment: 'x',
  price: '1,00',
  type: 'ONE_TIME',
  url: 'http://127.0.0.1:9/other',
  otp: '000000',
  code: '000000',
  status: 'ACTIVE',
  'charge.paid': '1',
  'payments:read': '1',
  version: '2025-01-01',
}

const ask = (member: Member, { method }: DashboardRoute, path: string): Promise<Answer> =>
  method === 'GET' ? member.get(path) : member.post(path, FORM)

const nameOf = ({ method, path }: DashboardRoute) => `${method} ${path || '/'}`

function showsNothing({ text }: Answer, what: string): void {
  assert.ok(!text.includes(MARK) && !text.includes('confidencial@'), `${what} shows a record`)
}

test('the records that others ask for below exist', async () => {
  const { own } = people.get('owner')!
  for (const route of ROUTES.filter(({ method }) => method === 'GET')) {
    const { status, location } = await own.get(pathOf(route, records))
    // A form for what cannot be done now leads back to the record.
    const isLedBack = status === 303 && location!.startsWith(own.home)
    assert.ok(status === 200 || isLedBack, `${nameOf(route)}: ${status}`)
  }
  stateBefore = await stateOfCompany()
})

test('whoever is not signed in is asked to sign in, at every page and every form', async () => {
  for (const route of ROUTES) {
    const url = `${api.url}${people.get('owner')!.own.home}${pathOf(route, records)}`
    const reply = await fetch(url, { method: route.method, redirect: 'manual' })
    assert.equal(reply.status, 303, nameOf(route))
    assert.match(reply.headers.get('location')!, /^\/sign-in/, nameOf(route))
  }
})

test('to people of another company no page and no form exists, whatever their role', async () => {
  for (const [at, route] of ROUTES.entries()) {
    for (const [role, { own, stranger }] of askers(at)) {
      const answer = await ask(stranger, route, `/${own.home}${pathOf(route, records)}`)
      const what = `${nameOf(route)} as ${role} of another company`
      assert.equal(answer.status, 404, what)
      showsNothing(answer, what)
    }
  }
  assert.equal(await stateOfCompany(), stateBefore)
})

test('ids of another company are unknown ids, whatever the role', async () => {
  // A month is not an id: everybody has theirs.
  const withIds = ROUTES.filter(({ path }) => /\/:(?!month)/.test(path))
  for (const [at, route] of withIds.entries()) {
    for (const [role, { stranger }] of askers(at)) {
      const answer = await ask(stranger, route, pathOf(route, records))
      const what = `${nameOf(route)} as ${role} with an id of another company`
      assert.equal(answer.status, isAllowed(role, route.needs) ? 404 : 403, what)
      showsNothing(answer, what)
    }
  }
  assert.equal(await stateOfCompany(), stateBefore)
})

test('a role that may not is refused at every page and every form', async () => {
  for (const [at, route] of ROUTES.entries()) {
    for (const [role, { own }] of askers(at, (role) => !isAllowed(role, route.needs))) {
      const answer = await ask(own, route, pathOf(route, records))
      assert.equal(answer.status, 403, `${nameOf(route)} as ${role}`)
      showsNothing(answer, `${nameOf(route)} as ${role}`)
    }
  }
  assert.equal(await stateOfCompany(), stateBefore)
})

test('a form without its token, or from another site, changes nothing', async () => {
  const { own } = people.get('owner')!
  for (const route of ROUTES.filter(({ method }) => method === 'POST')) {
    const path = pathOf(route, records)
    assert.equal((await own.post(path, { ...FORM, token: '' })).status, 400, nameOf(route))
    const foreign = await fetch(`${api.url}${own.home}${path}`, {
      method: 'POST',
      headers: {
        cookie: own.cookie,
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
      },
      body: new URLSearchParams(FORM),
      redirect: 'manual',
    })
    assert.equal(foreign.status, 400, nameOf(route))
  }
  assert.equal(await stateOfCompany(), stateBefore)
})
