import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, afterEach, test } from 'node:test'
import { systemClock } from '../src/lib/clock.ts'
import { startBank } from './bank/bank.ts'
import { trust } from './bank/certificates.ts'
import { openBankCli } from './support/bank-cli.ts'
import type { Result } from './support/cli.ts'
import { signIn } from './support/dashboard.ts'
import { lettersOf } from './support/mail.ts'
import { confirmed } from './support/withdrawals.ts'

const { api, bank, connect, credentials, file, live, secret, vintem } = await openBankCli()

/** The lines of a report: state, name and detail. */
const linesOf = ({ stdout }: Result): string[][] =>
  [...stdout.matchAll(/^(ok|warning|failed) +(\S+) +(.*)$/gm)].map((found) => found.slice(1))

const stored = () => api.rows('select company_id, profile, payouts from bank_connections')
const callbacksAt = () => {
  const { pix, rec, cobr } = bank.state().webhooks
  return [...pix.values(), rec, cobr].map((one) => one?.url ?? null)
}

afterEach(async () => {
  const { webhooks } = bank.state()
  webhooks.pix.clear()
  Object.assign(webhooks, { rec: null, cobr: null })
  await api.rows('delete from bank_connections')
})

function assertKeepsSecrets({ stdout, stderr }: Result): void {
  const said = stdout + stderr
  assert.ok(!said.includes(credentials.clientSecret), 'no client secret')
  assert.doesNotMatch(said, /PRIVATE KEY|BEGIN/)
}

test('all faults of the options are printed at once, and nothing is stored', async () => {
  const { company } = await live()
  const refused = await connect(company.id, {
    profile: 'nubank',
    'client-secret-file': 'nowhere',
    key: null,
    payouts: 'perhaps',
    'account-type': 'gold',
    branch: '12345',
    ca: secret,
    'base-url': 'http://x.example',
  })
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  for (const fault of [
    /--profile: nubank is not one of efi, /,
    /--client-secret-file: there is no file \/.*nowhere/,
    /--key: a PEM certificate needs/,
    /--payouts: must be manual or bank/,
    /--account-type: must be/,
    /--branch: must be/,
    /--ca: must be certificates/,
    /--base-url: must begin with https/,
  ]) {
    assert.match(refused.stderr, fault)
  }
  assertKeepsSecrets(refused)
  assert.deepEqual(await stored(), [])
})

test('what a bank requires or cannot do is printed before it is asked', async () => {
  const { company } = await live()
  const own = { 'base-url': null, 'token-url': null }
  const bb = await connect(company.id, { ...own, profile: 'bb', payouts: 'bank' })
  assert.match(bb.stderr, /--app-key-file: Banco do Brasil needs the key of the application/)
  assert.match(bb.stderr, /--payouts: withdrawals cannot be sent through Banco do Brasil/)
  const none = await connect(company.id, { 'client-secret-file': null, ...own })
  assert.match(none.stderr, /--base-url: is missing/)
  assert.match(none.stderr, /--token-url: is missing/)
  const efi = await connect(company.id, { ...own, profile: 'efi', 'client-secret-file': null })
  assert.match(efi.stderr, /--client-secret-file: Efí needs a client secret/)
})

test('a secret that is given in the place of a profile is not repeated', async () => {
  const { company } = await live()
  const refused = await connect(company.id, { 'profile-file': file('short', 's3cr3t-abc') })
  assert.match(refused.stderr, /--profile-file: is not JSON/)
  assert.doesNotMatch(refused.stderr, /s3cr3t/)
})

test('a certificate that has ended, lacks its key or passphrase is refused with what to do', async () => {
  const { company } = await live()
  const { expired } = credentials
  const ended = {
    certificate: file('old.pem', expired.certificate),
    key: file('old.key', expired.key),
  }
  assert.match((await connect(company.id, ended)).stderr, /--certificate: has ended on 20/)
  const pfx = file('own.p12', Buffer.from(credentials.pfx, 'base64'))
  const sealed = { certificate: pfx, key: null }
  assert.match((await connect(company.id, sealed)).stderr, /needs its passphrase/)
  const wrong = { ...sealed, 'passphrase-file': file('wrong', 'sesame\n') }
  assert.match((await connect(company.id, wrong)).stderr, /passphrase of the PFX file is wrong/)
  assert.match((await connect(company.id, { certificate: pfx })).stderr, /leave --key out/)
  assert.match((await connect(company.id, { certificate: secret, key: null })).stderr, /no PFX/)
  assert.deepEqual(await stored(), [])
})

