import { type BrCode, dynamicCode, parse, recurrenceCode } from '../../pix/brcode.ts'
import type { Payee } from '../port.ts'
import { type Fields, fieldsOf, readLocation, textOf } from './text.ts'

/**
 * The code of a charge: the bank's own text, or a code that is built from the location of the
 * payload. Null when neither is a code that can be paid.
 */
export function chargeCode(body: Fields, codeFields: string[], payee: Payee): string | null {
  const location = readLocation(body.location) ?? readLocation(fieldsOf(body.loc).location)
  const texts = codeFields.map((name) => textOf(body[name]))
  const built = location && dynamicCode({ location, name: payee.name, city: payee.city })
  return firstValid([...texts, built], ({ kind }) => kind === 'dynamic')
}

/** The code that asks a payer to agree to a recurrence. It pays nothing. */
export function agreementCode(body: Fields, payee: Payee): string | null {
  const text = textOf(fieldsOf(body.dadosQR).pixCopiaECola)
  const location = readLocation(fieldsOf(body.loc).location)
  const built = location && recurrenceCode({ location, name: payee.name, city: payee.city })
  const agrees = (code: BrCode) => code.recurrenceLocation !== undefined
  return firstValid([text, built], agrees)
}

function firstValid(
  candidates: (string | null)[],
  isMeant: (code: BrCode) => boolean,
): string | null {
  const valid = candidates.find((text) => {
    const code = text === null ? null : parse(text)
    return code !== null && code.kind !== 'fault' && isMeant(code)
  })
  return valid ?? null
}
