import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changeCompany } from '../../../src/core/companies/commands.ts'
import { onePlace } from '../../../src/core/places/front.ts'
import { createKeyRing } from '../../../src/http/auth.ts'
import { openServerNotifications } from '../../../src/http/notifications.ts'
import { type Client, payer, startApi } from '../../support/api.ts'
import { advance } from '../../support/clocks.ts'
import { lettersOf } from '../../support/mail.ts'
import { makeCharge, pay } from '../../support/payments.ts'
import { cancel, resend, start } from '../../support/withdrawals.ts'

const api = await startApi()

const change = (client: Client, fields: object) => client.put('/company', fields)
const read = async (client: Client) => (await client.get('/company')).body.data

/** The operator's change, as the CLI makes it. */
const operate = ({ company }: Client, fields: Parameters<typeof changeCompany>[3]) =>
  api.app.db.transaction((tx) =>
    changeCompany(tx, api.app.vault, company.id, fields, 'operator', api.clock.now()),
  )

/** Kind and receiver of each mail that waits, and takes them away. */
async function mailsOf({ company }: Client): Promise<string[]> {
  const letters = await lettersOf(api, company.id)
  await api.rows('delete from mails where company_id = $1', [company.id])
  return letters.map(({ kind, to }) => `${kind} to ${to}`)
}

describe('PUT /company', () => {
  test('changes only the fields sent, and ignores those that it does not know', async () => {
    const client = await api.client({ imageUrl: 'https://loja.example/logo.png' })
    const before = await read(client)
    assert.equal(before.language, 'pt')
    const fields = {
      name: 'Padaria Nova',
      city: 'Recife',
      color: '#B45309',
      language: 'en',
      taxId: '52998224725',
      pixKey: 'ladrao@example.com',
      mode: 'live',
      apiVersion: 'x',
    }
    const { status, body } = await change(client, fields)
    assert.equal(status, 200)
    const expected = { name: 'Padaria Nova', city: 'Recife', color: '#b45309', language: 'en' }
    assert.deepEqual(body.data, { ...before, ...expected })
    assert.deepEqual(await read(client), body.data)
    assert.deepEqual((await change(client, {})).body.data, body.data)
    assert.deepEqual(await mailsOf(client), [], 'no mail is sent for these')
  })

  test('null takes the logo away, and only the logo can be taken away', async () => {
    const client = await api.client({ imageUrl: 'https://loja.example/logo.png' })
    assert.equal((await change(client, { name: null })).status, 400)
    const { body } = await change(client, { imageUrl: null })
    assert.equal('imageUrl' in body.data, false)
    assert.equal((await read(client)).email, client.company.email)
  })

  test('needs the scope company:write', async () => {
    const client = await api.client({}, { scopes: ['company:read', 'payments:write'] })
    const { status, body } = await change(client, { name: 'Outra' })
    assert.deepEqual([status, body.errors[0].code], [403, 'insufficient_scope'])
    assert.equal((await read(client)).name, client.company.name)
  })

  test('is seen by every server once it is answered', async () => {
    const { log } = api.app
    const notifications = openServerNotifications(api.databaseUrl, log)
    const other = createKeyRing(onePlace(api.app), [notifications])
    api.atEnd(() => notifications.close())
    const client = await api.client()
    for (const name of ['Um', 'Dois', 'Três']) {
      // A server remembers companies only while it listens to changes.
      while (other.findCached(client.key) === null) await other.find(client.key)
      await change(client, { name })
      const found = other.findCached(client.key) ?? (await other.find(client.key))
      assert.equal(found!.company.name, name)
      assert.equal((await read(client)).name, name)
    }
  })

  test('shows in charges at once, the open ones too', async () => {
    const client = await api.client()
    const { id } = await makeCharge(client, 700)
    await change(client, { name: 'Padaria Nova', color: '#b45309' })
    const { company } = (await client.get(`/charge/${id}`)).body.data
    assert.deepEqual([company.name, company.color], ['Padaria Nova', '#b45309'])
  })

  test('under an Idempotency-Key a change of address is made and mailed once', async () => {
    const client = await api.client()
    const options = { headers: { 'Idempotency-Key': 'change 1' } }
    const first = await client.put('/company', { email: 'nova@example.com' }, options)
    await change(client, { name: 'Depois' })
    const again = await client.put('/company', { email: 'nova@example.com' }, options)
    assert.deepEqual([again.text, again.headers.get('idempotent-replayed')], [first.text, 'true'])
    assert.equal((await mailsOf(client)).length, 2)
  })
})

