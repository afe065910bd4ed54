import { type Cents, toCents } from '../../lib/money.ts'
import { oneLine } from '../../lib/one-line.ts'
import { isLocalDate, type LocalDate } from '../../pix/local-time.ts'
import type { Profile } from './profile.ts'

/** A part of a bank's answer. Each field is checked before it is used. */
export type Fields = Record<string, unknown>

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

export const listOf = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.map(fieldsOf) : []

/** The text, if it is one and not empty. */
export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null

const AMOUNT = /^(\d{1,12})(?:\.(\d{1,2})0*)?$/

/**
 * Reads an amount by its digits, so that nothing is rounded. If the bank sends a number instead of
 * a text, its digits are read.
 */
export function readAmount(value: unknown): Cents | null {
  const written = typeof value === 'number' ? String(value) : value
  const found = typeof written === 'string' ? AMOUNT.exec(written.trim()) : null
  if (!found) return null
  const [, reais, fraction = ''] = found
  return toCents(`${reais}${fraction.padEnd(2, '0')}`)
}

/** The time of Brasília is so far behind UTC. It has no daylight saving time since 2019. */
export const BEHIND_ms = 3 * 3_600_000

/** Formats a moment for a bank: in UTC or by the clock of Brasília, with milliseconds or not. */
export function writeMoment(
  at: Date,
  { dates, offset }: Pick<Profile, 'dates' | 'offset'>,
): string {
  const shown = offset === 'Z' ? at : new Date(at.getTime() - BEHIND_ms)
  const text = shown.toISOString().slice(0, -1)
  return `${dates === 'milliseconds' ? text : text.replace(/\.\d{3}$/, '')}${offset}`
}

/** Some banks write a moment of the year 1 where they have none. */
const MOMENT = /^(2\d{3}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:?\d\d)?$/

/**
 * Reads a moment. If the bank leaves out the offset, the time is that of Brasília. A leap second is
 * the first of the next minute.
 */
export function readMoment(value: unknown): Date | null {
  const found = typeof value === 'string' ? MOMENT.exec(value.trim()) : null
  if (!found) return null
  const [, day, time = '', fraction = '', offset = '-03:00'] = found
  const minute = time.slice(0, -3)
  if (time.endsWith(':60')) return secondAfter(readMoment(`${day}T${minute}:59${offset}`))
  const zone = /\d\d\d\d$/.test(offset) ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset
  const at = new Date(`${day}T${time}${fraction.slice(0, 4)}${zone.toUpperCase()}`)
  return Number.isNaN(at.getTime()) ? null : at
}

const secondAfter = (at: Date | null): Date | null => at && new Date(at.getTime() + 1000)

/** Reads a day, also from a moment. */
export function readDay(value: unknown): LocalDate | null {
  const day = typeof value === 'string' ? value.trim().slice(0, 10) : ''
  return isLocalDate(day) ? day : null
}

const LOCATION = /^[\x21-\x7e]{1,77}$/

/** Reads the location of a payload, without https://, as codes have it. */
export function readLocation(value: unknown): string | null {
  const location = textOf(value)?.replace(/^https?:\/\//i, '') ?? ''
  return LOCATION.test(location) && !location.includes('://') ? location : null
}

/** Text of ours or of a client's as one line of at most so many characters. */
export const cut = (text: string, most: number): string =>
  [...oneLine(text)].slice(0, most).join('').trim()

const REASON_MAX = 140

/**
 * Makes a bank's text safe to show and to store: one short line without what could be an address, a
 * key, a document, the number of an account or a secret.
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
