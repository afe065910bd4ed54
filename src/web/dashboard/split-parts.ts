import { amountAt, type Charge, receivedOf } from '../../core/charges/rules.ts'
import { partsNow } from '../../core/charges/split.ts'
import { findMany, list } from '../../core/recipients/store.ts'
import { toPublic } from '../../lib/ids.ts'
import type { Language } from '../../lib/language.ts'
import { formatReais, readReais } from '../../lib/money.ts'
import { fieldsOf, type Option } from '../forms.ts'
import { type Html, html } from '../html.ts'
import { type Fact, facts } from '../parts.ts'
import type { Form } from '../site.ts'
import { type FormFault, textOf } from './form-parts.ts'
import { card, money } from './parts.ts'
import type { Visit } from './visit.ts'

const pt = {
  title: 'Divisão',
  legend: 'Dividir com recebedores',
  hint: 'A parte de cada um é separada quando o valor é liberado. O resto, e todo centavo de arredondamento, fica com a empresa.',
  recipient: (number: number) => `Recebedor ${number}`,
  part: 'Parte',
  partHint: 'Em reais, como 10,00, ou em porcentagem, como 25%',
  wrong: 'Escolha o recebedor e informe a parte, como 10,00 ou 25%. Juntas, cabem no valor.',
  nobody: 'Ninguém',
  company: 'Da empresa',
}

const en: typeof pt = {
  title: 'Split',
  legend: 'Split with recipients',
  hint: 'Each part is put aside when the money settles. The rest, and every cent of rounding, is the company’s.',
  recipient: (number) => `Recipient ${number}`,
  part: 'Part',
  partHint: 'In reais, such as 10,00, or a percentage, such as 25%',
  wrong:
    'Choose the recipient and enter the part, such as 10,00 or 25%. Together they fit the amount.',
  nobody: 'Nobody',
  company: 'Of the company',
}

const SPLIT: Record<Language, typeof pt> = { pt, en }

const percentOf = (hundredths: number): string =>
  `${formatReais(hundredths).slice(3).replace(/,00$/, '')}%`

/** Who gets which part of a charge, now that this much of it is left. */
export async function splitCard(visit: Visit, charge: Charge): Promise<Html | false> {
  const { split, companyId } = charge
  if (split === null) return false
  const texts = SPLIT[visit.language]
  const ids = split.map(({ recipientId }) => recipientId)
  const named = await findMany(visit.app.db, companyId, ids)
  const asked = amountAt(charge, visit.app.clock.now())
  const parts = partsNow(charge, asked)
  const left = charge.status === 'COMPLETED' ? leftOf(charge) : asked
  const rows = split.map((term, i): Fact => {
    const name = named.get(term.recipientId)?.name ?? ''
    const label = 'percent' in term ? `${name} · ${percentOf(term.percent)}` : name
    return [label, money(parts[i]!.amount)]
  })
  const rest = parts.reduce((sum, { amount }) => sum - amount, left as number)
  return card(texts.title, facts([...rows, [texts.company, money(rest)]]))
}

const leftOf = (charge: Charge): number => receivedOf(charge) - charge.refunded

/** How many recipients a form takes. More can be named by the API. */
const ROWS = 3
const MAX_OPTIONS = 200

/** The recipients that a form offers. */
export async function recipientOptions({ app, company, can, language }: Visit): Promise<Option[]> {
  if (!can('balance:read')) return []
  const wanted = { limit: MAX_OPTIONS, after: null, status: 'ACTIVE' as const, taxId: null }
  const found = await list(app.db, app.vault, company.id, wanted)
  if (found.length === 0) return []
  const options = found.map(({ id, name }) => ({ value: toPublic('rcpt', id), label: name }))
  return [{ value: '', label: SPLIT[language].nobody }, ...options]
}

const recipientName = (i: number) => `split-${i}-recipient`
const partName = (i: number) => `split-${i}-part`
const rows = Array.from({ length: ROWS }, (_, i) => i)

/** Rows of recipients and their parts, closed unless something was typed there. */
export function splitFields(
  { language }: Visit,
  options: Option[],
  typed: Form,
  fault: FormFault | null,
): Html | false {
  if (options.length === 0) return false
  const texts = SPLIT[language]
  const isOpen = rows.some((i) => textOf(typed, recipientName(i)) || textOf(typed, partName(i)))
  const named = rows.filter((i) => isNamed(typed, i))
  const isWrong = (i: number): boolean => {
    const at = named.indexOf(i)
    const paths = ['recipientId', 'amount', 'percent'].map((field) => `split[${at}].${field}`)
    return (
      fault !== null &&
      [...paths, ...(at === 0 ? ['split'] : [])].some((path) => fault.isWrong(path))
    )
  }
  const fields = rows.map((i) =>
    fieldsOf([
      {
        name: recipientName(i),
        label: texts.recipient(i + 1),
        value: typed[recipientName(i)] ?? '',
        fault: null,
        wrong: '',
        width: 'half',
        options,
        isFilledIn: true,
      },
      {
        name: partName(i),
        label: texts.part,
        value: typed[partName(i)] ?? '',
        fault: isWrong(i) ? texts.wrong : null,
        wrong: texts.wrong,
        hint: texts.partHint,
        width: 'half',
        maxlength: 20,
        isFilledIn: true,
      },
    ]),
  )
  return html`<details class="more-fields"${isOpen && html` open`}><summary>${texts.legend}</summary><p class="hint">${texts.hint}</p>${fields}</details>`
}

const isNamed = (form: Form, i: number): boolean =>
  !!(textOf(form, recipientName(i)) || textOf(form, partName(i)))

/** What a form says of a split, in the words of the API. A percentage ends with its sign. */
export function splitBody(form: Form): { split?: object[] } {
  const named = rows.filter((i) => isNamed(form, i))
  if (named.length === 0) return {}
  return {
    split: named.map((i) => {
      const part = textOf(form, partName(i)) ?? ''
      const value = readReais(part.replace(/\s*%$/, '')) ?? -1
      const recipientId = textOf(form, recipientName(i)) ?? ''
      return { recipientId, ...(part.endsWith('%') ? { percent: value } : { amount: value }) }
    }),
  }
}
