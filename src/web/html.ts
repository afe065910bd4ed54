const MARKUP = Symbol('markup')

/** Markup that is safe to send, from the template below or our own. No JSON can produce it. */
export type Html = { readonly [MARKUP]: string }

/** A value in a template. If it is not markup, it is text. Null, undefined and false are empty. */
export type Shown = Html | string | number | null | undefined | false | Shown[]

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c]!)

function textOf(value: Shown): string {
  if (value === null || value === undefined || value === false) return ''
  if (Array.isArray(value)) return value.map(textOf).join('')
  return typeof value === 'object' ? value[MARKUP] : escaped(String(value))
}

/** A page or a part of one. Values are escaped; attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...values: Shown[]): Html {
  let text = parts[0]!
  for (const [i, value] of values.entries()) text += textOf(value) + parts[i + 1]!
  return { [MARKUP]: text }
}

/** Markup of our own, such as an icon. Never use it for text from outside. */
export const raw = (markup: string): Html => ({ [MARKUP]: markup })

export const render = (page: Html): string => page[MARKUP]
