import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { auditCompany } from '../../src/core/audits/commands.ts'
import { findAudit, saveAudit } from '../../src/core/audits/store.ts'
import { connectBank, disconnectBank, openConnection } from '../../src/core/banks/commands.ts'
import { findCompany } from '../../src/core/companies/store.ts'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { toPfx, toSlowKey, trust } from '../bank/certificates.ts'
import { becomes } from '../faults/hold.ts'
import { startApi } from '../support/api.ts'
import { charged, openBanked } from '../support/bank.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { longTest } from '../support/long.ts'
import { longestBlock_ms, MAX_BLOCK_MS } from '../support/loop.ts'
import { lettersOf } from '../support/mail.ts'

const api = await startApi()
const { client: identity, issue } = await trust()
const BANK = '/settings/bank'
const CERTIFICATE = Buffer.from(identity.certificate)
const KEY = Buffer.from(identity.key)
const RENEWED = issue('Padaria Nova', new Date(Date.now() + 90 * 86_400_000))
const NEW_FILES = {
  certificate: Buffer.from(RENEWED.certificate),
  key: Buffer.from(RENEWED.key),
}
const SECRET = 'segredo-do-banco-1'
const PASSPHRASE = 'frase de teste'

type Values = Record<string, string | Buffer | undefined>

/** What connects a company to Efí, unless a test changes it. */
const EFI: Values = {
  profile: 'efi',
  pixKey: 'dona@example.com',
  clientId: 'Client_Id_teste',
  clientSecret: SECRET,
  certificate: CERTIFICATE,
  key: KEY,
  accountType: 'corrente',
  payouts: 'manual',
}

/** Sends a form with files as a browser does: of what was not chosen an empty file. */
async function send(member: Member, path: string, values: Values, once = suffixOf(newId())) {
  const form = new FormData()
  form.set('token', formTokenOf(api.app.vault, member.session))
  form.set('once', once)
  const files = { certificate: Buffer.alloc(0), key: Buffer.alloc(0) }
  for (const [name, value] of Object.entries({ ...files, ...values })) {
    if (typeof value === 'string') form.set(name, value)
    else if (value) form.set(name, new Blob([new Uint8Array(value)]), `${name}.pem`)
  }
  const reply = await fetch(`${api.url}${member.home}${path}`, {
    method: 'POST',
    body: form,
    headers: { cookie: member.cookie },
    redirect: 'manual',
  })
  const { status, headers } = reply
  return { status, text: await reply.text(), to: headers.get('location') }
}

const owner = (company: { id: string }, options = {}) =>
  signIn(api, company, { hasSecondFactor: true, ...options })

async function liveShop() {
  const client = await api.client({ mode: 'live', pixKey: 'dona@example.com' })
  return { client, member: await owner(client.company) }
}

const stored = (companyId: string) => openConnection(api.app.db, api.app.vault, companyId)
const activityOf = (companyId: string) =>
  api.rows('select action, record_id, details from activity where company_id = $1 order by id', [
    companyId,
  ])

const changesMailed = async (companyId: string) =>
  (await lettersOf(api, companyId)).filter(({ kind }) => kind === 'bank-changed')

/** Nothing that was secret is on a page. */
function keepsSecrets(text: string): void {
  assert.ok(!text.includes(SECRET) && !text.includes(PASSPHRASE), 'no secret is shown')
  assert.doesNotMatch(text, /PRIVATE KEY|BEGIN CERT/)
}

