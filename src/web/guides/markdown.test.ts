import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { render } from '../html.ts'
import { readArticle } from './markdown.ts'

const resolve = (href: string) => (href.startsWith('#') ? href : null)
const show = (markdown: string) => render(readArticle(markdown).show({ resolve }))

test('markup in a file is shown as text, and a comment is left out', () => {
  assert.equal(
    show('a <b onclick="x()">c</b>'),
    '<p>a &lt;b onclick=&quot;x()&quot;&gt;c&lt;/b&gt;</p>\n',
  )
  assert.equal(show('<!-- from the code -->\n\ntext'), '<p>text</p>\n')
})

test('a link that leads nowhere is shown as text', () => {
  assert.equal(show('[a](../src/main.ts) [b](#c)'), '<p>a <a href="#c">b</a></p>\n')
  for (const href of ['javascript:alert(1)', 'data:text/html,x', '//evil.example']) {
    assert.equal(show(`[a](${href})`), '<p>a</p>\n', href)
  }
})

test('blocks of code in several languages are tabs, and one alone is not', () => {
  const block = (name: string) => `**${name}**\n\n\`\`\`x\n${name} <1>\n\`\`\`\n`
  const tabs = show(`${block('curl')}\n${block('PHP')}\nafter`)
  assert.equal([...tabs.matchAll(/type="radio"/g)].length, 2)
  assert.match(tabs, /<code>curl &lt;1&gt;<\/code>.*<code>PHP &lt;1&gt;<\/code>/s)
  assert.match(tabs, /<\/fieldset>.*<p>after<\/p>/s)
  assert.doesNotMatch(show(block('curl')), /radio/)
})

test('headings have the anchors of code hosts', () => {
  const { headings } = readArticle('# T\n\n## `GET /event`, é\n\n## Verify\n\n### Verify')
  assert.deepEqual(
    headings.map(({ id }) => id),
    ['get-event-é', 'verify', 'verify-1'],
  )
})

test('a heading in a quote or a list is a paragraph', () => {
  assert.equal(show('> # a'), '<blockquote><p>a</p>\n</blockquote>')
  assert.match(show('- # a'), /<li><p>a<\/p>\n<\/li>/)
})

test('no file makes markup of its own', () => {
  const pieces = fc.constantFrom(
    '<',
    '>',
    '"',
    '&',
    '`',
    '*',
    '[',
    '](',
    ')',
    '\n',
    '#',
    '|',
    'x',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      assert.doesNotMatch(show(`${parts.join('')}<script src="x">`), /<script/)
    }),
  )
})
