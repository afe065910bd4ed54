import assert from 'node:assert/strict'

/** An element of XML without attributes. One with elements has no text of its own. */
export type Element = { name: string; children: Element[]; text: string }

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

/**
 * The elements of a document. Strict: if an element is not closed in its order, or a character is
 * not escaped, it fails.
 */
export function elementsOf(xml: string): Element[] {
  const root: Element = { name: '', children: [], text: '' }
  const open = [root]
  const body = xml.replace(/<\?[^>]*\?>/g, '')
  for (const [, closes, name, text] of body.matchAll(/<(\/?)(\w+)>|([^<]+)/g)) {
    const last = open.at(-1)!
    if (text !== undefined) {
      assert.doesNotMatch(text.replace(/&(amp|lt|gt);/g, ''), /[&<>]/, text)
      last.text += text.replace(/&\w+;/g, (entity) => ENTITIES[entity]!)
    } else if (closes) {
      assert.equal(name, open.pop()!.name)
    } else {
      const element = { name: name!, children: [], text: '' }
      last.children.push(element)
      open.push(element)
    }
  }
  assert.deepEqual(open, [root], 'all elements are closed')
  assert.equal(body.replace(/<\/?\w+>|[^<]+/g, ''), '', 'nothing else is between the elements')
  return root.children
}