test('an owner connects a bank by a form; the credentials are sealed and never shown', async () => {
  const { client, member } = await liveShop()
  const { id } = client.company
  assert.match((await member.get(BANK)).text, /ainda não tem um banco[\s\S]*bank\/connect"/)
  const page = await member.get(`${BANK}/connect`)
  assert.match(page.text, /<option value="sicoob">Sicoob<\/option>/)
  assert.doesNotMatch(page.text, /<option value="(?:custom|[a-z]+-sandbox)"|name="\w*[uU]rl"/)
  const once = suffixOf(newId())
  const values = { ...EFI, payouts: 'bank', payoutKey: 'saques@example.com', account: '12345-6' }
  const done = await send(member, `${BANK}/connect`, { ...values, branch: '0001' }, once)
  assert.equal(done.to, `${member.home}${BANK}?done=connected`, done.text)
  await send(member, `${BANK}/connect`, { ...values, branch: '0001' }, once)
  const connection = await stored(id)
  assert.deepEqual(
    [connection?.profile.name, connection?.clientId, connection?.clientSecret, connection?.ca],
    ['efi', 'Client_Id_teste', SECRET, null],
  )
  assert.deepEqual(connection?.account, { number: '123456', branch: '0001', type: 'CORRENTE' })
  const [row] = await api.rows<{ sealed: Buffer; payout_key: string }>(
    'select sealed, payout_key from bank_connections where company_id = $1',
    [id],
  )
  assert.ok(!row!.sealed.includes(SECRET))
  assert.equal(row!.payout_key, 'saques@example.com')
  const shown = await member.get(`${BANK}?done=connected`)
  assert.match(shown.text, /foi conectado[\s\S]*Efí[\s\S]*bank\/renew"/)
  keepsSecrets(shown.text)
  assert.deepEqual(await activityOf(id), [
    { action: 'bank.connect', record_id: 'efi', details: { payouts: 'bank' } },
  ])
  const letters = await changesMailed(id)
  assert.equal(letters.length, 2, 'a form that is sent twice is one change')
  assert.match(letters[0]!.text, /Um banco foi conectado[\s\S]*Efí[\s\S]*Ana Souza/)
  assert.ok(!letters[0]!.text.includes('saques@example.com'), 'keys are masked')
  keepsSecrets(letters[0]!.text)
})

test('a PFX with its passphrase, a bank without a secret, and another Pix key', async () => {
  const { client, member } = await liveShop()
  const pfx = Buffer.from(toPfx(identity, PASSPHRASE), 'base64')
  const values = { ...EFI, profile: 'sicoob', clientSecret: '', certificate: pfx, key: undefined }
  const named = { ...values, passphrase: PASSPHRASE, pixKey: 'nova@example.com' }
  const done = await send(member, `${BANK}/connect`, named)
  assert.equal(done.status, 303, done.text)
  const company = (await findCompany(api.app.db, client.company.id))!
  assert.equal(company.pixKey, 'nova@example.com')
  assert.equal((await stored(company.id))?.certificate.kind, 'pfx')
  assert.deepEqual(
    (await activityOf(company.id)).map(({ action }) => action),
    ['bank.connect', 'company.update'],
  )
})

test('every fault is shown at its field, in the language of the person, and nothing is stored', async () => {
  const { client, member } = await liveShop()
  const pfx = Buffer.from(toPfx(identity, PASSPHRASE), 'base64')
  const old = issue('Padaria', new Date(api.clock.now().getTime() - 86_400_000))
  const ended = { certificate: Buffer.from(old.certificate), key: Buffer.from(old.key) }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const other = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const tried: [Values, RegExp][] = [
    [{ profile: '' }, /Escolha o banco\./],
    [{ profile: 'efi-sandbox' }, /Escolha o banco\./],
    [{ profile: 'custom' }, /Escolha o banco\./],
    [{ clientId: 'a b' }, /Client ID que o banco deu/],
    [{ clientId: 'a\r\nx: y' }, /Client ID que o banco deu/],
    [{ clientSecret: '' }, /exige o client secret/],
    [{ profile: 'bb' }, /exige a chave da aplicação/],
    [{ certificate: undefined, key: undefined }, /Escolha o arquivo do certificado/],
    [{ key: undefined }, /precisa da chave privada/],
    [{ certificate: pfx }, /já contém a chave/],
    [{ certificate: pfx, key: undefined }, /tem uma senha/],
    [{ certificate: pfx, key: undefined, passphrase: 'x' }, /não abre este arquivo/],
    [{ certificate: Buffer.from('nonsense'), key: undefined }, /não é um PFX/],
    [{ certificate: Buffer.alloc(64 * 1024 + 1), key: undefined }, /mais de 64 KB/],
    [ended, /já terminou/],
    [{ key: other }, /não é deste certificado/],
    [{ branch: '0001' }, /Informe também a conta/],
    [{ account: 'x' }, /número da conta com o dígito/],
    [{ accountType: 'gold' }, /Escolha o tipo/],
    [{ profile: 'itau', payouts: 'bank' }, /não podem ser enviados por este banco/],
    [{ payouts: 'bank' }, /informe a chave que os recebe/],
    [{ payouts: 'bank', payoutKey: 'dona@example.com' }, /diferente da que recebe/],
    [{ pixKey: 'a b' }, /chave Pix sem espaços/],
  ]
  for (const [changed, reason] of tried) {
    const refused = await send(member, `${BANK}/connect`, { ...EFI, ...changed })
    const what = JSON.stringify(Object.keys(changed))
    assert.equal(refused.status, 400, `${what} ${reason}`)
    assert.match(refused.text, reason, what)
    assert.match(refused.text, /aria-invalid="true"/, what)
    assert.match(refused.text, /digite os segredos de novo/, what)
    keepsSecrets(refused.text)
  }
  const english = await owner(client.company, { language: 'en' })
  const refused = await send(english, `${BANK}/connect`, { ...EFI, clientSecret: '' })
  assert.match(refused.text, /This bank needs the client secret/)
  assert.match(refused.text, /value="Client_Id_teste"/)
  assert.equal((await send(member, `${BANK}/connect`, { key: Buffer.alloc(300_000) })).status, 413)
  assert.equal(await stored(client.company.id), null)
})

longTest('a certificate that takes long to open is refused, and keeps nobody else', async () => {
  const { client, member } = await liveShop()
  const values = (rounds: number) => {
    const key = Buffer.from(toSlowKey(identity, PASSPHRASE, rounds))
    return { ...EFI, key, passphrase: PASSPHRASE }
  }
  const slow = values(1_000_000)
  let text = ''
  const longest_ms = await longestBlock_ms(async () => {
    text = (await send(member, `${BANK}/connect`, slow)).text
  })
  assert.match(text, /tempo demais para ser aberto/)
  assert.ok(longest_ms < MAX_BLOCK_MS, `${longest_ms} ms`)
  assert.equal(await stored(client.company.id), null)
  assert.equal((await send(member, `${BANK}/connect`, values(2048))).status, 303)
})

test('only an owner with a second factor who has just proved it connects a live company', async () => {
  const { client } = await liveShop()
  const weak = await signIn(api, client.company)
  const stale = await owner(client.company, { isConfirmed: false })
  const finance = await owner(client.company, { role: 'finance' })
  for (const path of ['connect', 'renew', 'disconnect']) {
    for (const member of [weak, stale, finance]) {
      const page = await member.get(`${BANK}/${path}`)
      const sent = await send(member, `${BANK}/${path}`, path === 'disconnect' ? {} : EFI)
      const isAsked = member === stale
      assert.equal(page.status, isAsked ? 303 : 403, path)
      assert.ok([isAsked ? 303 : 403, 415].includes(sent.status), `${path} ${sent.status}`)
      if (isAsked) assert.match(page.location!, /^\/account\/confirm/)
    }
  }
  assert.match((await finance.get(BANK)).text, /Somente um responsável/)
  assert.equal((await finance.post(`${BANK}/check`)).status, 403)
  assert.equal(await stored(client.company.id), null)
})

test('a sandbox keeps the simulated bank', async () => {
  const { company } = await api.client()
  const member = await owner(company)
  assert.equal((await member.get(`${BANK}/connect`)).location, `${member.home}${BANK}`)
  const sent = await send(member, `${BANK}/connect`, EFI)
  assert.equal(sent.to, `${member.home}${BANK}`)
  assert.equal(await stored(company.id), null)
  assert.equal((await member.post(`${BANK}/check`)).location, `${member.home}${BANK}`)
})

test('the Pix key stays once there are real charges', async () => {
  const shop = await openBanked(api, { callbacks: false })
  await charged(shop)
  const member = await owner(shop.company)
  const before = await stored(shop.company.id)
  const refused = await send(member, `${BANK}/connect`, { ...EFI, pixKey: 'outra@example.com' })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /não pode mais mudar/)
  assert.equal((await stored(shop.company.id))?.id, before?.id, 'the bank stays too')
})

test('a check says in words what works, one at a time for a company', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const member = await owner(shop.company)
  const fine = await member.post(`${BANK}/check`)
  assert.equal(fine.status, 200)
  assert.match(fine.text, /O banco dá acesso e mostra o que recebeu/)
  assert.match(fine.text, /não tem um endereço https/)
  assert.match(fine.text, /pontos de atenção/)
  keepsSecrets(fine.text)
  shop.bank.faults.next('GET /pix', 'slow')
  const first = member.post(`${BANK}/check`)
  await becomes('the bank is asked', async () =>
    shop.bank.faults.made.some(({ what }) => what === 'GET /pix'),
  )
  const second = await member.post(`${BANK}/check`)
  assert.equal(second.status, 409)
  assert.match(second.text, /já está sendo consultado/)
  shop.bank.faults.release()
  assert.equal((await first).status, 200)
  assert.equal((await member.post(`${BANK}/check`)).status, 200)
})

