import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import PostalMime, { type Email } from 'postal-mime'
import { freePort, temporaryFolder } from '../../test/support/process.ts'
import { refusal, startSmtp } from '../../test/support/smtp.ts'
import { systemClock } from './clock.ts'
import { newId } from './ids.ts'
import { createMailer, isPermanent, type Mail, type Mailer } from './mailer.ts'

const FROM = 'Padaria, a boa <oi@example.com>'

const mail = (fields: Partial<Mail> = {}): Mail => ({
  id: newId(),
  createdAt: new Date('2026-08-20T15:00:00Z'),
  to: 'maria@example.com',
  subject: 'Cobrança de R$ 19,90 – pão de açúcar',
  text: 'Olá, açúcar!\n\n.\nhttps://vintem.test/pay/x\n',
  html: '<p>Olá, <b>açúcar</b>!</p>\n',
  ...fields,
})

/** The parser counts the line end that belongs to the boundary after a part. */
const partsOf = ({ text = '', html = '' }: Email) =>
  [text, html].map((part) => part.replace(/\n$/, ''))

const PACE = { connections: 6, clock: systemClock }

function overSmtp(smtpUrl: string): Mailer {
  const mailer = createMailer({ smtpUrl, from: FROM, folder: '/nowhere', ...PACE })
  after(() => mailer.close())
  return mailer
}

const intoFiles = (folder: string) => createMailer({ smtpUrl: null, from: FROM, folder, ...PACE })

const failureOf = (sending: Promise<void>): Promise<Error> =>
  sending.then(
    () => assert.fail('the mail was taken'),
    (error) => error,
  )

test('a mail arrives in both parts as it was written, from one sender for one recipient', async () => {
  const smtp = await startSmtp()
  const sent = mail()
  await overSmtp(smtp.url).send(sent)
  const [{ from, to, mail: got, raw } = assert.fail()] = smtp.received
  assert.deepEqual([from, to], ['oi@example.com', ['maria@example.com']])
  assert.deepEqual([got.subject, ...partsOf(got)], [sent.subject, sent.text, sent.html])
  assert.deepEqual([got.from?.name, got.from?.address], ['Padaria, a boa', 'oi@example.com'])
  assert.deepEqual([got.to?.length, got.to?.[0]?.address], [1, 'maria@example.com'])
  assert.equal(got.messageId, `<${sent.id}@example.com>`)
  assert.equal(new Date(got.date!).toISOString(), sent.createdAt.toISOString())
  assert.match(raw, /^Content-Type: multipart\/alternative;/m)
  assert.doesNotMatch(raw, /nodemailer/i)
})

test('sent again, it is the same message to the last byte', async () => {
  const smtp = await startSmtp()
  const mailer = overSmtp(smtp.url)
  const sent = mail()
  await mailer.send(sent)
  await mailer.send(sent)
  const [first, second] = smtp.received.map(({ raw }) => raw)
  assert.equal(first, second)
})

test('TLS is used where it is offered, and an unknown certificate is not trusted', async () => {
  const smtp = await startSmtp({ disabledCommands: ['AUTH'] })
  assert.equal(isPermanent(await failureOf(overSmtp(smtp.url).send(mail()))), false)
  await overSmtp(`${smtp.url}?tls.rejectUnauthorized=false`).send(mail())
  assert.deepEqual(
    smtp.received.map(({ secure }) => secure),
    [true],
  )
})

test('only a refusal of the recipient or of the message itself is for good', async () => {
  const codeIn = (address: string) => Number(/\d+/.exec(address)?.[0] ?? 0)
  const smtp = await startSmtp({
    onMailFrom: ({ address }, _, done) => done(codeIn(address) ? refusal(550) : null),
    onRcptTo: ({ address }, _, done) => done(codeIn(address) ? refusal(codeIn(address)) : null),
  })
  const mailer = overSmtp(smtp.url)
  const isForGood = async (to: string) => isPermanent(await failureOf(mailer.send(mail({ to }))))
  assert.equal(await isForGood('x550@example.com'), true)
  assert.equal(await isForGood('x553@example.com'), true)
  assert.equal(await isForGood('x450@example.com'), false)
  assert.equal(await isForGood('x421@example.com'), false)
  await mailer.send(mail())
  assert.equal(smtp.received.length, 1, 'the others are not held up')

  const spam = await startSmtp({ onData: (stream, _, done) => drain(stream, done, refusal(554)) })
  assert.equal(isPermanent(await failureOf(overSmtp(spam.url).send(mail()))), true)
  const sender = createMailer({ smtpUrl: smtp.url, from: 'x1@example.com', folder: '', ...PACE })
  assert.equal(isPermanent(await failureOf(sender.send(mail()))), false)
  sender.close()
})

const drain = (stream: NodeJS.ReadableStream, done: (error: Error) => void, error: Error) =>
  stream.on('end', () => done(error)).resume()

