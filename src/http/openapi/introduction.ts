const ERRORS: Record<string, string> = {
  '2026-08-16': `Every answer is \`{status, message, data, errors}\`. On success \`errors\` is empty; on error
\`data\` is null and \`errors\` holds \`{code, description}\` items. Decide by \`code\`: it never changes.
\`description\` explains to people which field breaks which rule, and \`message\` is a summary. A validation
error lists its violations together, 20 at most, and \`message\` has the first.`,
  '2025-01-01': `A success is the bare resource or array. An error is \`{statusCode, message, error}\`. Decide by
\`error\`, a code that never changes; \`message\` explains to people what is wrong. One error differs: starting a
withdrawal while another one waits is \`{statusCode, message, withdrawId}\`.`,
}

const MISSPELLED = `

This version spells the payment status RECEIVED as \`RECIEVED\`, in answers and in the filter
\`paymentStatus\`. The bodies of events have no version: they have \`RECEIVED\`.`

/** What readers must know before their first call, in Markdown. */
export const introduction = (version: string, others: string): string => `
Instant payments (Pix) on a server of your own. Amounts are integers in cents, and timestamps are
ISO 8601. Tax ids, phones and postal codes may be sent with their punctuation. An optional text
that is empty counts as absent. Unknown query parameters are refused; unknown fields of a body are
ignored and named in the header \`X-Ignored-Fields\`, but refused where money moves or something is
deleted. The [guides](/guides) show first steps, webhooks and
subscriptions, with samples in curl, TypeScript, Python and PHP.

## Keys

Send the key of your company as \`X-API-KEY\`. The key decides whose records you see: a record of
another company is a 404, like one that does not exist. A key has scopes such as \`payments:write\`,
and each operation names the one it needs. The operator of the server creates and revokes keys.

## Errors

${ERRORS[version]!}

Messages and descriptions are in English; in Portuguese if \`Accept-Language\` prefers it, such as
\`pt-BR\`. Codes, fields and the status are the same. Quote \`X-Request-Id\` when you ask about an answer.

## Lists

Lists take \`limit\` and \`after\`. If there is more, the header \`Link\` has the address of the next
page with \`rel="next"\`. Follow it until it is missing.

## Retries

Send an \`Idempotency-Key\`, such as a new UUID, with every request that changes something. If no
answer comes, send the same request with the same key again: for 24 hours it gets the first answer,
with the header \`Idempotent-Replayed: true\`, and nothing happens twice. While the first request still
runs you get 409 \`idempotency_in_progress\`; a different request with the same key is 422
\`idempotency_key_reused\`.

Retry 409 \`idempotency_in_progress\`, 429 and 5xx. Wait as many seconds as \`Retry-After\` says; if it
is missing, wait longer each time.

## Versions

A company is pinned to a version. \`X-Api-Version\` chooses another one for a single request, and every
answer names its own. Within a version answers only gain fields, so ignore fields you do not know.
\`GET /company/version-changes\` shows how your own answers would change.
This document describes ${version}; ${others}.${version === '2025-01-01' ? MISSPELLED : ''}

## Events

Register a webhook and store its \`secret\`, which is shown once. Verify the signature over the raw body,
answer with any 2xx within 30 seconds, and do the work afterwards. A delivery that fails is tried
again five times. An event may arrive twice or out of order: store its \`webhook-id\`, and read the
record when you need its current state. \`GET /event\` lists every event in order, also those that you missed.

## Trying out

A sandbox company has play money and a simulated bank. Create a charge with \`devMode: true\`, pay it
with \`POST /charge/{chargeId}/simulate-payment\`, and move time with \`POST /sandbox/clock\`. All requests
as a collection for Postman or Bruno are at \`/collection.json\`.
`
