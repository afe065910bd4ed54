import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Uuid } from '../../lib/ids.ts'
import type { App } from '../app.ts'
import type { Person } from './rules.ts'
import { openState, sealState } from './sealed-state.ts'
import * as store from './second-factors-store.ts'

/** It takes long to load, so `src/load-rest.ts` does that after the start. */
const library = () => import('@simplewebauthn/server')

/** The site that passkeys are made for: a name, never an IP address. */
export type RelyingParty = { id: string; origin: string }

/** What the browser asks the device to sign, and what the form sends back with the signature. */
export type Ceremony = { options: object; state: string }

/** What the form has sent: the device's answer as JSON, and the state that the page had. */
export type Answer = { response: string; state: string }

type PasskeyApp = Pick<App, 'db' | 'vault' | 'systemClock'>
type Challenge = { challenge: string; expiresAt: Date }

const CHALLENGE_MS = 10 * 60_000
const NAME = 'Vintém'
export const MAX_PASSKEY_NAME = 100
/** EdDSA, ES256 and RS256, which all devices have one of. */
const ALGORITHMS = [-8, -7, -257]

/** Seals a challenge for one use, such as to sign in. */
function ceremonyOf<Options extends { challenge: string }>(
  { vault, systemClock }: PasskeyApp,
  use: string,
  options: Options,
): Ceremony {
  const expiresAt = new Date(systemClock.now().getTime() + CHALLENGE_MS)
  const value = { challenge: options.challenge, expiresAt: expiresAt.toISOString() }
  return { options, state: sealState(vault, `passkey:${use}`, value, expiresAt) }
}

function openChallenge(
  { vault, systemClock }: PasskeyApp,
  use: string,
  state: string,
): Challenge | null {
  const context = `passkey:${use}`
  const now = systemClock.now()
  const value = openState<{ challenge: string; expiresAt: string }>(vault, context, state, now)
  return value && { challenge: value.challenge, expiresAt: new Date(value.expiresAt) }
}

const registrationUse = (sessionId: Uuid): string => `registration:${sessionId}`

/** Asks a device for a new passkey. It must be able to find the person without their e-mail. */
export async function askForNewPasskey(
  app: PasskeyApp,
  rp: RelyingParty,
  { id, email, name }: Person,
  sessionId: Uuid,
  known: store.Passkey[],
): Promise<Ceremony> {
  const { generateRegistrationOptions } = await library()
  const options = await generateRegistrationOptions({
    rpName: NAME,
    rpID: rp.id,
    userID: Uint8Array.from(Buffer.from(id.replaceAll('-', ''), 'hex')),
    userName: email,
    userDisplayName: name,
    excludeCredentials: known.map(({ id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: CHALLENGE_MS,
  })
  return ceremonyOf(app, registrationUse(sessionId), options)
}

/** The passkey that a device has made, and the challenge that it has answered. */
export async function readNewPasskey(
  app: PasskeyApp,
  rp: RelyingParty,
  personId: Uuid,
  sessionId: Uuid,
  { response, state }: Answer,
  name: string,
): Promise<{ passkey: store.Passkey; challenge: Challenge } | null> {
  const challenge = openChallenge(app, registrationUse(sessionId), state)
  const parsed = parse<RegistrationResponseJSON>(response)
  if (!challenge || !parsed) return null
  const { verifyRegistrationResponse } = await library()
  const result = await orNull(
    verifyRegistrationResponse({
      response: parsed,
      expectedChallenge: challenge.challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      supportedAlgorithmIDs: ALGORITHMS,
    }),
  )
  if (!result?.verified) return null
  const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential
  const now = app.systemClock.now()
  const passkey = {
    id,
    personId,
    publicKey: Buffer.from(publicKey),
    counter,
    transports,
    name,
    createdAt: now,
    lastUsedAt: null,
  }
  return { passkey, challenge }
}

/** Asks for a passkey: for one of these, or, if null, for any that the device has for us. */
export async function askForPasskey(
  app: PasskeyApp,
  { id: rpID }: RelyingParty,
  use: string,
  known: store.Passkey[] | null,
): Promise<Ceremony> {
  const allowCredentials = known?.map(({ id, transports }) => ({ id, transports })) ?? []
  const { generateAuthenticationOptions } = await library()
  const options = await generateAuthenticationOptions({
    rpID,
    allowCredentials,
    userVerification: 'required',
    timeout: CHALLENGE_MS,
  })
  return ceremonyOf(app, use, options)
}

/**
 * Whose passkey has signed the challenge. Null if it was not signed by a passkey that we know, for
 * this use and on our site, or if the challenge was answered before.
 */
export async function usePasskey(
  app: PasskeyApp,
  rp: RelyingParty,
  use: string,
  { response, state }: Answer,
): Promise<Uuid | null> {
  const challenge = openChallenge(app, use, state)
  const parsed = parse<AuthenticationResponseJSON>(response)
  if (!challenge || typeof parsed?.id !== 'string') return null
  const passkey = await store.findPasskey(app.db.control, parsed.id)
  if (!passkey) return null
  const { id, publicKey, counter, personId } = passkey
  const { verifyAuthenticationResponse } = await library()
  const result = await orNull(
    verifyAuthenticationResponse({
      response: parsed,
      expectedChallenge: challenge.challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      credential: { id, publicKey: Uint8Array.from(publicKey), counter },
    }),
  )
  if (!result?.verified) return null
  const { newCounter } = result.authenticationInfo
  return app.db.control.transaction(async (tx) => {
    const isNew = await store.useChallenge(tx, challenge.challenge, challenge.expiresAt)
    if (!isNew) return null
    await store.noteUse(tx, id, newCounter, app.systemClock.now())
    return personId
  })
}

/** What a browser has sent may be anything. */
function parse<T extends object>(text: string): T | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as T) : null
  } catch {
    return null
  }
}

/** The library throws if an answer is malformed or wrong. */
const orNull = <T>(checked: Promise<T>): Promise<T | null> => checked.catch(() => null)
