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

test('secrets can come from files, but not from a file and a variable at once', () => {
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
  assert.deepEqual(readConfig({ DATA_DIR: folder }).rateLimit, { perSecond: 500, burst: 1000 })
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

test('an unknown setting that resembles one of ours is named', () => {
  const DATA_DIR = join(folder, 'data')
  const typed = {
    SMPT_URL: 'SMTP_URL',
    PROCESES: 'PROCESSES',
    PLACE: 'PLACES',
    LOGLEVEL: 'LOG_LEVEL',
    PUBLIC_URI: 'PUBLIC_URL',
    SECRET_KEY_FLIE: 'SECRET_KEY_FILE',
    Rate_Limit: 'RATE_LIMIT',
  }
  for (const [name, meant] of Object.entries(typed)) {
    const { warnings } = readConfig({ DATA_DIR, [name]: 'secret-value' })
    assert.deepEqual(warnings, [`${name} is not a setting; did you mean ${meant}?`])
  }
  const both = { DATA_DIR, LOG_LEVEL: 'info', LOGLEVEL: 'info' }
  assert.deepEqual(readConfig(both).warnings, [], 'the right one is set too')
})

/** What systems, shells, containers, hosts and other programs set. */
const FOREIGN = `ALL_PROXY ANSIBLE_HOST APP_ENV APP_KEY APP_PORT APP_SECRET APP_URL
  AWS_ACCESS_KEY_ID AWS_REGION AWS_SECRET_ACCESS_KEY BASE_URL BASH_ENV BROWSER CACHE_URL CDPATH CI
  COLORTERM COLUMNS COMPOSE_PROJECT_NAME CONTAINER DATABASE DATABASES DATABASE_HOST DATABASE_NAME
  DATABASE_PASSWORD DATABASE_PORT DATABASE_USER DATA DBUS_SESSION_BUS_ADDRESS DB_HOST DB_PORT
  DB_URL DEBUG DEBIAN_FRONTEND DIRENV_DIR DISPLAY DOCKER_HOST DYNO EDITOR EMAIL ENV ERL_AFLAGS
  FLY_APP_NAME FORCE_COLOR FROM GIT_AUTHOR_NAME GOPATH GPG_TTY GROUPS HEROKU_APP_NAME HISTFILE
  HISTSIZE HOME HOSTALIASES HOSTNAME HOSTS HOSTTYPE HTTPS_PROXY HTTP_HOST HTTP_PORT HTTP_PROXY
  IFS INVOCATION_ID JAVA_HOME JOURNAL_STREAM JWT_SECRET KUBECONFIG KUBERNETES_PORT
  KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT LANG LANGUAGE LC_ALL LESS LINES LISTEN_FDS
  LISTEN_PID LOGNAME LOG_DIR LOG_FORMAT LS_COLORS MAIL MAILCHECK MAILER_DSN MAILER_URL MAILPATH
  MAILTO MAIL_HOST MAIL_PORT MANPATH METRICS_PORT MONGO_URL MOTD_SHOWN NAME NODE_ENV NODE_OPTIONS
  NODE_PATH NODE_VERSION NOTIFY_SOCKET NO_COLOR NO_PROXY NPM_CONFIG_CACHE NVM_DIR OLDPWD OPTARG
  OPTIND OSTYPE PAGER PAGES PALACE PALETTES PATH PGDATA PGDATABASE PGHOST PGPASSWORD PGPORT PGUSER
  PHP_INI_DIR PIDFILE PIPESTATUS PORTAGE PORTS POSTGRES_DB POSTGRES_HOST POSTGRES_PASSWORD
  POSTGRES_USER PPID PRIVATE_KEY PRIVATE_URL PROCESSOR PROCESSOR_ARCHITECTURE PS1 PUBLIC_DIR
  PUBLIC_KEY PWD PYTHONPATH RABBITMQ_URL RAILS_ENV RANDOM RATE REDIS_URL RENDER ROOT_URL RUNTIME_DIR
  SECRET SECRETS SECRET_KEY_BASE SENTRY_DSN SERVER_HOST SERVER_NAME SERVER_PORT SERVICE_URL
  SESSION_MANAGER SESSION_SECRET SHELL SHLVL SITE_URL SMTP_HOST SMTP_PASSWORD SMTP_PORT SMTP_USER
  SSH_AGENT_PID SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY STATIC_URL STRIPE_SECRET_KEY
  SUDO_USER SYSTEMD_EXEC_PID TERM TERM_PROGRAM TMP TMPDIR TMUX TZ UID UMASK USER USERNAME VERSION
  VIRTUAL_ENV VIRTUAL_HOST VISUAL WAYLAND_DISPLAY WEB_CONCURRENCY WINDOWID XAUTHORITY
  XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_SESSION_ID YARN_VERSION`.split(/\s+/)

test('what other programs set is not taken for one of our settings', () => {
  assert.ok(FOREIGN.length > 150)
  const foreign = Object.fromEntries(FOREIGN.map((name) => [name, 'x']))
  assert.deepEqual(readConfig({ DATA_DIR: join(folder, 'data'), ...foreign }).warnings, [])
})

test('a fault in PLACES names PLACES', () => {
  const faultsOf = (PLACES: string, more: Record<string, string> = { SECRET_KEY: KEY }) => {
    try {
      readConfig({ PLACES, ...more })
      return []
    } catch (error) {
      return (error as ConfigFault).faults
    }
  }
  assert.match(faultsOf(' ').join(), /^PLACES is set but empty/)
  assert.match(faultsOf('mysql://x').join(), /^PLACES must be addresses/)
  const standby = `${DATABASE_URL} postgres://two/vintem?target_session_attrs=standby`
  assert.match(faultsOf(standby).join(), /^PLACES asks for target_session_attrs=standby/)
  assert.match(faultsOf(DATABASE_URL, {}).join(), /^SECRET_KEY is required with PLACES/)
  assert.equal(readConfig({ PLACES: DATABASE_URL, SECRET_KEY: KEY }).databaseSetting, 'PLACES')
})