test('a sandbox has the simulated bank and gets no other', async () => {
  const { company } = await api.client()
  const refused = await connect(company.id)
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /is a sandbox, whose bank is the simulated one/)
})

test('connect stores the credentials sealed, asks the bank, registers callbacks, and says so', async () => {
  const { company } = await live()
  const done = await connect(company.id)
  assert.deepEqual([done.code, done.stderr], [0, ''])
  assert.match(done.stdout, /^Padaria is connected to Custom bank; the credentials are sealed/)
  assert.match(done.stdout, /\nAll is well\.\n$/)
  assertKeepsSecrets(done)
  assert.deepEqual(
    linesOf(done).map(([state, name]) => `${state} ${name}`),
    [
      'ok certificate',
      'ok access',
      'ok clock',
      'ok dates',
      'ok scopes',
      'ok due-dates',
      'ok subscriptions',
      'ok withdrawals',
      'ok callbacks',
      'ok callbacks',
      'ok callbacks',
    ],
  )
  const [row] = await api.rows<{ sealed: Buffer; callback_id: string }>(
    'select sealed, callback_id from bank_connections where company_id = $1',
    [company.id],
  )
  assert.ok(!row!.sealed.includes(credentials.clientSecret), 'sealed at rest')
  const [url, ...others] = callbacksAt()
  assert.match(String(url), /^https:\/\/pix\.example\.com\/bank\/callbacks\/[\w-]{43}$/)
  assert.deepEqual(others, [url, url])

  const again = await connect(company.id, { payouts: 'manual' })
  assert.match(again.stdout, /Callbacks for payments are registered\./, 'the address stays')
  assert.deepEqual(callbacksAt(), [url, url, url])
})

test('a PFX with its passphrase does as well, and so does a certificate in binary form', async () => {
  const { company } = await live()
  const der = file('own.cer', new X509Certificate(credentials.certificate).raw)
  assert.match((await connect(company.id, { certificate: der })).stdout, /^ok +access /m)
  const pfx = file('own.pfx', Buffer.from(credentials.pfx, 'base64'))
  const passphrase = file('passphrase', `${credentials.passphrase}\r\n`)
  const options = { certificate: pfx, key: null, 'passphrase-file': passphrase }
  const { code, stdout } = await connect(company.id, options)
  assert.equal(code, 0, stdout)
})

test('check registers again what the bank has lost, and names what it has not granted', async () => {
  const { company } = await live()
  const check = () => vintem(['bank', 'check', '--company', company.id])
  assert.match((await check()).stderr, /No bank is connected to Padaria. Run vintem bank connect/)
  await connect(company.id)
  assert.match((await check()).stdout, /Callbacks for payments are registered\./)
  bank.state().webhooks.pix.clear()
  assert.match((await check()).stdout, /Callbacks for payments have been registered now\./)
  assert.equal(callbacksAt().length, 3)
  bank.grant(['cob.read', 'cob.write', 'pix.read', 'webhook.read', 'webhook.write'])
  const lacking = await check()
  bank.grant(bank.state().tokens[0]!.granted)
  const scopes = linesOf(lacking).find(([, name]) => name === 'scopes')!
  assert.deepEqual([lacking.code, scopes[0]], [1, 'failed'])
  assert.match(scopes[2]!, /has not granted pix\.write, .*Allow them for the application/)
  const dueDates = linesOf(lacking).find(([, name]) => name === 'due-dates')!
  assert.equal(dueDates[0], 'warning')
  assert.match(dueDates[2]!, /has not granted cobv\.read, cobv\.write, so dueDate is refused/)
})