describe('a changed e-mail address', () => {
  test('is mailed to the former address, with what to do, and to the new one', async () => {
    const client = await api.client()
    await change(client, { email: 'nova@example.com' })
    const [former, present] = await lettersOf(api, client.company.id)
    assert.deepEqual([former!.kind, former!.to], ['email-changed', 'dona@example.com'])
    for (const part of ['n***@example.com', '20/08/2026 12:00', '21/08/2026 12:00', 'PUT /company'])
      assert.ok(former!.text.includes(part), part)
    assert.deepEqual([present!.kind, present!.to], ['email-confirmed', 'nova@example.com'])
    assert.doesNotMatch(present!.text + present!.html, /dona@/)
    await change(client, { email: 'nova@example.com' })
    assert.equal((await lettersOf(api, client.company.id)).length, 2, 'the same again is no change')
  })

  test('is changed 5 times an hour and 20 a day, and can always be changed back', async () => {
    const client = await api.client()
    const email = (n: number) => `loja${n}@example.com`
    const tryOne = async (n: number) => {
      const { status, body, headers } = await change(client, { email: email(n) })
      return status === 200 ? 200 : [status, body.errors[0].code, headers.get('retry-after')]
    }
    let n = 0
    for (let hour = 0; hour < 4; hour++) {
      for (let i = 0; i < 5; i++) assert.equal(await tryOne(n++), 200, `${hour}:${i}`)
      if (hour === 0) {
        const { body } = await change(client, { email: email(n), name: 'Outra' })
        assert.match(body.errors[0].description, /^email: can be changed 5 times an hour and 20/)
        assert.equal((await read(client)).name, client.company.name)
        assert.deepEqual(await tryOne(n), [429, 'rate_limited', '3600'])
      }
      api.clock.advance(3600)
    }
    assert.deepEqual(await tryOne(n), [429, 'rate_limited', String(20 * 3600)])
    assert.equal((await change(client, { name: 'Outra', email: email(n - 1) })).status, 200)
    assert.equal((await change(client, { email: 'dona@example.com' })).status, 200, 'the former')
    await operate(client, { email: 'outra@example.com' })
    assert.equal((await read(client)).email, 'outra@example.com')
    assert.equal((await mailsOf(client)).filter((mail) => /^email-conf/.test(mail)).length, 22)
  })

  test('of changes at the same moment no more are made than may be', async () => {
    const client = await api.client()
    const replies = await Promise.all(
      Array.from({ length: 9 }, (_, n) => change(client, { email: `loja${n}@example.com` })),
    )
    const made = replies.filter(({ status }) => status === 200).length
    assert.deepEqual([made, new Set(replies.map(({ status }) => status)).size], [5, 2])
    assert.ok(await start(client, 100), 'its codes are counted apart')
  })

  test('gets no one-time code for 24 hours: new, pending and resent codes go to the former', async () => {
    const client = await api.client()
    const pending = await start(client, 700)
    await change(client, { email: 'ladrao@example.com' })
    await resend(client, pending)
    await cancel(client, pending)
    api.clock.advance(24 * 3600 - 1)
    const second = await start(client, 700)
    assert.deepEqual(await mailsOf(client), [
      'withdrawal-code to dona@example.com',
      'email-changed to dona@example.com',
      'email-confirmed to ladrao@example.com',
      'withdrawal-code to dona@example.com',
      'withdrawal-code to dona@example.com',
    ])
    api.clock.advance(1)
    await resend(client, second)
    assert.deepEqual(await mailsOf(client), ['withdrawal-code to ladrao@example.com'])
  })

  test('that is changed again within the day leaves codes with the first, and mails it', async () => {
    const client = await api.client()
    await change(client, { email: 'um@example.com' })
    await mailsOf(client)
    api.clock.advance(23 * 3600)
    await change(client, { email: 'dois@example.com' })
    assert.deepEqual(await mailsOf(client), [
      'email-changed to um@example.com',
      'email-changed to dona@example.com',
      'email-confirmed to dois@example.com',
    ])
    api.clock.advance(23 * 3600)
    await start(client, 700)
    assert.deepEqual(await mailsOf(client), ['withdrawal-code to dona@example.com'])
  })

  test('that is changed back gets codes at once', async () => {
    const client = await api.client()
    await change(client, { email: 'ladrao@example.com' })
    await change(client, { email: 'dona@example.com' })
    await mailsOf(client)
    await start(client, 700)
    assert.deepEqual(await mailsOf(client), ['withdrawal-code to dona@example.com'])
  })

  test('is waited for in real time: a sandbox cannot advance its clock for it', async () => {
    const client = await api.client()
    await change(client, { email: 'ladrao@example.com' })
    await mailsOf(client)
    await advance(client, 30 * 24 * 3600)
    await start(client, 700)
    assert.deepEqual(await mailsOf(client), ['withdrawal-code to dona@example.com'])
  })

  test('by the operator gets codes at once, and the former address gets a mail', async () => {
    const client = await api.client()
    await operate(client, { email: 'nova@example.com' })
    const [former] = await lettersOf(api, client.company.id)
    assert.match(former!.text, /Os códigos para confirmar saques também vão para o novo endereço/)
    await mailsOf(client)
    await change(client, { email: 'ladrao@example.com' })
    await operate(client, { email: 'ladrao@example.com' })
    await mailsOf(client)
    await start(client, 700)
    assert.deepEqual(await mailsOf(client), ['withdrawal-code to ladrao@example.com'])
  })
})

