import type { Html } from './html.ts'
import { html } from './html.ts'

/** How the browser checks a field. The server checks it again. */
type Check =
  | 'filled'
  | 'tax-id'
  | 'tax-id-shape'
  | 'email'
  | 'phone'
  | 'postal-code'
  | 'amount'
  | 'quantity'
  | 'url'

export type Field = {
  name: string
  label: string
  value: string
  /** What is wrong with the value, in a sentence. */
  fault: string | null
  /** The text that the browser shows if the check fails. */
  wrong: string
  check?: Check
  /** The smallest amount, in cents, for the check of an amount. */
  min?: number
  hint?: string
  width?: 'half' | 'third' | 'most'
  /** The text after the label of a field that may stay empty. */
  optional?: string
  /** The name of a choice that makes up for an empty field. */
  unless?: string
  /** Whether the server fills it in if it stays empty. */
  isFilledIn?: boolean
  autocomplete?: string
  inputmode?: 'numeric' | 'decimal' | 'email' | 'tel' | 'url' | 'text'
  maxlength?: number
  /** A control of the browser instead of a text. A password is never sent back to the page. */
  type?: 'date' | 'datetime-local' | 'search' | 'email' | 'password'
  /** If it is given, the control is a file of these types, such as `.pem,.p12`. */
  accept?: string
  options?: Option[]
  /** If it is given, the control is a text of so many lines. */
  rows?: number
}

/** A choice. `ceps` are the postal codes that select it, such as "69000-69299 69400-69899". */
export type Option = { value: string; label: string; ceps?: string }

/** A label and its control, linked to the hint and the fault for screen readers. */
export function field(given: Field, isFirstFault: boolean): Html {
  const { name, label, fault, hint, width, optional } = given
  const described = [fault && `${name}-fault`, hint && `${name}-hint`].filter(Boolean).join(' ')
  return html`<div class="field ${width}">
<label for="${name}">${label}${optional && html` <span class="soft small">(${optional})</span>`}</label>
${control(given, { described, isFirstFault })}
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
<p class="fault" id="${name}-fault"${!fault && html` hidden`}>${fault}</p>
</div>`
}

type Context = { described: string; isFirstFault: boolean }

function control(given: Field, { described, isFirstFault }: Context): Html {
  const { name, value, fault, check, wrong, optional, isFilledIn, options } = given
  const shared = html`id="${name}" name="${name}"${!optional && !isFilledIn && html` required`}${
    check && html` data-check="${check}" data-wrong="${wrong}"`
  }${given.min !== undefined && html` data-min="${given.min}"`}${
    given.unless && html` data-unless="${given.unless}"`
  }${given.autocomplete && html` autocomplete="${given.autocomplete}"`}${
    fault && html` aria-invalid="true"`
  }${described && html` aria-describedby="${described}"`}${isFirstFault && html` autofocus`}`
  if (options) {
    const choices = options.map(
      ({ value: key, label, ceps }) =>
        html`<option value="${key}"${key === value && html` selected`}${ceps && html` data-ceps="${ceps}"`}>${label}</option>`,
    )
    return html`<select ${shared}>${choices}</select>`
  }
  if (given.rows) {
    return html`<textarea ${shared} rows="${given.rows}" maxlength="${given.maxlength ?? 255}">${'\n'}${value}</textarea>`
  }
  if (given.accept) return html`<input ${shared} type="file" accept="${given.accept}">`
  return html`<input ${shared} type="${given.type ?? 'text'}" inputmode="${given.inputmode ?? 'text'}" maxlength="${given.maxlength ?? 255}"${given.type !== 'password' && html` value="${value}"`}>`
}

/** Fields in their order. The first one with a fault gets the focus. */
export function fieldsOf(fields: Field[]): Html {
  const first = fields.findIndex(({ fault }) => fault !== null)
  return html`<div class="fields">${fields.map((one, i) => field(one, i === first))}</div>`
}

/** What is switched on or off, with its label behind it. */
export const checkbox = (given: {
  name: string
  label: string
  isOn: boolean
  hint?: string
}): Html =>
  html`<div class="check"><input type="checkbox" id="${given.name}" name="${given.name}" value="yes"${given.isOn && html` checked`}${given.hint && html` aria-describedby="${given.name}-hint"`}><div><label for="${given.name}">${given.label}</label>${given.hint && html`<p class="hint" id="${given.name}-hint">${given.hint}</p>`}</div></div>`

/** Boxes to check, under one title. */
type Boxes = {
  name: string
  title: string
  hint?: string
  fault: string | null
  /** Each is a field of its own, because the first value of a name counts. */
  boxes: Box[]
}

type Box = { name: string; label: string; note?: string; isChecked: boolean }

export function boxesOf({ name, title, hint, fault, boxes }: Boxes): Html {
  const described = [fault && `${name}-fault`, hint && `${name}-hint`].filter(Boolean).join(' ')
  return html`<fieldset class="field" id="${name}"${described && html` aria-describedby="${described}"`}>
<legend>${title}</legend>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${fault && html`<p class="fault" id="${name}-fault">${fault}</p>`}
<div class="boxes">${boxes.map(box)}</div>
</fieldset>`
}

const box = ({ name, label, note, isChecked }: Box): Html =>
  html`<label class="box"><input type="checkbox" name="${name}" value="1"${isChecked && html` checked`}><span>${label}${note && html` <code class="soft">${note}</code>`}</span></label>`
