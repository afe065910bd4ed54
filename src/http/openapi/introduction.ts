const ERRORS: Record<string, string> = {
  '2026-08-16': `Every answer is \`{status, message, data, errors}\`. On success \`errors\` is empty; on error \`data\` is null
and \`errors\` holds \`{code, description}\` items. Decide by \`code\`; it never changes. \`description\` tells people which
field breaks which rule. A validation error lists every violation, not only the first.`,
  '2025-01-01': `A success is the bare resource or array. An error is \`{statusCode, message, error}\`: decide by \`error\`, a
code that never changes; \`message\` tells people which fields break which rules. One error differs: starting a withdrawal while
another waits is \`{statusCode, message, withdrawId}\`.`,
}

const MISSPELLED = `

This version spells the payment status RECEIVED as \`RECIEVED\`, in answers and in the filter \`paymentStatus\`. The bodies of
events have no version: they say \`RECEIVED\`.`

/** What a reader has to know before the first call, in Markdown. */
export const introduction = (version: string, others: string): string => `
Instant payments (Pix) on a server of your own. Amounts are integers in cents, timestamps are ISO 8601.

## Keys

Send the key of your company as \`X-API-KEY\`. It decides whose records you see: those of another company answer like those that do
not exist, 404. A key has scopes, such as \`payments:write\`; each operation names the one that it needs. The operator of the server
makes keys, and takes them back.

## Errors

${ERRORS[version]!}

Quote \`X-Request-Id\` when you ask about an answer.

## Lists

Lists take \`limit\` and \`after\`. When there is more, the header \`Link\` holds the address of the next page, with \`rel="next"\`. Follow it
until it is missing.

## Retries

Send an \`Idempotency-Key\` of your own, such as a UUID, with whatever changes something, and the same again when no answer came:
for 24 hours the same key and request get the first answer again, with the header \`Idempotent-Replayed: true\`, and nothing happens
twice. While the first still runs the answer is 409 \`idempotency_in_progress\`; another request with the same key is 422
\`idempotency_key_reused\`. Retry 429 and 503, and 409 \`idempotency_in_progress\`, after \`Retry-After\` seconds where it is there;
otherwise wait longer each time.

## Versions

A company is pinned to a version; \`X-Api-Version\` chooses another one for a request, and every answer names its own. Within a
version answers only gain fields: ignore what you do not know. This document describes ${version}; ${others}.${version === '2025-01-01' ? MISSPELLED : ''}

## Events

Register a webhook and keep its \`secret\`, which is shown once. Verify the signature over the raw body, answer with any 2xx within 30
seconds, and work afterwards. An event may arrive twice or out of order: remember \`webhook-id\`, and read the record when its state
matters. A delivery that fails is tried again five times. Nothing is lost meanwhile: \`GET /event\` lists every event in order.

## Trying out

A sandbox company has play money and a simulated bank. Create a charge with \`devMode: true\` and pay it with
\`POST /charge/{chargeId}/simulate-payment\`; \`POST /sandbox/clock\` moves time.
`