test('an owner renews the certificate; a wrong one is found by the check, in both languages', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const member = await owner(shop.company, { language: 'en' })
  const { id } = shop.company
  const before = (await stored(id))!
  assert.match((await member.get(`${BANK}/renew`)).text, /What you leave empty stays/)
  assert.equal((await send(member, `${BANK}/renew`, {})).status, 400)
  const done = await send(member, `${BANK}/renew`, NEW_FILES)
  assert.equal(done.to, `${member.home}${BANK}?done=renewed`, done.text)
  const after = (await stored(id))!
  assert.notEqual(after.id, before.id)
  const { id: _, certificate: __, ...rest } = after
  const { id: ___, certificate: ____, ...former } = before
  assert.deepEqual(rest, former, 'the rest stays')
  assert.match((await member.post(`${BANK}/check`)).text, /The bank gives access/)
  const wrong = await send(member, `${BANK}/renew`, { ...NEW_FILES, clientSecret: 'outro-segredo' })
  assert.equal(wrong.status, 303, wrong.text)
  const failed = await member.post(`${BANK}/check`)
  assert.match(failed.text, /Something has to be fixed[\s\S]*The bank gives no access/)
  assert.ok(!failed.text.includes('outro-segredo'))
  assert.deepEqual(await changesMailed(id), [], 'the account is the same')
  await send(member, `${BANK}/renew`, { ...NEW_FILES, clientId: 'de-outra-conta' })
  assert.equal((await changesMailed(id)).length, 2, 'to the company and its owner')
})

