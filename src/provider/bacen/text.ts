import { isLocalDate, type LocalDate } from '../../lib/local-time.ts'
import { type Cents, toCents } from '../../lib/money.ts'
import { oneLine } from '../../lib/one-line.ts'
import type { Profile } from './profile.ts'

/** A part of a bank's answer: what is in it is looked at field by field, and never trusted. */
export type Fields = Record<string, unknown>

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : []

/** A text that is there and not empty. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null

const AMOUNT = /^(\d{1,12})(?:\.(\d{1,2}))?$/

/**
 * Reads an amount digit by digit, so that no fraction ever rounds. A bank that writes a number
 * where a text is due is read by that number's digits.
 */
export function readAmount(value: unknown): Cents | null {
  const written = typeof value === 'number' ? String(value) : value
  const found = typeof written === 'string' ? AMOUNT.exec(written.trim()) : null
  if (!found) return null
  const [, reais, fraction = ''] = found
  return toCents(`${reais}${fraction.padEnd(2, '0')}`)
}

/** A moment as a bank wants it; without milliseconds it is the second that it is in. */
export function writeMoment(at: Date, dates: Profile['dates']): string {
  const text = at.toISOString()
  return dates === 'milliseconds' ? text : text.replace(/\.\d{3}Z$/, 'Z')
}

const MOMENT = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/

/** Reads a moment; where a bank leaves out the offset, it writes by the clock of Brasília. */
export function readMoment(value: unknown): Date | null {
  const found = typeof value === 'string' ? MOMENT.exec(value.trim()) : null
  if (!found) return null
  const [, day, time, fraction = '', offset = '-03:00'] = found
  const zone = /\d\d\d\d$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset
  const at = new Date(`${day}T${time}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
  return Number.isNaN(at.getTime()) ? null : at
}

/** Reads a day; of a moment only its day counts. */
export function readDay(value: unknown): LocalDate | null {
  const day = typeof value === 'string' ? value.trim().slice(0, 10) : ''
  return isLocalDate(day) ? day : null
}

const LOCATION = /^[\x21-\x7e]{1,77}$/

/** Where a payload lies, without its scheme, as codes hold it. */
export function readLocation(value: unknown): string | null {
  const location = textOf(value)?.replace(/^https?:\/\//i, '') ?? ''
  return LOCATION.test(location) && !location.includes('://') ? location : null
}

const REASON_MAX = 140

/**
 * What a bank says, fit to be shown and written down: one short line without what could be an
 * address, a key, a document, a number of an account or a secret.
 */
export function plainWords(text: string): string {
  const safe = oneLine(text)
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/\S+@\S+/g, '…')
    .replace(/[0-9A-Za-z+/_=.-]{20,}/g, '…')
    .replace(/\+?\d[\d.,/-]{4,}\d/g, '…')
    .replace(/[.\s]+$/, '')
  return shortened(safe)
}

export const shortened = (text: string): string =>
  text.length <= REASON_MAX ? text : `${text.slice(0, REASON_MAX - 1).trimEnd()}…`
