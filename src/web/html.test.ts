import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html, raw, render } from './html.ts'

const EVIL = `<img src=x onerror="alert('1')">&`

test('values are text, in content and in attributes', () => {
  const safe = '&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;'
  assert.equal(render(html`<p title="${EVIL}">${EVIL}</p>`), `<p title="${safe}">${safe}</p>`)
})

test('templates are put into templates as they are, and lists one after another', () => {
  const items = ['a', '<b>'].map((text) => html`<li>${text}</li>`)
  assert.equal(render(html`<ul>${items}</ul>`), '<ul><li>a</li><li>&lt;b&gt;</li></ul>')
  assert.equal(render(html`${raw('<svg></svg>')}`), '<svg></svg>')
})

test('null, undefined and false are empty, and zero is 0', () => {
  assert.equal(render(html`${null}${undefined}${false}${0}${''}`), '0')
})

test('parsed JSON is never taken for markup', () => {
  const posed = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>"}')
  assert.doesNotMatch(render(html`${posed}`), /<b>/)
})