test('an owner disconnects, after a question; what the bank has of us is removed', async () => {
  const shop = await openBanked(api)
  const member = await owner(shop.company)
  const question = await member.get(`${BANK}/disconnect`)
  assert.match(
    question.text,
    /Desconectar de [\s\S]*cobranças abertas[\s\S]*vintem bank reconcile --settle/,
  )
  const done = await member.post(`${BANK}/disconnect`)
  assert.match(done.location!, /done=(disconnected|callbacks-left)$/)
  assert.equal(await stored(shop.company.id), null)
  const [letter] = await changesMailed(shop.company.id)
  assert.match(letter!.text, /foi desconectado\.[\s\S]*Ana Souza/)
  assert.match((await member.get(BANK)).text, /Sem banco/)
  assert.equal((await member.post(`${BANK}/disconnect`)).location, `${member.home}${BANK}`)
  assert.equal((await member.get(`${BANK}/renew`)).location, `${member.home}${BANK}`)
  const actions = (await activityOf(shop.company.id)).map(({ action }) => action)
  assert.equal(actions.filter((action) => action === 'bank.disconnect').length, 1)
})

test('while the books differ an owner keeps the bank, and an audit without a bank proves nothing', async () => {
  const shop = await openBanked(api, { callbacks: false })
  const member = await owner(shop.company)
  const { id, pixKey } = shop.company
  const difference = 'available is 1, the postings make 2'
  const audit = { checkedEntry: 0, bankCheckedUntil: null, difference }
  await saveAudit(api.app.db, id, audit, api.clock.now())
  const before = await stored(id)
  const connect = () => send(member, `${BANK}/connect`, { ...EFI, pixKey })
  for (const refused of [await connect(), await member.post(`${BANK}/disconnect`)]) {
    assert.equal(refused.status, 409, refused.text)
    assert.match(refused.text, /A conferência encontrou uma diferença/)
    keepsSecrets(refused.text)
  }
  assert.deepEqual(await stored(id), before)
  assert.equal((await send(member, `${BANK}/renew`, NEW_FILES)).status, 303)
  const other = { ...NEW_FILES, clientId: 'de-outra-conta' }
  assert.equal((await send(member, `${BANK}/renew`, other)).status, 409, 'maybe another account')
  assert.equal((await stored(id))?.clientId, before?.clientId)

  await api.app.db.transaction((tx) => disconnectBank(tx, id))
  await auditCompany(api.app, id, { whole: false })
  assert.equal((await findAudit(api.app.db, id)).difference, difference)
  assert.equal((await connect()).status, 409)
  assert.equal(await stored(id), null)
})