test('check says so when the bank may not send the withdrawals that it is to send', async () => {
  const { company } = await live()
  const efi = await startBank({ clock: systemClock })
  after(() => efi.close())
  const { baseUrl, token } = efi.profile('efi')
  const options = {
    profile: 'efi',
    'base-url': baseUrl,
    'token-url': token.url,
    payouts: 'bank',
    'client-id': efi.credentials.clientId,
    'client-secret-file': file('efi-secret', efi.credentials.clientSecret),
    certificate: file('efi.pem', efi.credentials.certificate),
    key: file('efi.key', efi.credentials.key),
    ca: file('efi-ca.pem', efi.ca),
  }
  const withdrawals = (result: Result) => linesOf(result).find(([, name]) => name === 'withdrawals')
  for (const key of [{}, { 'payout-key': company.pixKey }]) {
    const refused = await connect(company.id, { ...options, ...key })
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^--payout-key: a bank that sends withdrawals needs the Pix key/)
  }
  Object.assign(options, { 'payout-key': 'caixa@example.com' })
  assert.equal(withdrawals(await connect(company.id, options))?.[0], 'ok')
  const { granted } = efi.state().tokens.at(-1)!
  efi.grant(granted.filter((scope) => scope !== 'pix.send'))
  const lacking = await connect(company.id, options)
  assert.deepEqual([lacking.code, withdrawals(lacking)?.[0]], [1, 'failed'])
  assert.match(withdrawals(lacking)![2]!, /pix\.send/)
})

test('a bank that refuses us or does not answer is reported in plain words, with the rest', async () => {
  const { company } = await live()
  const wrong = await connect(company.id, { 'client-secret-file': file('other', 'wrong-one') })
  const access = linesOf(wrong).find(([, name]) => name === 'access')!
  assert.deepEqual([wrong.code, access[0]], [1, 'failed'])
  assert.match(wrong.stdout, /^warning +callbacks +They are checked only if the bank gives access/m)
  assertKeepsSecrets(wrong)
  const away = await connect(company.id, { 'token-url': 'https://127.0.0.1:1/token' })
  assert.match(away.stdout, /^failed +access /m)
  const foreign = (await trust()).foreign()
  const stranger = {
    certificate: file('foreign.pem', foreign.certificate),
    key: file('foreign.key', foreign.key),
  }
  assert.match((await connect(company.id, stranger)).stdout, /^failed +access /m)
  const gone = await vintem(['bank', 'disconnect', '--company', company.id])
  assert.deepEqual([gone.code, gone.stderr], [0, ''])
  assert.match(gone.stdout, /could not be removed .* remove them in the bank’s portal/)
  assert.deepEqual(await stored(), [])
})

test('an address that banks do not call, a certificate near its end and no account are warned of', async () => {
  const { company } = await live()
  const { issue } = await trust()
  const soon = issue('Padaria', new Date(Date.now() + 10 * 24 * 3600 * 1000 + 60_000))
  const options = {
    certificate: file('soon.pem', soon.certificate),
    key: file('soon.key', soon.key),
    account: null,
    branch: null,
  }
  const done = await connect(company.id, options, { PUBLIC_URL: 'http://localhost:3000' })
  assert.equal(done.code, 0)
  assert.match(done.stdout, /^warning +certificate +It ends on .*, in 10 days\. Get a new one/m)
  assert.match(done.stdout, /^warning +subscriptions +Pix Automático needs the account/m)
  assert.match(done.stdout, /^warning +callbacks +PUBLIC_URL is http:\/\/localhost:3000/m)
  assert.match(done.stdout, /Vintém can work; 3 to look at\./)
})

