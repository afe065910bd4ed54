import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { systemClock } from '../src/lib/clock.ts'
import { startBank } from './bank/bank.ts'
import { openBankCli } from './support/bank-cli.ts'

const { connect, file, live } = await openBankCli()

test('check tries the second address for tokens too, and says which of the two fails', async () => {
  const { company } = await live()
  const santander = await startBank({ clock: systemClock })
  after(async () => {
    await santander.close()
    assert.deepEqual(santander.violations(), [])
  })
  const { baseUrl, token } = santander.profile('santander')
  const { credentials } = santander
  const check = async (...closed: string[]) => {
    santander.style({ token: { closed } })
    const { code, stdout } = await connect(company.id, {
      profile: 'santander',
      'base-url': baseUrl,
      'token-url': token.url,
      'client-id': credentials.clientId,
      'client-secret-file': file('santander-secret', credentials.clientSecret),
      certificate: file('santander.pem', credentials.certificate),
      key: file('santander.key', credentials.key),
      ca: file('santander-ca.pem', santander.ca),
    })
    return { code, stdout }
  }
  const well = await check()
  assert.match(well.stdout, /\nAll is well\.\n$/)
  const second = await check('/auth/oauth/v2/token')
  assert.equal(second.code, 0, 'charges can be made')
  assert.match(
    second.stdout,
    /^warning +subscriptions +Of the two addresses for tokens the one of subscriptions fails: /m,
  )
  assert.match(second.stdout, /^ok +callbacks +Callbacks for payments /m)
  assert.doesNotMatch(second.stdout, /^failed/m)
  const first = await check('/oauth/token')
  assert.equal(first.code, 1)
  assert.match(
    first.stdout,
    /^failed +access +Of the two addresses for tokens the one of charges fails: /m,
  )
  const both = await check('/oauth/token', '/auth/oauth/v2/token')
  assert.match(both.stdout, /^failed +access +Both addresses for tokens fail, of charges and /m)
})