longTest('a form that is sent again with other credentials is refused, and says so', async () => {
  const { client, member } = await liveShop()
  const { id } = client.company
  const [once, again] = [suffixOf(newId()), suffixOf(newId())]
  assert.equal((await send(member, `${BANK}/connect`, EFI, once)).status, 303)
  const other = { ...EFI, clientSecret: 'outro-segredo' }
  const refused = await send(member, `${BANK}/connect`, other, once)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /já foi enviado com outros dados/)
  assert.equal((await send(member, `${BANK}/renew`, NEW_FILES, again)).status, 303)
  const renewed = await stored(id)
  assert.equal((await send(member, `${BANK}/renew`, NEW_FILES, again)).status, 303)
  const old = { certificate: CERTIFICATE, key: KEY }
  const kept = await send(member, `${BANK}/renew`, old, again)
  assert.equal(kept.status, 422)
  assert.match(kept.text, /já foi enviado com outros dados/)
  assert.deepEqual(await stored(id), renewed)
})

test('a bank that was connected meanwhile is neither replaced nor disconnected', async () => {
  const { app } = api
  const shop = await openBanked(api)
  const member = await owner(shop.company)
  const { id } = shop.company
  const connectAnother = () =>
    app.db.transaction((tx) => {
      const { id: _, ...given } = shop.bank.connection({})
      const certificateEndsAt = new Date('2036-01-01T00:00:00Z')
      const fields = { ...given, payouts: 'manual' as const, certificateEndsAt }
      return connectBank(tx, app.vault, id, fields, api.clock.now())
    })

  const release = await app.bankPages.certificates.take(id)
  const renewing = send(member, `${BANK}/renew`, NEW_FILES)
  await becomes('the form waits', async () => app.bankPages.certificates.waiting() === 1)
  const second = await connectAnother()
  release()
  const renewed = await renewing
  assert.equal(renewed.status, 409)
  assert.match(renewed.text, /foi alterada enquanto/)
  assert.equal((await stored(id))?.id, second.id)

  shop.bank.faults.next('GET /webhook/{chave}', 'slow')
  const disconnecting = member.post(`${BANK}/disconnect`)
  await becomes('the bank is asked', async () =>
    shop.bank.faults.made.some(({ what }) => what.startsWith('GET /webhook')),
  )
  const third = await connectAnother()
  shop.bank.faults.release()
  const refused = await disconnecting
  assert.equal(refused.status, 409, refused.text)
  assert.match(refused.text, /foi alterada enquanto/)
  assert.equal((await stored(id))?.id, third.id)
})