describe('Pix key and tax id', () => {
  const FIXED = { pixKey: 'outra@example.com', taxId: '52998224725' }
  const live = () => api.client({ mode: 'live', pixKey: 'dona@example.com' })
  const refused = (client: Client, fields: object) =>
    assert.rejects(operate(client, fields), { code: 'invalid_value' })

  test('of a live company are changed while it has sold nothing but in dev mode', async () => {
    const client = await live()
    const charge = { amount: 700, customer: payer(), devMode: true }
    assert.equal((await client.post('/charge/pix', charge)).status, 201)
    const { after } = await operate(client, FIXED)
    assert.deepEqual([after.pixKey, after.taxId], ['outra@example.com', '52998224725'])
    await refused(client, { taxId: '52998224726' })
  })

  test('of a live company stay once a payer may have a code of it', async () => {
    const made = {
      charges: `insert into charges (company_id, id, kind, amount, status, payment_status, dev_mode,
                  br_code, created_at, expires_at)
                values ($1, gen_random_uuid(), 'PIX', 700, 'EXPIRED', 'EXPIRED', false, '0', now(),
                  now() + interval '1 hour')`,
      static_codes: `insert into static_codes values ($1, gen_random_uuid(), 700, false, '0', now())`,
    }
    for (const [table, text] of Object.entries(made)) {
      const client = await live()
      await api.rows(text, [client.company.id])
      for (const [name, value] of Object.entries(FIXED)) {
        await refused(client, { [name]: value })
        const own = client.company[name as keyof typeof FIXED]
        await operate(client, { [name]: own, city: 'Recife' })
      }
      const { body } = await client.get('/company')
      const { pixKey, taxId } = client.company
      assert.deepEqual([body.data.pixKey, body.data.taxId], [pixKey, taxId], table)
    }
  })

  test('a bank that sends withdrawals never sends them to the key that it collects by', async () => {
    const client = await live()
    await api.rows(
      `insert into bank_connections (company_id, id, profile, sealed, callback_id, payouts,
         payout_key, certificate_ends_at, connected_at)
       values ($1, gen_random_uuid(), 'efi', '', gen_random_uuid(), 'bank', 'saque@example.com',
         now(), now())`,
      [client.company.id],
    )
    await refused(client, { pixKey: 'saque@example.com' })
    await operate(client, { pixKey: 'outra@example.com' })
    await api.rows('delete from bank_connections')
  })

  test('of a sandbox can always be changed; codes of its charges are paid as before', async () => {
    const client = await api.client()
    const charge = await makeCharge(client, 700)
    await operate(client, FIXED)
    await pay(api, charge.brCode)
    const { body } = await client.get(`/charge/${charge.id}`)
    assert.equal(body.data.paymentStatus, 'PAID')
  })
})