test('show prints all but the secrets, and doctor which live companies have no bank', async () => {
  const { company } = await live('Mercado')
  await connect(company.id)
  const one = await vintem(['bank', 'show', '--company', company.id])
  assertKeepsSecrets(one)
  for (const part of [credentials.clientId, bank.tokenUrl, '0001 123456 CORRENTE', 'manual']) {
    assert.ok(one.stdout.includes(part), part)
  }
  const all = JSON.parse((await vintem(['bank', 'show', '--json'])).stdout)
  assert.deepEqual(
    all.map(({ companyId }: { companyId: string }) => companyId),
    [company.id],
  )
  const { checks } = JSON.parse((await vintem(['doctor', '--json'])).stdout)
  const { state, detail } = checks.findLast(({ name }: { name: string }) =>
    name.startsWith('provider'),
  )
  assert.equal(state, 'warning')
  const [{ others }] = (await api.rows(
    `select count(*)::int as others from companies where mode = 'live' and id <> $1`,
    [company.id],
  )) as [{ others: number }]
  assert.match(detail, new RegExp(`connected to Padaria \\(.*, ${others - 5} more: these live`))
})

test('disconnect removes the callbacks and the credentials, and lets those of others alone', async () => {
  const { company } = await live()
  await connect(company.id)
  assert.equal(callbacksAt().filter((url) => url !== null).length, 3)
  const done = await vintem(['bank', 'disconnect', '--company', company.id])
  assert.match(done.stdout, /No callback of ours is left there\./)
  assert.deepEqual(callbacksAt(), [null, null])
  assert.deepEqual(await stored(), [])
  const again = await vintem(['bank', 'disconnect', '--company', company.id])
  assert.match(again.stderr, /No bank is connected/)

  await connect(company.id)
  const { webhooks } = bank.state()
  for (const one of webhooks.pix.values()) one.url = 'https://other.example'
  Object.assign(webhooks, { rec: null, cobr: null })
  await vintem(['bank', 'disconnect', '--company', company.id])
  assert.deepEqual(callbacksAt(), ['https://other.example', null, null])
})

test('what an operator changes of where money goes is mailed to the company and its owners', async () => {
  const { company } = await live()
  const owner = await signIn(api, company)
  let seen = 0
  const mailed = async () => {
    const letters = await lettersOf(api, company.id)
    const changes = letters.filter(({ kind }) => kind === 'bank-changed').slice(seen)
    seen += changes.length
    const to = changes.map((letter) => letter.to).sort()
    if (to.length > 0) assert.deepEqual(to, [company.email, owner.person.email].sort())
    return changes[0]?.text ?? null
  }
  await connect(company.id)
  const connected = await mailed()
  assert.match(connected!, /Um banco foi conectado a Padaria\.[\s\S]*Quem opera este serviço/)
  assert.doesNotMatch(connected!, /segunda pessoa/)
  await connect(company.id, { account: null, branch: null })
  assert.equal(await mailed(), null, 'the same destination')
  await connect(company.id, { 'payout-key': 'outra@example.com' })
  assert.match((await mailed())!, /Chave Pix dos saques/)
  const update = (...options: string[]) => vintem(['company', 'update', company.id, ...options])
  await update('--name', 'Padaria')
  assert.equal(await mailed(), null)
  assert.equal((await update('--pix-key', 'nova@example.com')).code, 0)
  assert.match((await mailed())!, /A chave Pix de Padaria foi alterada\./)
  await vintem(['bank', 'disconnect', '--company', company.id])
  assert.match((await mailed())!, /O banco de Padaria foi desconectado\./)
})

const day = (ahead: number) =>
  new Date(Date.now() + ahead * 24 * 3600 * 1000).toISOString().slice(0, 10)

