import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type ConfigFault, readConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'vintem-config-'))
after(() => rmSync(folder, { recursive: true }))
const KEY = Buffer.alloc(32, 9).toString('base64')
const DATABASE_URL = 'postgres://someone@db.example.com/vintem'

test('nothing set is local mode, with a secret that is made once and readable by its owner only', () => {
  const DATA_DIR = join(folder, 'data')
  const config = readConfig({ DATA_DIR })
  assert.equal(config.local, true)
  assert.deepEqual(
    [config.host, config.port, config.publicUrl],
    ['127.0.0.1', 3000, 'http://127.0.0.1:3000'],
  )
  assert.deepEqual(readConfig({ DATA_DIR }).secretKey, config.secretKey)
  assert.equal(statSync(join(DATA_DIR, 'secret.key')).mode & 0o777, 0o600)
})

test('a database of your own needs a secret of your own', () => {
  assert.throws(() => readConfig({ DATABASE_URL }), /SECRET_KEY is required/)
  assert.equal(readConfig({ DATABASE_URL, SECRET_KEY: KEY }).local, false)
})

test('secrets can come from files, but not from both places', () => {
  const SECRET_KEY_FILE = join(folder, 'key')
  writeFileSync(SECRET_KEY_FILE, `${KEY}\n`)
  const config = readConfig({ DATABASE_URL, SECRET_KEY_FILE })
  assert.equal(config.secretKey.toString('base64'), KEY)
  assert.throws(() => readConfig({ DATABASE_URL, SECRET_KEY_FILE, SECRET_KEY: KEY }), /both set/)
  assert.throws(
    () => readConfig({ DATABASE_URL, SECRET_KEY_FILE: join(folder, 'none') }),
    /missing or not readable/,
  )
})

test('every fault is reported at once, and none quotes a secret', () => {
  try {
    readConfig({
      DATABASE_URL: 'mysql://secret-password@x',
      SECRET_KEY: 'c2hvcnQ=',
      PORT: '70000',
      LOG_LEVEL: 'x',
      RATE_LIMIT: 'fast',
      SMTP_URL: 'http://secret-password@x',
      MAIL_FROM: 'nobody',
    })
    assert.fail('a faulty configuration was taken')
  } catch (error) {
    const { faults, message } = error as ConfigFault
    assert.deepEqual(
      faults.map((fault) => fault.split(' ')[0]),
      [
        'DATABASE_URL',
        'LOG_LEVEL',
        'SECRET_KEY',
        'RATE_LIMIT',
        'PORT',
        'SMTP_URL',
        'MAIL_FROM',
      ].sort((a, b) => message.indexOf(a) - message.indexOf(b)),
    )
    assert.ok(!message.includes('secret-password') && !message.includes('c2hvcnQ='))
  }
})

test('the rate limit can be switched off', () => {
  assert.equal(readConfig({ DATA_DIR: folder, RATE_LIMIT: 'off' }).rateLimit, null)
  assert.deepEqual(readConfig({ DATA_DIR: folder }).rateLimit, { perSecond: 100, burst: 200 })
})

test('an empty DATABASE_URL is a fault, not a silent change to local mode', () => {
  const DATABASE_URL_FILE = join(folder, 'empty')
  writeFileSync(DATABASE_URL_FILE, '\n')
  assert.throws(() => readConfig({ DATABASE_URL_FILE, SECRET_KEY: KEY }), /DATABASE_URL is set but/)
})

test('addresses are read as people write them', () => {
  const environment = { DATA_DIR: folder, HOST: '::1', TRUSTED_PROXIES: '10.0.0.1, 10.1.0.0/16' }
  const config = readConfig(environment)
  assert.equal(config.publicUrl, 'http://[::1]:3000')
  assert.deepEqual(config.trustedProxies, ['10.0.0.1', '10.1.0.0/16'])
  assert.throws(() => readConfig({ DATA_DIR: folder, TRUSTED_PROXIES: 'nginx' }), /TRUSTED_PROXIES/)
})

test('mails are kept as files unless a server is named, and come from the public address', () => {
  const config = readConfig({ DATA_DIR: folder, PUBLIC_URL: 'https://pix.example.com' })
  assert.deepEqual([config.smtpUrl, config.mailFrom], [null, 'Vintém <no-reply@pix.example.com>'])
  const SMTP_URL = 'smtps://user:pass%40word@mail.example.com'
  const MAIL_FROM = 'Padaria, a boa <oi@example.com>'
  const own = readConfig({ DATA_DIR: folder, SMTP_URL, MAIL_FROM })
  assert.deepEqual([own.smtpUrl, own.mailFrom], [SMTP_URL, MAIL_FROM])
})

test('where the public address is no domain, mails come from localhost', () => {
  for (const PUBLIC_URL of ['http://10.0.0.1', 'http://[::1]:3000', 'http://my_host']) {
    const { mailFrom } = readConfig({ DATA_DIR: folder, PUBLIC_URL })
    assert.equal(mailFrom, 'Vintém <no-reply@localhost>')
  }
})

test('a sender that is not one address is a fault', () => {
  for (const MAIL_FROM of [
    'x',
    'a@b.c, d@e.f',
    'A <a@b.c> B',
    '<a@b.c\nBcc: d@e.f>',
    'A <a b@c.d>',
  ]) {
    assert.throws(() => readConfig({ DATA_DIR: folder, MAIL_FROM }), /MAIL_FROM must be/)
  }
})

test('processes are a number, or as many as there are cores', () => {
  const processes = (PROCESSES?: string) => {
    return readConfig({ DATA_DIR: folder, PROCESSES }).processes
  }
  assert.equal(processes(), 1)
  assert.equal(processes('3'), 3)
  assert.equal(processes('auto'), Math.min(availableParallelism(), 64))
  for (const wrong of ['0', '-1', '65', '1.5', 'all', '2x']) {
    assert.throws(
      () => processes(wrong),
      /PROCESSES must be a whole number from 1 to 64, or auto for one for each core/,
    )
  }
})
