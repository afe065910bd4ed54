import { ConnectionError, VintemError } from '../../../packages/client/src/index.ts'
import { ClientFault } from '../command.ts'
import { asSentence, textOfError } from '../faults.ts'
import { plainLines } from './output.ts'

/** Whether a command of a client failed for a reason that its user can fix. */
export const isClientFault = (error: unknown): boolean =>
  error instanceof ClientFault || error instanceof VintemError

/** What is wrong and what to do, without a stack. */
export function textOfClientFault(error: unknown): string {
  return plainLines(error instanceof VintemError ? textOfAnswer(error) : textOfError(error))
}

function textOfAnswer(error: VintemError): string {
  const { status, message, errors, requestId } = error
  if (error instanceof ConnectionError)
    return `${asSentence(message)} Check --url, VINTEM_URL or the profile.`
  if (status === 401)
    return 'The server refuses the key: it is wrong or revoked. Check --key, VINTEM_KEY or the profile.'
  const texts = errors.map(({ description }) => asSentence(description)).join('\n')
  return status !== null && status >= 500 && requestId ? `${texts} Request: ${requestId}.` : texts
}

/** Runs a request. Its faults then have what was typed in place of the fields of the API. */
export async function asTyped<R>(
  request: PromiseLike<R>,
  typedAs: (field: string) => string,
): Promise<R> {
  try {
    return await request
  } catch (error) {
    if (!(error instanceof VintemError) || error.code !== 'invalid_value') throw error
    const faults = error.errors.map(({ description }) =>
      description.replace(/^[\w.[\]]+(?=:)/, typedAs),
    )
    throw new ClientFault(faults.map(asSentence).join('\n'))
  }
}

/** Whether the same question can be answered later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true
  const status = error instanceof VintemError ? (error.status ?? 0) : 0
  return status >= 500 || status === 408 || status === 429
}
