import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formTokenOf } from '../../src/core/people/sessions.ts'
import { newId, suffixOf } from '../../src/lib/ids.ts'
import { qrPng } from '../../src/pix/qr.ts'
import { startApi } from '../support/api.ts'
import { type Member, signIn } from '../support/dashboard.ts'
import { isLong } from '../support/long.ts'
import { assertYields } from '../support/loop.ts'

const api = await startApi()
const LOGO = qrPng('https://example.com')

/** Sends a file as a browser does. */
async function upload(member: Member, file: Buffer | null, fields: Record<string, string> = {}) {
  const form = new FormData()
  form.set('token', fields.token ?? formTokenOf(api.app.vault, member.session))
  form.set('once', suffixOf(newId()))
  if (file) form.set('file', new Blob([new Uint8Array(file)]), 'logo.png')
  const reply = await fetch(`${api.url}${member.home}${fields.path ?? '/settings/logo'}`, {
    method: 'POST',
    body: form,
    headers: { cookie: member.cookie },
    redirect: 'manual',
  })
  return { status: reply.status, text: await reply.text(), to: reply.headers.get('location') }
}

test('a logo is rebuilt, stored, and served so that it can be nothing else', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const hidden = Buffer.concat([LOGO, Buffer.from('<script>hidden</script>')])
  const sent = await upload(owner, hidden)
  assert.match(sent.to ?? sent.text, /\/settings\/logo\?done=saved$/)
  const { imageUrl } = (await client.get('/company')).body.data
  const { pathname, origin } = new URL(imageUrl)
  assert.equal(origin, api.app.publicUrl)
  assert.match(pathname, new RegExp(`^/logos/${client.company.id}/[0-9a-f]{32}\\.png$`))
  const served = await fetch(api.url + pathname)
  const bytes = Buffer.from(await served.arrayBuffer())
  assert.ok(!bytes.includes('hidden'))
  const header = (name: string) => served.headers.get(name)
  assert.equal(header('content-type'), 'image/png')
  assert.equal(header('x-content-type-options'), 'nosniff')
  assert.equal(header('content-security-policy'), "default-src 'none'; sandbox")
  assert.match(header('cache-control')!, /immutable/)
  const again = await fetch(api.url + pathname, { headers: { 'If-None-Match': header('etag')! } })
  assert.equal(again.status, 304)
  assert.ok((await owner.get('/settings/logo')).text.includes(imageUrl))
  assert.match((await owner.post('/settings/logo/remove')).location!, /done=removed$/)
  assert.equal((await client.get('/company')).body.data.imageUrl, undefined)
})

test('what is not an image, or too large, is refused with a reason', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const tried: [Buffer | null, RegExp][] = [
    [null, /Escolha um arquivo/],
    [Buffer.alloc(0), /Escolha um arquivo/],
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /SVG, WebP e GIF não são aceitos/],
    [LOGO.subarray(0, -20), /PNG ou JPEG íntegro/],
    [Buffer.alloc(256 * 1024 + 1), /mais de 256 KB/],
  ]
  for (const [file, reason] of tried) {
    const { status, text } = await upload(owner, file)
    assert.equal(status, 400)
    assert.match(text, reason)
  }
  assert.equal((await upload(owner, Buffer.alloc(2 * 1024 * 1024))).status, 413)
  assert.equal((await api.rows('select 1 from logos')).length, 1)
})

test('only an owner with a form of their session uploads, and only there', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const finance = await signIn(api, client.company, { role: 'finance' })
  assert.equal((await upload(finance, LOGO)).status, 403)
  assert.equal((await upload(owner, LOGO, { token: 'x'.repeat(22) })).status, 400)
  assert.equal((await upload(owner, null, { path: '/settings' })).status, 415)
  const broken = await fetch(`${api.url}${owner.home}/settings/logo`, {
    method: 'POST',
    body: '--x\r\nnonsense',
    headers: { cookie: owner.cookie, 'content-type': 'multipart/form-data; boundary=y' },
  })
  assert.equal(broken.status, 400)
  assert.equal((await client.get('/company')).body.data.imageUrl, undefined)
})

test('the newest five logos are kept, and no other name shows one', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const urls: string[] = []
  for (let i = 0; i < 6; i++) {
    api.clock.advance(1)
    await upload(owner, qrPng(`logo ${i}`))
    urls.push(new URL((await client.get('/company')).body.data.imageUrl).pathname)
  }
  const statuses = await Promise.all(urls.map(async (url) => (await fetch(api.url + url)).status))
  assert.deepEqual(statuses, [404, 200, 200, 200, 200, 200])
  const [last] = urls.toReversed()
  for (const url of [
    last!.replace('.png', '.jpg'),
    last!.replace(client.company.id, newId()),
    '/logos/x/y.png',
  ]) {
    assert.equal((await fetch(api.url + url)).status, 404, url)
  }
})

