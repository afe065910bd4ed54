import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { render } from '../html.ts'
import { type Bar, barChart, scaleEnd } from './chart.ts'

const draw = (bars: Bar[], hasTable = true): string =>
  render(
    barChart(
      {
        id: 'c',
        title: 'Recebido por dia',
        heading: 'Dia',
        bars,
        series: { value: 'Recebido', before: 'Antes' },
        brief: String,
        write: (value) => `R$ ${value}`,
        hasTable,
      },
      'pt',
    ),
  )

const bar = (value: number, before?: number): Bar => ({
  label: `l${value}`,
  name: `n${value}`,
  value,
  ...(before === undefined ? {} : { before }),
})
const usual = Array.from({ length: 28 }, (_, i) => bar(100 + i, 90))

test('a few values far above the others are cut, with their value on the bar', () => {
  const page = draw([...usual, bar(9000), bar(12_000)])
  assert.equal(page.match(/class="gap"/g)?.length, 4)
  assert.match(page, /class="cut end low">9000</)
  // Its neighbour has a row of its own.
  assert.match(page, /class="cut end high">12000</)
  assert.match(page, /Barra cortada/)
})

test('without such values no bar is cut, and nothing is said of it', () => {
  for (const bars of [usual, [bar(1), bar(2), bar(5000)], [bar(0), bar(0)]]) {
    const page = draw(bars)
    assert.doesNotMatch(page, /class="gap"|class="cut|Barra cortada/)
  }
})

test('the scale ends above nine of ten values, and never above the highest one', () => {
  const values = fc.array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1, maxLength: 200 })
  fc.assert(
    fc.property(values, (all) => {
      const end = scaleEnd(all)
      const positive = all.filter((value) => value > 0)
      if (positive.length === 0) return
      assert.ok(end <= Math.max(...positive))
      const over = positive.filter((value) => value > end).length
      assert.ok(over <= Math.ceil(positive.length * 0.1), `${over} of ${positive.length} are cut`)
    }),
  )
})

test('each bar can be reached and says both of its values', () => {
  const page = draw([bar(10, 5), bar(20, 0), bar(30)])
  assert.equal(page.match(/<input type="radio" name="c"/g)?.length, 3)
  assert.match(page, /aria-label="n10\. Recebido: R\$ 10\. Antes: R\$ 5"/)
  assert.match(page, /aria-label="n30\. Recebido: R\$ 30"/)
  assert.doesNotMatch(page, / style=/)
})

test('the figures are a table below, the newest first, unless the page has one', () => {
  const page = draw([bar(10, 5), bar(20)])
  const cells = [...page.matchAll(/<td [^>]*>([^<]*)/g)].map(([, text]) => text)
  assert.deepEqual(cells, ['n20', 'R$ 20', '–', 'n10', 'R$ 10', 'R$ 5'])
  assert.doesNotMatch(draw([bar(10)], false), /<details>/)
})

test('a name is text, whatever it is', () => {
  const name = '"><script>alert(1)</script>'
  assert.doesNotMatch(draw([{ ...bar(1), name, label: name, note: name }]), /<script/)
})
