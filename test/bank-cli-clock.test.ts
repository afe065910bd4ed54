import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBankCli } from './support/bank-cli.ts'
import { longTest } from './support/long.ts'

const { bank, connect, live, vintem } = await openBankCli()

/** The line of a bank check with this name: state and detail. */
async function lineOf(companyId: string, name: string): Promise<[state: string, detail: string]> {
  const { stdout } = await vintem(['bank', 'check', '--company', companyId])
  const found = new RegExp(`^(ok|warning|failed) +${name} +(.*)$`, 'm').exec(stdout)
  return [found?.[1] ?? stdout, found?.[2] ?? '']
}

longTest('a clock that differs from the bank’s is reported by check and doctor', async () => {
  const { company } = await live()
  await connect(company.id)
  assert.equal((await lineOf(company.id, 'clock'))[0], 'ok')
  assert.match(
    (await vintem(['doctor'])).stdout,
    /^ok +bank clocks(?: of place 2)? +The clocks of banks and ours/m,
  )
  for (const [ahead_s, words] of [
    [90, /The bank’s clock is \d+ s ahead of ours\. Set this machine’s clock by NTP/],
    [-90, /The bank’s clock is \d+ s behind ours\./],
  ] as const) {
    bank.style({ ahead_s })
    const [state, detail] = await lineOf(company.id, 'clock')
    assert.equal(state, 'failed')
    assert.match(detail, words)
    const { stdout, code } = await vintem(['doctor'])
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^failed +bank clocks(?: of place 2)? +The clock of Custom bank is \d+ s (ahead|behind)/m,
    )
  }
  bank.style({ ahead_s: 0 })
})

test('payments that the bank dates by another clock are reported, and a gap is warned of', async () => {
  const { company } = await live()
  await connect(company.id)
  const datesIn = () => lineOf(company.id, 'dates')
  assert.match((await datesIn())[1], /^There is no payment of the last day/)
  bank.payer.payKey(company.pixKey, 500)
  assert.equal((await datesIn())[0], 'ok')
  bank.style({ clock: 'local marked as Z' })
  const [state, detail] = await datesIn()
  assert.equal(state, 'warning')
  assert.match(detail, /^1 of 1 payments of the last day are dated 3 hours wrong, and corrected/)
  bank.style({ clock: 'UTC' })
  const hours_ms = 2.5 * 3_600_000
  bank.payer.payKey(company.pixKey, 500, { at: new Date(Date.now() - hours_ms) })
  for (const pix of bank.state().pix.values()) pix.at = new Date()
  assert.match((await datesIn())[1], /^1 of 2 payments .* dated far from the minute in their ids/)
  const [garbled] = bank.state().pix.keys()
  bank.style({ garbled: [garbled!] })
  const [failed, named] = await datesIn()
  assert.equal(failed, 'failed')
  assert.match(named, new RegExp(`not understood, and not recorded: ${garbled}\\.`))
})