const HEAD = 'content-disposition: form-data; name="a"'
const MAX_BYTES = 1024 * 1024 - 1024
const filled = (piece: string) => piece.repeat(Math.floor(MAX_BYTES / piece.length))
/** Forms that take long to parse. */
const WORST: Record<string, string> = {
  'many fields': `${filled(`--b\r\n${HEAD}\r\n\r\n\r\n`)}--b--\r\n`,
  'many headers': `--b\r\n${filled('x: y\r\n')}${HEAD}\r\n\r\nz\r\n--b--\r\n`,
  'a long name': `--b\r\n${HEAD.replace('"a"', `"${filled('%')}"`)}\r\n\r\nz\r\n--b--\r\n`,
  'many ends': `--b\r\n${HEAD}\r\n\r\n${filled('\r\n--')}\r\n--b--\r\n`,
}

async function sendRaw(
  url: string,
  body: string,
  cookie = '',
  type = 'multipart/form-data; boundary=b',
): Promise<number> {
  const headers = { cookie, 'content-type': type }
  const reply = await fetch(url, { method: 'POST', body, headers, redirect: 'manual' })
  return reply.status
}

test('no form with a file keeps the event loop for 50 ms, and no stranger sends one', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  const url = `${api.url}${owner.home}/settings/logo`
  for (const [name, body] of Object.entries(WORST)) {
    await assertYields(name, async () => assert.equal(await sendRaw(url, body, owner.cookie), 400))
    assert.equal(await sendRaw(url, body), 303, `${name}, of a stranger`)
  }
  // It is not even read: what is no form at all is answered in the same way.
  assert.equal(await sendRaw(url, 'nonsense'), 303)
})

/** Headers whose boundary can be read in more than one way. */
const BOUNDARIES = [
  'multipart/form-data; xboundary=aaa; boundary=b',
  'multipart/form-data; boundary="b"',
  'multipart/form-data; boundary=b; boundary=c',
  'multipart/form-data; boundary=c; boundary=b',
  'multipart/form-data; x="; boundary=c"; boundary=b',
  'Multipart/Form-Data; BOUNDARY=b',
  'multipart/form-data;boundary=b;charset=utf-8',
  "multipart/form-data; boundary*=utf-8''b",
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'b'.repeat(10_000)}`,
]

test('however a form names its boundary, few parts are read, and none of who may not send it', async () => {
  const { company } = await api.client()
  const owner = await signIn(api, company)
  const viewer = await signIn(api, company, { role: 'viewer' })
  const url = `${api.url}${owner.home}/settings/logo`
  const token = formTokenOf(api.app.vault, owner.session)
  const field = `--b\r\n${HEAD.replace('"a"', '"token"')}\r\n\r\n${token}\r\n`
  const bodies: Record<string, string> = {
    ...WORST,
    'empty parts': `${filled('--b\r\n\r\n\r\n')}--b--\r\n`,
    'bare boundaries': filled('--b\r\n'),
    'empty parts behind the token': `${field}${filled('--b\r\n\r\n\r\n').slice(0, -1000)}--b--\r\n`,
    'empty parts behind a file': `${field}--b\r\n${HEAD}; filename="a"\r\n\r\n${'x'.repeat(200_000)}\r\n${filled('--b\r\n\r\n\r\n').slice(0, -201_000)}`,
    'a form in a form': `${field}--b\r\ncontent-type: multipart/mixed; boundary=c\r\n${HEAD}\r\n\r\n${filled('--c\r\n\r\n\r\n').slice(0, -1000)}`,
  }
  for (const [at, type] of BOUNDARIES.entries()) {
    for (const [n, [name, body]] of Object.entries(bodies).entries()) {
      // `npm test` sends each of them once.
      if (!isLong && n % BOUNDARIES.length !== at) continue
      const what = `${name}, ${type.slice(0, 60)}`
      await assertYields(what, async () => {
        assert.equal(await sendRaw(url, body, owner.cookie, type), 400, what)
      })
    }
    // Of a viewer nothing is parsed: what is no form at all is answered in the same way.
    assert.equal(await sendRaw(url, WORST['many fields']!, viewer.cookie, type), 403)
    assert.equal(await sendRaw(url, 'nonsense', viewer.cookie, type), 403)
  }
})

test('a form with a file is refused at its first field if that is not its token', async () => {
  const client = await api.client()
  const owner = await signIn(api, client.company)
  const token = formTokenOf(api.app.vault, owner.session)
  const late = new FormData()
  late.set('once', suffixOf(newId()))
  late.set('token', token)
  late.set('file', new Blob([new Uint8Array(LOGO)]), 'logo.png')
  const reply = await fetch(`${api.url}${owner.home}/settings/logo`, {
    method: 'POST',
    body: late,
    headers: { cookie: owner.cookie },
    redirect: 'manual',
  })
  assert.equal(reply.status, 400)
  assert.equal((await client.get('/company')).body.data.imageUrl, undefined)
  assert.match((await upload(owner, LOGO)).to ?? '', /done=saved$/)
})
