import type { Dialect } from '../lib/csv.ts'
import { ZONE } from './local-time.ts'

const saoPaulo = new Intl.DateTimeFormat('pt-BR', {
  timeZone: ZONE,
  day: '2-digit',
  month: '2-digit',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/**
 * For spreadsheets in Brazil, where a comma separates decimals. The byte order mark shows them that
 * the file is UTF-8.
 */
export const BRAZILIAN: Dialect = {
  start: '\uFEFF',
  separator: ';',
  heading: 'title',
  money: ({ cents, signed = cents }) => {
    const digits = String(Math.abs(signed))
      .padStart(3, '0')
      .replace(/(?=..$)/, ',')
    return signed < 0 ? `-${digits}` : digits
  },
  term: ({ word }) => word,
  time: (date) => saoPaulo.format(date).replace(',', ''),
  flag: (value) => (value ? 'sim' : 'não'),
}
