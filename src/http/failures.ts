import type { Socket } from 'node:net'
import type { FastifyError, FastifyRequest } from 'fastify'
import { newId, suffixOf } from '../lib/ids.ts'
import { acceptedLanguage, LANGUAGE_TAGS, type Language } from '../lib/language.ts'
import { describeError, type Log } from '../lib/log.ts'
import { failureIn, Problem, problem } from '../lib/problems.ts'
import { LATEST, type Version } from '../versions/history.ts'

/** The language of an answer: English, unless the client prefers Portuguese by its name. */
export const languageOfCall = ({ headers }: Pick<FastifyRequest, 'headers'>): Language =>
  acceptedLanguage(headers['accept-language']) ?? 'en'

type Rendered = { status: number; body: string; headers: Record<string, string> }

/** An error in a version and in a language. Its code, fields and status are the same in all. */
export const renderFailure = (fault: Problem, version: Version, language: Language): Rendered => ({
  status: fault.status,
  body: JSON.stringify(version.failure(failureIn(fault, language))),
  headers: {
    ...fault.headers,
    'Content-Language': LANGUAGE_TAGS[language],
    Vary: 'Accept-Language',
  },
})

/** Errors of Fastify get a code of the catalogue. Any other error is a bug of ours. */
export function toProblem(
  error: FastifyError | Problem,
  request: FastifyRequest,
  log: Log,
): Problem {
  if (error instanceof Problem) return error
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('payload_too_large', tooLarge(request.route?.largeBody?.bytes))
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_CONTENT_TYPE':
      return problem('unsupported_media_type', 'Send the body as Content-Type: application/json.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return problem('invalid_json', 'The body does not have the length that Content-Length says.')
    case 'ECONNRESET':
      return problem('invalid_json', 'The request ended before its body did.')
    case 'FST_ERR_BAD_URL':
      return problem('route_not_found', 'The path is not a valid URL path.')
    default:
      log.error({ ...describeError(error), reqId: request.id }, 'unexpected error')
      return problem('internal_error', `A fault of ours. Quote the request id ${request.id}.`)
  }
}

const KIB = 1024
const tooLarge = (bytes?: number) =>
  bytes ? `The body is larger than ${bytes / KIB} KiB. Send it in parts.` : undefined

/** Answers a request that is not valid HTTP in the usual form, because it reaches no route. */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const fault = tooLarge ? problem('headers_too_large') : problem('invalid_json', 'Not valid HTTP.')
  const { status, body } = renderFailure(fault, LATEST, 'en')
  socket.end(
    `HTTP/1.1 ${status} ${tooLarge ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
      `X-Request-Id: ${suffixOf(newId())}\r\nX-Api-Version: ${LATEST.name}\r\n` +
      'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n' +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}
