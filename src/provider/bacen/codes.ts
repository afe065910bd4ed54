import { type BrCode, dynamicCode, parse, recurrenceCode } from '../../pix/brcode.ts'
import type { Payee } from '../port.ts'
import { type Fields, fieldsOf, readLocation, textOf } from './text.ts'

/**
 * The code of a charge: the bank's own text, or one built from where the bank keeps the payload.
 * Null when neither is a code that a payer could pay.
 */
export function chargeCode(body: Fields, codeFields: string[], payee: Payee): string | null {
  const location = readLocation(body.location) ?? readLocation(fieldsOf(body.loc).location)
  const texts = codeFields.map((name) => textOf(body[name]))
  const built = location && dynamicCode({ location, name: payee.name, city: payee.city })
  return firstValid([...texts, built], ({ kind }) => kind === 'dynamic')
}

/** The code by which a payer agrees to a recurrence and pays nothing yet. */
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