test('a wrong password and a server that is away are no permanent failures', async () => {
  const smtp = await startSmtp({
    disabledCommands: ['STARTTLS'],
    authOptional: false,
    onAuth: ({ password }, _, done) =>
      password === 's€same' ? done(null, { user: 'u' }) : done(refusal(535)),
  })
  const url = (password: string) => smtp.url.replace('//', `//u:${encodeURIComponent(password)}@`)
  assert.equal(isPermanent(await failureOf(overSmtp(url('wrong')).send(mail()))), false)
  await overSmtp(url('s€same')).check()
  await overSmtp(url('s€same')).send(mail())
  const away = overSmtp(`smtp://127.0.0.1:${await freePort()}`)
  assert.equal(isPermanent(await failureOf(away.send(mail()))), false)
  await assert.rejects(away.check(), /ECONNREFUSED/)
})

const HOSTILE = [
  'maria@example.com\r\nBcc: eve@example.com',
  'maria@example.com, eve@example.com',
  'maria@example.com>\r\nRCPT TO:<eve@example.com',
  '<eve@example.com> maria@example.com',
  'Eve <eve@example.com>',
  'maria@example.com\0',
  '',
]

test('no recipient smuggles in another one or a header', async () => {
  const smtp = await startSmtp()
  const folder = temporaryFolder()
  for (const mailer of [overSmtp(smtp.url), intoFiles(folder)]) {
    for (const to of HOSTILE) {
      const failure = await failureOf(mailer.send(mail({ to })))
      assert.equal(isPermanent(failure), true, to)
    }
  }
  assert.deepEqual([smtp.received, readdirSync(folder)], [[], []])
})

test('no subject smuggles in a header or a part', async () => {
  const smtp = await startSmtp()
  const subject = 'Oi\r\nBcc: eve@example.com\r\n\r\n<p>eve</p>\u2028X: y\n\tz'
  await overSmtp(smtp.url).send(mail({ subject }))
  const [{ to, mail: got } = assert.fail()] = smtp.received
  assert.deepEqual(to, ['maria@example.com'])
  assert.equal(got.bcc, undefined)
  assert.equal(got.subject, 'Oi Bcc: eve@example.com <p>eve</p> X: y z')
  assert.deepEqual(partsOf(got), [mail().text, mail().html])
})

test('a mail in somebody’s name keeps our address, and answers go to them', async () => {
  const smtp = await startSmtp()
  const names = [
    'Padaria São João',
    'João, "Pães" <& Cia>',
    '🍞🥐',
    'a'.repeat(255),
    'é'.repeat(255),
    'Eve\r\nBcc: eve@example.com\r\n\r\n<p>eve</p>',
    'Eve <eve@example.com>, Adam',
  ]
  for (const name of names) {
    const sender = { name, replyTo: 'padaria@example.com' }
    await overSmtp(smtp.url).send(mail({ sender }))
    const { from, to, mail: got } = smtp.received.at(-1)!
    assert.deepEqual([from, to, got.bcc], ['oi@example.com', ['maria@example.com'], undefined])
    assert.equal(got.from?.address, 'oi@example.com')
    assert.equal(got.from?.name, name.replace(/[\r\n]+/g, ' '))
    assert.deepEqual(
      got.replyTo?.map(({ address }) => address),
      ['padaria@example.com'],
    )
    assert.deepEqual(partsOf(got), [mail().text, mail().html])
  }
})

test('an answer goes to one address or to none that somebody else has named', async () => {
  const smtp = await startSmtp()
  for (const replyTo of HOSTILE) {
    await overSmtp(smtp.url).send(mail({ sender: { name: 'Padaria', replyTo } }))
    assert.equal(smtp.received.at(-1)!.mail.replyTo, undefined, replyTo)
  }
  await overSmtp(smtp.url).send(mail())
  const [{ raw } = assert.fail()] = smtp.received.slice(-1)
  assert.doesNotMatch(raw, /^Reply-To:/m)
})

test('without a server a mail is a whole file that only its owner reads', async () => {
  const folder = join(temporaryFolder(), 'deep', 'mail')
  const mailer = intoFiles(folder)
  await mailer.check()
  const sent = mail()
  await mailer.send(sent)
  const [name = ''] = readdirSync(folder)
  assert.equal(name, `${sent.id}.eml`)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600)
  const got = await PostalMime.parse(readFileSync(join(folder, name)))
  assert.deepEqual([got.subject, ...partsOf(got)], [sent.subject, sent.text, sent.html])
  assert.equal(got.messageId, `<${sent.id}@example.com>`)
})

test('a retry writes the same file again, and files sort by time', async () => {
  const folder = temporaryFolder()
  const mailer = intoFiles(folder)
  const mails = Array.from({ length: 5 }, () => mail())
  for (const sent of [...mails, ...mails.toReversed()]) await mailer.send(sent)
  assert.deepEqual(
    readdirSync(folder).sort(),
    mails.map(({ id }) => `${id}.eml`),
  )
})

test('a folder that cannot be written is reported', async () => {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  await assert.rejects(intoFiles(join(file, 'mail')).check())
  assert.equal(isPermanent(await failureOf(intoFiles(join(file, 'mail')).send(mail()))), false)
})
