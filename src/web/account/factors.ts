import type { FastifyInstance } from 'fastify'
import type { Site } from '../site.ts'
import { registerConfirm } from './confirm.ts'
import { registerFactor } from './factor.ts'
import { limitGuesses } from './guesses.ts'
import { registerPasskeySignIn } from './passkey.ts'
import { registerSecurity } from './security.ts'

/** Second factors, passkeys, and where people prove again who they are. */
export function registerFactors(scope: FastifyInstance, site: Site): void {
  const guesses = limitGuesses(site.app.limits)
  registerFactor(scope, site, guesses)
  registerPasskeySignIn(scope, site)
  registerConfirm(scope, site, guesses)
  registerSecurity(scope, site, guesses)
}
