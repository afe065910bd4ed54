import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webAddress } from './parts.ts'

test('a page links to http and https only, never to a script', () => {
  for (const url of ['https://loja.example/ok', 'http://loja.example', 'HTTPS://LOJA.EXAMPLE/']) {
    assert.equal(webAddress(url), url)
  }
  const others = [
    'javascript:alert(1)',
    'JavaScript://x%0aalert(1)',
    'data:text/html,x',
    'file:///x',
  ]
  for (const url of [...others, 'ftp://x', '//loja.example', '/ok', ' https://x', '', null]) {
    assert.equal(webAddress(url), null, String(url))
  }
})
