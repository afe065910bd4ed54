import type { Kind } from '../../ledger/recipes.ts'
import { suffixOf, toPublic, type Uuid } from '../../lib/ids.ts'
import { type NamedLine, wordsOf } from './lines.ts'

/** A statement of a period, without its lines. */
export type OfxStatement = {
  companyId: Uuid
  companyName: string
  /** When the file is written. */
  now: Date
  /** The first and the last moment of the period. */
  from: Date
  to: Date
  /** What is available at the end, in cents. */
  balance: number
}

/** What the account is called: a bank of nine characters at most, an account of 22. */
const BANK = 'VINTEM'
const ACCOUNT_LENGTH = 22
const NAME_LENGTH = 32
const MEMO_LENGTH = 255

/** Brazil has had no daylight saving time since 2019. */
const OFFSET_HOURS = -3

/** A moment in the time of Brasília: 20261119120000[-3:BRT]. */
function timeOf(at: Date): string {
  const local = new Date(at.getTime() + OFFSET_HOURS * 3_600_000)
  return `${local.toISOString().slice(0, 19).replace(/\D/g, '')}[${OFFSET_HOURS}:BRT]`
}

function amountOf(cents: number): string {
  const digits = String(Math.abs(cents))
    .padStart(3, '0')
    .replace(/(?=..$)/, '.')
  return cents < 0 ? `-${digits}` : digits
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Text of an element, at most so many characters. People choose their names, so what XML does not
 * allow or what reverses a line is left out.
 */
function textOf(text: string, length: number): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Co}]/gu, ' ').replace(/\s+/g, ' ')
  const cut = [...plain.trim()].slice(0, length).join('').trim()
  return cut.replace(/[&<>]/g, (letter) => ENTITIES[letter]!)
}

const element = (name: string, content: string): string => `<${name}>${content}</${name}>`

const STATUS = element('STATUS', '<CODE>0</CODE><SEVERITY>INFO</SEVERITY>')

/**
 * What comes before the lines. Programs tell accounts apart by bank and account, so these are the
 * same in each file of a company. OFX 2.2 prescribes the order of all elements.
 */
export function ofxStart({ companyId, companyName, now, from, to }: OfxStatement): string {
  const signOn = `${STATUS}${element('DTSERVER', timeOf(now))}${element('LANGUAGE', 'POR')}
${element('FI', element('ORG', textOf(companyName, NAME_LENGTH) || BANK))}`
  const account = `${element('BANKID', BANK)}${element('ACCTID', accountOf(companyId))}
${element('ACCTTYPE', 'CHECKING')}`
  return `<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="220" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
${element('SIGNONMSGSRSV1', element('SONRS', signOn))}
<BANKMSGSRSV1>
<STMTTRNRS>
${element('TRNUID', '0')}${STATUS}
<STMTRS>
${element('CURDEF', 'BRL')}
${element('BANKACCTFROM', account)}
<BANKTRANLIST>
${element('DTSTART', timeOf(from))}${element('DTEND', timeOf(to))}
`
}

/** The last characters of our id are random, and fit. */
const accountOf = (companyId: Uuid): string => suffixOf(companyId).slice(-ACCOUNT_LENGTH)

const isTransfer = (kind: Kind): boolean => kind.startsWith('WITHDRAWAL_')

/**
 * A line. Its id is that of the entry, which never changes, so that a program that has read it once
 * knows it again.
 */
export function ofxLine(line: NamedLine): string {
  const { entry, at, kind, amount, reference, chargeId, name } = line
  const type = isTransfer(kind) ? 'XFER' : amount < 0 ? 'DEBIT' : 'CREDIT'
  const words = wordsOf(line)
  const charge = chargeId && toPublic('charge', chargeId)
  const memo = [words, name, charge].filter(Boolean).join(' - ')
  return `<STMTTRN>
${element('TRNTYPE', type)}${element('DTPOSTED', timeOf(at))}${element('TRNAMT', amountOf(amount))}
${element('FITID', textOf(`${entry}-${reference}`, MEMO_LENGTH))}
${element('REFNUM', textOf(reference, NAME_LENGTH))}
${element('NAME', textOf(name ?? '', NAME_LENGTH) || textOf(words, NAME_LENGTH))}
${element('MEMO', textOf(memo, MEMO_LENGTH))}
</STMTTRN>
`
}

/** What comes after the lines: what is available at the end of the period. */
export function ofxEnd({ balance, to }: OfxStatement): string {
  const content = element('BALAMT', amountOf(balance)) + element('DTASOF', timeOf(to))
  return `</BANKTRANLIST>
${element('LEDGERBAL', content)}
${element('AVAILBAL', content)}
</STMTRS>
</STMTTRNRS>
</BANKMSGSRSV1>
</OFX>
`
}
