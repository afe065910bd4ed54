const MARKUP = Symbol('markup')

/** Markup that is safe to send: made by the template below, or our own. No JSON can pose as it. */
export type Html = { readonly [MARKUP]: string }

/** What a template takes. Whatever is not markup is text, and nothing shows as nothing. */
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

/** Our own markup as it is, such as an icon. Never for anything that somebody else wrote. */
export const raw = (markup: string): Html => ({ [MARKUP]: markup })

export const render = (page: Html): string => page[MARKUP]
