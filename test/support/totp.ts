import assert from 'node:assert/strict'
import { Secret, TOTP } from 'otpauth'
import type { TestApi } from './api.ts'
import type { Member } from './dashboard.ts'

/** The code that an app with this secret shows, now or so many seconds later. */
export const codeOf = ({ clock }: TestApi, secret: string, seconds = 0): string =>
  new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) }).generate({
    timestamp: clock.now().getTime() + seconds * 1000,
  })

/** Prepares an app that makes codes. */
export async function prepareApp(member: Member): Promise<string> {
  const begun = await member.post('//account/security/app')
  assert.equal(begun.location, '/account/security/app')
  const page = await member.get('//account/security/app')
  return /<code translate="no">([A-Z2-7 ]+)<\/code>/.exec(page.text)![1]!.replaceAll(' ', '')
}

/** The recovery codes that a page shows. */
export const codesOn = (text: string): string[] =>
  [...text.matchAll(/<li><code>([^<]+)<\/code><\/li>/g)].map(([, code]) => code!)

/** Adds an app that makes codes. */
export async function addApp(
  api: TestApi,
  member: Member,
): Promise<{ secret: string; recoveryCodes: string[] }> {
  const secret = await prepareApp(member)
  const added = await member.post('//account/security/app/code', { code: codeOf(api, secret) })
  assert.equal(added.status, 200, added.text)
  return { secret, recoveryCodes: codesOn(added.text) }
}
