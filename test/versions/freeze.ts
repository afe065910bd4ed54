import type { Tried } from '../api/every-route.ts'
import type { Reply } from '../support/api.ts'

export type Frozen = {
  request: string
  answers: Record<string, { status: number; headers?: Record<string, string>; body: unknown }>
}

/** What differs from run to run, and the name it gets; equal values get the same number. */
const VOLATILE: [RegExp, string][] = [
  [
    /\b(charge|plan|link|clnt|prod|qrs|rec|wd|rfnd|evt|rcpt|dispute)_[0-9a-hjkmnp-tv-z]{26}\b/g,
    '$1_',
  ],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'uuid '],
  [/(?<=\/(?:pay|plan|element)\/)[\w-]{63}/g, 'token '],
  [/(?<=\/l\/)[0-9a-hjkmnp-tv-z]{26}/g, 'company '],
  [/\bE99999999\d{12}[0-9A-Za-z]{11}\b/g, 'endToEndId '],
  [/\bD99999999\d{12}[0-9A-Za-z]{11}\b/g, 'returnId '],
  [/\bR[RN]99999999\d{8}[0-9A-Za-z]{11}\b/g, 'externalRecurrenceId '],
  [/(?<=")000201[\x20\x21\x23-\x7e]*6304[0-9A-F]{4}(?=")/g, 'brCode '],
  [/data:image\/png;base64,[\w+/=]+/g, 'png '],
  [/vk_sandbox_\w+/g, 'key '],
  [/whsec_[\w+/=]{44}/g, 'secret '],
  [/(?<="code":")\d{6}(?=")/g, 'code '],
  [/(?<="id":"|after=)[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, 'requestId '],
  [/(?<="requestedAt":")[^"]+/g, 'moment '],
  [/(?<=")A[\w-]{42}(?=")|(?<=after=)A[\w-]{42}/g, 'delivery '],
]

/** The answers of one operation with placeholders for what differs from run to run. */
export function freeze(request: string, tried: Tried[]): Frozen {
  const numbers = new Map<string, string>()
  const answers = tried.map(({ name, reply }) => {
    const headers = headersOf(reply)
    const answer = {
      status: reply.status,
      ...(Object.keys(headers).length > 0 ? { headers } : {}),
      body: reply.body ?? reply.text,
    }
    let text = JSON.stringify(answer)
    for (const [pattern, kind] of VOLATILE) text = replaceAll(text, pattern, kind, numbers)
    // A number has no place for a name, and a moment keeps its form.
    text = text.replace(/"latencyMs":\d+/g, '"latencyMs":0')
    text = text.replace(/("lastUsedAt":")[^"]+/g, '$12026-08-20T15:00:00.000Z')
    return [name, JSON.parse(text)] as const
  })
  return { request, answers: Object.fromEntries(answers) }
}

/** The headers that are part of an answer: where the next page is, and what a file is. */
function headersOf({ headers, body }: Reply): Record<string, string> {
  const names = body === undefined ? ['link', 'content-type', 'content-disposition'] : ['link']
  return Object.fromEntries(
    names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!]] : [])),
  )
}

function replaceAll(
  text: string,
  pattern: RegExp,
  kind: string,
  numbers: Map<string, string>,
): string {
  return text.replace(pattern, (value, prefix) => {
    const name = kind.replace('$1', String(prefix))
    const taken = [...numbers.values()].filter((other) => other.startsWith(`<${name}`)).length
    if (!numbers.has(value)) numbers.set(value, `<${name}${taken + 1}>`)
    return numbers.get(value)!
  })
}
