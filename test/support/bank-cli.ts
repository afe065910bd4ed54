import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { startBank } from '../bank/bank.ts'
import { startApi } from './api.ts'
import { hostedVintemIn, type Result } from './cli.ts'

type Options = Record<string, string | null>

/** An operator's folder with the credentials of a bank, and the commands run in it. */
export async function openBankCli() {
  const home = mkdtempSync(join(tmpdir(), 'vintem-bank-cli-'))
  after(() => rmSync(home, { recursive: true, force: true }))
  const bank = await startBank({ clock: systemClock })
  after(() => bank.close())
  const api = await startApi()
  const env = {
    ...api.databases,
    SECRET_KEY: api.app.config.secretKey.toString('base64'),
    PUBLIC_URL: 'https://pix.example.com',
  }
  const hosted = hostedVintemIn(home)
  const vintem = (args: string[], own = {}) => hosted(args, { ...env, ...own })

  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(home, name), content)
    return name
  }
  const { credentials } = bank
  const secret = file('secret', `${credentials.clientSecret}\n`)
  const certificate = file('own.pem', credentials.certificate)
  const key = file('own.key', credentials.key)
  const ca = file('ca.pem', bank.ca)

  const live = (name = 'Padaria') =>
    api.client({ name, mode: 'live', pixKey: `${name.toLowerCase()}@example.com` })

  function connect(companyId: string, changes: Options = {}, own = {}): Promise<Result> {
    const options: Options = {
      company: companyId,
      profile: 'custom',
      'client-id': credentials.clientId,
      'base-url': `${bank.url}/api/v2`,
      'token-url': bank.tokenUrl,
      ca,
      'client-secret-file': secret,
      certificate,
      key,
      account: '12345-6',
      branch: '0001',
      ...changes,
    }
    const typed = Object.entries(options).filter(([, value]) => value !== null)
    return vintem(
      ['bank', 'connect', ...typed.flatMap(([name, value]) => [`--${name}`, value!])],
      own,
    )
  }
  return { api, bank, connect, credentials, file, live, secret, vintem }
}
