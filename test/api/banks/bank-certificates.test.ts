import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectBank, disconnectBank } from '../../../src/core/banks/commands.ts'
import { listSetbacks } from '../../../src/core/setbacks.ts'
import { findProfile } from '../../../src/provider/bacen/profiles.ts'
import { watchCertificates } from '../../../src/worker/certificates.ts'
import { type Client, startApi } from '../../support/api.ts'
import { lettersOf } from '../../support/mail.ts'
import { cure, poisonRows } from '../../support/poison.ts'

const api = await startApi()
const DAY_S = 24 * 3600
const inDays = (days: number) => new Date(api.clock.now().getTime() + days * DAY_S * 1000)

const newLive = () => api.client({ mode: 'live', pixKey: 'dona@example.com' })

function connect({ company }: Client, certificateEndsAt: Date, profile = 'efi') {
  const certificate = { kind: 'pem', certificate: '', key: '', passphrase: null } as const
  const payouts = 'manual' as const
  const fields = {
    profile: findProfile(profile)!,
    clientId: 'c',
    clientSecret: 's',
    appKey: null,
    certificate,
    ca: null,
    account: null,
    payouts,
    certificateEndsAt,
  }
  const { db, vault, clock } = api.app
  return db.transaction((tx) => connectBank(tx, vault, company.id, fields, clock.now()))
}

const warnings = async ({ company }: Client) =>
  (await lettersOf(api, company.id)).filter(({ kind }) => kind === 'certificate-ending')

test('a company is warned 30 days before its certificate ends, once for each', async () => {
  const client = await newLive()
  await connect(client, inDays(31))
  await watchCertificates(api.app)
  assert.deepEqual(await warnings(client), [])
  api.clock.advance(DAY_S + 1)
  await Promise.all([watchCertificates(api.app), watchCertificates(api.app)])
  api.clock.advance(DAY_S)
  await watchCertificates(api.app)
  const [letter, ...others] = await warnings(client)
  assert.deepEqual([letter!.to, others], ['dona@example.com', []])
  assert.equal(letter!.subject, 'O certificado da conexão com Efí vence em 20/09/2026')
  assert.match(letter!.text, /vintem bank connect/)
  await connect(client, inDays(365))
  await watchCertificates(api.app)
  assert.equal((await warnings(client)).length, 1)
  await connect(client, inDays(5))
  await watchCertificates(api.app)
  assert.equal((await warnings(client)).length, 2, 'another certificate is another matter')
})

test('one company that cannot be warned does not keep others from it', async () => {
  const [broken, client] = [await newLive(), await newLive()]
  await connect(broken, inDays(1))
  await connect(client, inDays(2))
  await api.rows(`update bank_connections set sealed = '\\x00' where company_id = $1`, [
    broken.company.id,
  ])
  await watchCertificates(api.app)
  assert.equal((await warnings(client)).length, 1)
  assert.equal((await warnings(broken)).length, 0)
  await api.rows('delete from bank_connections where company_id = $1', [broken.company.id])
})

test('/metrics shows when every certificate ends, until its bank is disconnected', async () => {
  const client = await newLive()
  const endsAt = inDays(100)
  await connect(client, endsAt, 'sicoob')
  const { id: company } = client.company
  const line = async () => {
    const { text } = await api.operator('/metrics')
    const lines = text.split('\n').filter((one) => one.startsWith('vintem_bank_certificate_end'))
    return lines.find((one) => one.includes(company))
  }
  const name = 'vintem_bank_certificate_end_timestamp_seconds'
  const value = endsAt.getTime() / 1000
  assert.equal(await line(), `${name}{company="${company}",profile="sicoob"} ${value}`)
  await api.app.db.transaction((tx) => disconnectBank(tx, company))
  assert.equal(await line(), undefined)
})

test('/ready warns of certificates that end soon, and of those that have ended', async () => {
  await api.rows('delete from bank_connections')
  const ready = async () => (await api.operator('/ready')).body
  const client = await newLive()
  await connect(client, inDays(31))
  assert.deepEqual(await ready(), { status: 'ready', faults: [], warnings: [] })
  api.clock.advance(2 * DAY_S)
  const { status, warnings } = await ready()
  assert.equal(status, 'degraded')
  assert.match(warnings[0], /^1 bank certificate ends within 30 days: vintem bank show lists them/)
  api.clock.advance(30 * DAY_S)
  assert.match((await ready()).warnings[0], /\(1 of them ended already\)/)
})

test('a company that cannot be warned of its certificate keeps no other from its warning', async () => {
  const [sick, well] = [await newLive(), await newLive()]
  await connect(sick, inDays(5))
  await connect(well, inDays(6))
  await poisonRows(api, sick.company.id, ['bank_connections'])
  await watchCertificates(api.app)
  await cure(api)
  assert.deepEqual([(await warnings(sick)).length, (await warnings(well)).length], [0, 1])
  const aside = await listSetbacks(api.app.db, api.clock.now())
  assert.deepEqual(
    aside.map(({ task, companyId }) => [task, companyId]),
    [['watch certificates', sick.company.id]],
  )
  await watchCertificates(api.app)
  assert.equal((await warnings(sick)).length, 0, 'it is left alone')
  api.clock.advance(5)
  await watchCertificates(api.app)
  assert.equal((await warnings(sick)).length, 1)
})
