import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startApi } from '../support/api.ts'
import { longTest } from '../support/long.ts'
import { stopTime } from '../support/stopped-time.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const api = await startApi()

type Crawled = { links: Map<string, string[]>; ids: Map<string, Set<string>> }

/** Reads every page of the guides that a link leads to, from the first one on. */
async function crawl(language: string): Promise<Crawled> {
  const links = new Map<string, string[]>()
  const ids = new Map<string, Set<string>>()
  const paths = ['/guides']
  const headers = { 'Accept-Language': language }
  for (const path of paths) {
    const { status, text } = await api.call('GET', path, { headers })
    assert.equal(status, 200, path)
    const shown = text.replace(/<p class="forms.*?<\/p>/s, '')
    const own = [...shown.matchAll(/<a\b[^>]*\shref="([^"]*)"/g)].map(([, href]) => href!)
    links.set(path, own)
    ids.set(path, new Set([...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!)))
    for (const href of own) {
      const [target] = href.split('#')
      if (/^\/guides(\/|$)/.test(target!) && !paths.includes(target!)) paths.push(target!)
    }
  }
  return { links, ids }
}

for (const language of ['pt-BR', 'en']) {
  test(`every file of docs is a page, and every link leads to a page and to a place on it, in ${language}`, async () => {
    const { links, ids } = await crawl(language)
    const files = globSync('**/*.md', { cwd: join(ROOT, 'docs'), exclude: ['pt/**'] })
    // One more: that of the client.
    assert.equal(links.size, files.length + 1)
    const others = new Set<string>()
    for (const [path, own] of links) {
      for (const href of own) {
        const [target, anchor] = href.split('#')
        const page = target === '' ? path : target!
        if (/^https:\/\//.test(page)) continue
        if (!ids.has(page)) others.add(page)
        else if (anchor !== undefined) {
          assert.ok(ids.get(page)!.has(decodeURIComponent(anchor)), `${path} links to ${href}`)
        }
      }
    }
    for (const path of others) assert.equal((await api.call('GET', path)).status, 200, path)
    assert.deepEqual([...others].sort(), ['/', '/bank', '/dashboard', '/docs', '/mailbox'])
  })
}

const get = async (url: string, language?: string) => {
  const headers = language ? { 'Accept-Language': language } : {}
  return api.call('GET', url, { headers })
}

test('a guide is in the language of its reader, and the other one is a link away', async () => {
  const title = async (url: string, language?: string) =>
    /<h1>(.*?)<\/h1>/.exec((await get(url, language)).text)![1]
  assert.equal(await title('/guides'), 'Introdução')
  assert.equal(await title('/guides', 'en-US,en;q=0.9'), 'Introduction')
  assert.equal(await title('/guides?lang=en', 'pt-BR'), 'Introduction')
  assert.equal(await title('/guides?lang=pt', 'en'), 'Introdução')
  const { text, headers } = await get('/guides', 'pt-BR')
  assert.match(text, /<html lang="pt-BR">/)
  assert.equal(headers.get('content-language'), 'pt-BR')
  assert.match(text, /<a class="language" href="\/guides\?lang=en" hreflang="en" lang="en">Read in/)
})

test('a language that was chosen is kept in every link, and in the search', async () => {
  const { text } = await get('/guides?lang=en', 'pt-BR')
  const links = [...text.matchAll(/href="(\/guides[^"]*)"/g)].map(([, href]) => href!)
  assert.ok(links.length > 30)
  const lost = links.filter((href) => !/\?lang=(en|pt)\b/.test(href))
  assert.deepEqual(lost, [])
  assert.match(text, /<input type="hidden" name="lang" value="en">/)
})

test('an anchor of one language leads to the same place in the other', async () => {
  const portuguese = (await get('/guides', 'pt')).text
  assert.match(portuguese, /<h2 id="para-onde-ir"><span id="where-to-go"><\/span>/)
  assert.match((await get('/guides', 'en')).text, /<h2 id="where-to-go"><span id="para-onde-ir">/)
})

test('a page that is not translated says so, in its reader’s language', async () => {
  const note = 'Esta página ainda está só em inglês.'
  const { text } = await get('/guides/decisions', 'pt')
  assert.match(
    text,
    new RegExp(`<article class="card article" lang="en">\\s*<p[^>]*lang="pt-BR">.*${note}`),
  )
  assert.ok(!(await get('/guides/decisions', 'en')).text.includes(note))
  assert.ok(!(await get('/guides', 'pt')).text.includes(note))
})

test('every guide is Markdown under its address and .md, with links that work', async () => {
  const { text, headers } = await get('/guides.md', 'pt')
  assert.equal(headers.get('content-type'), 'text/markdown; charset=utf-8')
  assert.match(text, /^# Introdução\n/)
  const own = api.app.publicUrl
  assert.ok(text.includes(`curl -s ${own}/company -H`))
  assert.ok(text.includes(`](${own}/guides/webhooks.md)`))
  assert.match((await get('/guides.md?lang=en')).text, /^# Introduction\n/)
  const list = await get('/llms.txt?lang=en')
  assert.equal(list.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(list.text, /^# Vintém\n\n> .+\n/)
  const listed = [...list.text.matchAll(/^- \[.+\]\((.+?)\): .+$/gm)].map(([, address]) => address!)
  // Of the decisions only their list.
  const exclude = ['pt/**', 'decisions/0*']
  const files = globSync('**/*.md', { cwd: join(ROOT, 'docs'), exclude })
  const pages = listed.filter((address) => address.includes('/guides'))
  assert.equal(pages.length, files.length + 1)
  for (const address of pages) {
    assert.ok(address.startsWith(own), address)
    const { status, text } = await get(address.slice(own.length))
    assert.equal(status, 200, address)
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, href]) => href!)
    for (const href of links) assert.match(href, /^(https?:\/\/|#)/, `${address} links to ${href}`)
  }
  assert.match((await get('/llms.txt')).text, /^## Primeiros passos\n\n- \[Introdução\]/m)
})

test('a link to the server of the samples leads to the server that shows the page', async () => {
  const { text } = await api.call('GET', '/guides')
  assert.match(text, /<a href="\/bank">banco simulado<\/a>/)
  assert.match(text, /<a href="\/docs">Referência da API<\/a>/)
})

test('samples show the address of this server, and a proxy that of the service behind it', async () => {
  const own = api.app.publicUrl
  assert.notEqual(own, 'http://127.0.0.1:3000')
  for (const path of [
    '',
    '/start',
    '/subscriptions',
    '/webhooks',
    '/testing',
    '/agents',
    '/client',
  ]) {
    const shown = textOf((await api.call('GET', `/guides${path}`)).text)
    assert.ok(shown.includes(own), path)
    assert.ok(!shown.includes('127.0.0.1:3000'), path)
  }
  const { text } = await api.call('GET', '/guides/connect-a-bank')
  assert.match(text, /proxy_pass http:\/\/127\.0\.0\.1:3000;/)
})

/** The text of a page as a reader sees it. */
const textOf = (page: string): string =>
  page
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')

const search = async (query: string, language = 'pt') => {
  const { status, text } = await get(`/guides?q=${encodeURIComponent(query)}`, language)
  assert.equal(status, 200)
  const found = [...text.matchAll(/<li[^>]*><a href="([^"]+)">(.*?)<\/a>.*?<p>(.*?)<\/p><\/li>/gs)]
  return {
    text,
    title: textOf(/<h1>(.*?)<\/h1>/s.exec(text)![1]!),
    found: found.map(([, path, heading, passage]) => ({ path, heading, passage: passage! })),
  }
}

test('a search finds headings and paragraphs, whatever the accents and capitals', async () => {
  const { found } = await search('rotate-SECRET', 'en')
  assert.equal(found[0]!.path, '/guides/webhooks#change-the-secret')
  assert.match(found[0]!.passage, /<mark>rotate-secret<\/mark>/)
  for (const query of ['COBRANÇA em um minuto', 'cobranca minuto', 'cobranc\u0327a minuto']) {
    const [first] = (await search(query)).found
    assert.equal(first!.path, '/guides#a-primeira-cobrança-em-um-minuto', query)
  }
  // A word of the page's title need not be in the section too.
  const [link] = (await search('start payment link', 'en')).found
  assert.equal(link!.path, '/guides/start#a-payment-link')
})

test('a search knows words that mean the same, in both languages', async () => {
  for (const query of ['estorno', 'Reembolsos', 'devoluções', 'refund']) {
    const { found } = await search(query, 'en')
    assert.match(found[0]!.heading!, /<mark>refund<\/mark>/i, query)
    assert.ok((await search(query, 'pt')).found.length > 3, query)
  }
  const pages = async (query: string) => {
    const { found } = await search(query, 'en')
    return found.map(({ path }) => path!.split('#')[0])
  }
  for (const [query, page] of [
    ['vencimento', '/guides/due-dates'],
    ['boleto', '/guides/due-dates'],
    ['assinaturas', '/guides/subscriptions'],
    ['mensalidade', '/guides/subscriptions'],
    ['carnê', '/guides/batches-and-plans'],
    ['chargeback', '/guides/disputes'],
    ['saque', '/guides/dashboard'],
  ]) {
    assert.ok((await pages(query!)).includes(page!), `${query}: ${await pages(query!)}`)
  }
  // A page is found by what the other language says in the same place.
  const { found } = await search('one pays late, approves a subscription', 'pt')
  assert.ok(found.some(({ path }) => path === '/guides#a-primeira-cobrança-em-um-minuto'))
})

test('a search for nothing is the first page, and one without a result says so', async () => {
  const plain = await api.call('GET', '/guides')
  for (const query of ['', '%20%20', '&q=webhook']) {
    assert.equal((await api.call('GET', `/guides?q=${query}`)).text, plain.text)
  }
  const { title, found } = await search('xyzzy')
  assert.deepEqual([title, found], ['Nada encontrado para “xyzzy”', []])
})

test('what somebody searches for is text, and is cut when it is long', async () => {
  const { text, title } = await search('"><script>alert(1)</script>')
  assert.doesNotMatch(text, /<script>/)
  assert.equal(title, 'Nada encontrado para “"><script>alert(1)</script>”')
  const { title: long } = await search('é'.repeat(1000))
  assert.equal(long, `Nada encontrado para “${'é'.repeat(100)}”`)
})

test('a page is sent compressed, and not again to whom has it', async () => {
  const { server } = api.service
  const get = (headers: Record<string, string>) => server.inject({ url: '/guides/start', headers })
  const first = await get({ 'accept-encoding': 'gzip' })
  assert.equal(first.headers['content-encoding'], 'gzip')
  const plain = await get({})
  assert.equal(gunzipSync(first.rawPayload).toString(), plain.payload)
  const again = await get({ 'if-none-match': String(first.headers.etag) })
  assert.deepEqual([again.statusCode, again.payload], [304, ''])
  for (const reply of [first, plain, again]) {
    assert.match(String(reply.headers['content-security-policy']), /default-src 'none'/)
    assert.equal(reply.headers['cache-control'], 'public, no-cache')
  }
})

test('a path is found with a slash at its end, and nothing outside of docs', async () => {
  const { server } = api.service
  const moved = await server.inject('/guides/webhooks/')
  assert.deepEqual([moved.statusCode, moved.headers.location], [301, '/guides/webhooks'])
  for (const path of ['nothing', '../../package.json', '%2e%2e/%2e%2e/README', 'start/x', '%00']) {
    const { statusCode } = await server.inject({
      url: `/guides/${path}`,
      remoteAddress: '192.0.2.1',
    })
    assert.equal(statusCode, 404, path)
  }
})

longTest('searches are limited for each address, and for all together', async (t) => {
  stopTime(t)
  const limited = await startApi({ RATE_LIMIT: '500', TRUSTED_PROXIES: '127.0.0.1' })
  const { server } = limited.service
  const ask = async (from: string, url = '/guides?q=pix') =>
    (await server.inject({ url, headers: { 'x-forwarded-for': from } })).statusCode
  const statuses = []
  for (let n = 0; n < 101; n++) statuses.push(await ask(`2001:db8:5:1:${n.toString(16)}::1`))
  assert.deepEqual([statuses[99], statuses[100]], [200, 429])
  assert.equal(await ask('2001:db8:5:1::1', '/guides'), 200, 'pages are not searches')
  for (let n = 0; n < 400; n++) statuses.push(await ask(`2001:db8:6:${n.toString(16)}::1`))
  assert.equal(statuses.at(-1), 200)
  assert.equal(await ask('2001:db8:7::1'), 429, 'all together')
})