test('reconcile shows what is missing, records nothing without --settle, and then agrees', async () => {
  const { company } = await live()
  await connect(company.id, {}, { PUBLIC_URL: 'http://localhost' })
  const pix = bank.payer.payKey(company.pixKey, 1234)
  const period = ['--company', company.id, '--from', day(-1), '--to', day(1)]
  const look = await vintem(['bank', 'reconcile', ...period])
  assert.deepEqual([look.code, look.stderr], [1, ''])
  assert.match(look.stdout, /^missing +1 +R\$ 12,34$/m)
  assert.match(look.stdout, new RegExp(`received +R\\$ 12,34 +${pix.endToEndId} +we have nothing`))
  assert.match(look.stdout, /--settle/)
  const { settled, missing, unmatched } = JSON.parse(
    (await vintem(['bank', 'reconcile', ...period, '--settle', '--json'])).stdout,
  )
  assert.deepEqual([settled, missing, unmatched.length], [1, [], 1])
  const after = await vintem(['bank', 'reconcile', ...period])
  assert.match(after.stdout, /^unmatched +1 +R\$ 12,34$/m)
  assert.match(after.stdout, /it pays no charge \(UNKNOWN\) and waits for a decision/)
  const refused = await vintem([
    'bank',
    'reconcile',
    ...period.slice(0, 2),
    '--from',
    'x',
    '--to',
    day(-9),
  ])
  assert.match(refused.stderr, /--from: must be a day/)
  await vintem(['bank', 'disconnect', '--company', company.id])
  const none = await vintem(['bank', 'reconcile', ...period])
  assert.match(none.stderr, /No bank is connected/)
  const entries = await api.rows<{ action: string; author_kind: string }>(
    'select action, author_kind from activity where company_id = $1 order by id',
    [company.id],
  )
  assert.deepEqual(
    entries.map(({ action, author_kind }) => [action, author_kind]),
    ['bank.connect', 'bank.reconcile', 'bank.disconnect'].map((action) => [action, 'command-line']),
  )
})

test('an operator sees which withdrawals wait, and says what became of them', async () => {
  const { company, ...client } = await live()
  await vintem(['withdrawal', 'list'])
  const { stdout: none } = await vintem(['withdrawal', 'list', '--company', company.id])
  assert.equal(none, 'No withdrawal waits for you.\n')
  await connect(company.id, {}, { PUBLIC_URL: 'http://localhost' })
  const pix = bank.payer.payKey(company.pixKey, 9000)
  const days = ['--from', day(-1), '--to', day(1)]
  await vintem(['bank', 'reconcile', '--company', company.id, ...days, '--settle'])
  const accepted = await client.post(`/payment/unmatched/${pix.endToEndId}/accept`)
  assert.equal(accepted.status, 200, accepted.text)
  const first = await confirmed(api, { company, ...client }, 4000)

  const list = await vintem(['withdrawal', 'list'])
  assert.match(list.stdout, new RegExp(`${first} +R\\$ 40,00 +${company.pixKey} .* Padaria`))
  const note = async () =>
    JSON.parse((await vintem(['withdrawal', 'list', '--company', company.id, '--json'])).stdout)[0]
      .note
  assert.equal(await note(), null)
  const differs = 'insert into audits values ($1, 0, null, $2, now())'
  await api.rows(differs, [company.id, 'R$ 1 is missing'])
  assert.match(await note(), /^the books differ: run vintem ledger audit before you send it/)
  await api.rows('delete from audits where company_id = $1', [company.id])
  const id = 'E12345678202608201500abcdefghijk'
  const complete = (text: string, wd = first) =>
    vintem(['withdrawal', 'complete', wd, '--end-to-end-id', text])
  assert.match((await complete('E123')).stderr, /^--end-to-end-id: must be the 32 characters/)
  assert.match((await complete(id, 'wd_1')).stderr, /wd_1 is not the id of a withdrawal/)
  const done = await complete(id)
  assert.deepEqual([done.code, done.stderr], [0, ''])
  assert.match(done.stdout, new RegExp(`${first} of R\\$ 40,00 is COMPLETED as ${id}`))
  assert.equal((await complete(id)).stdout, done.stdout, 'the same answer again')

  const second = await confirmed(api, { company, ...client }, 5000)
  assert.match((await complete(id, second)).stderr, /^--end-to-end-id: .* another withdrawal, wd_/)
  const failed = await vintem(['withdrawal', 'fail', second, '--reason', 'wrong key', '--json'])
  assert.deepEqual(JSON.parse(failed.stdout), {
    id: second,
    status: 'FAILED',
    value: 5000,
    endToEndId: null,
    failure: 'wrong key',
  })
  assert.match((await complete(`${id.slice(0, -1)}z`, second)).stderr, /FAILED: wrong key/)
})

test('the bank has seen nothing that its document does not allow', () => {
  assert.deepEqual(bank.violations(), [])
})
