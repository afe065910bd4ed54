import assert from 'node:assert/strict'
import { hashPassword } from '../../src/core/people/passwords.ts'
import type { Person } from '../../src/core/people/rules.ts'
import { setPassword } from '../../src/core/people/store.ts'
import type { Letter } from '../../src/lib/mailer.ts'
import type { TestApi } from './api.ts'
import type { Answer } from './dashboard.ts'

export const PASSWORD = 'trilho-abajur-quintal-47'

/** Gives a person a password. */
export async function givePassword(
  { app }: TestApi,
  { id }: Pick<Person, 'id'>,
  password = PASSWORD,
): Promise<void> {
  const hashed = await hashPassword(app, 'test', password)
  await setPassword(app.db.control, id, hashed, app.clock.now())
}

export type Asking = { cookie?: string; headers?: Record<string, string> }

/** Sends a form as a browser without a session does, unless a cookie is given. */
export const postForm = (
  api: TestApi,
  path: string,
  form: Record<string, string> = {},
  { cookie, headers = {} }: Asking = {},
): Promise<Answer> =>
  ask(api, path, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: { ...headers, ...(cookie ? { cookie } : {}) },
  })

export const getPage = (api: TestApi, path: string, { cookie }: Asking = {}): Promise<Answer> =>
  ask(api, path, { headers: { accept: 'text/html', ...(cookie ? { cookie } : {}) } })

async function ask({ url }: TestApi, path: string, init: RequestInit): Promise<Answer> {
  const reply = await fetch(url + path, { ...init, redirect: 'manual' })
  const { status, headers } = reply
  return { status, headers, text: await reply.text(), location: headers.get('location') }
}

/** The cookie that an answer gives the browser. */
export function cookieOf({ headers }: Answer): string {
  const cookie = /^vintem=[\w-]{43}/.exec(headers.get('set-cookie') ?? '')?.[0]
  assert.ok(cookie, 'the answer has a session')
  return cookie
}

/** The path of the link in a letter. */
export function pathIn({ text }: Pick<Letter, 'text'>): string {
  const url = /http:\/\/vintem\.test(\/\S+)/.exec(text)
  assert.ok(url, text)
  return url[1]!
}
