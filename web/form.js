// Checks fields while they are typed, and writes what people write with punctuation. The server
// checks everything again, and without this it is the only one.

const digits = (text) => text.replace(/\D/g, '')
const plain = (text) => text.replace(/[^0-9A-Za-z]/g, '').toUpperCase()

const checkDigit = (body, weights) => {
  let sum = 0
  for (let i = 0; i < body.length; i++) {
    sum += (body.charCodeAt(body.length - 1 - i) - 48) * (2 + (i % weights))
  }
  return sum % 11 < 2 ? 0 : 11 - (sum % 11)
}
const isTaxIdShape = (text) => /^(\d{11}|[A-Z0-9]{12}\d\d)$/.test(plain(text))
function isTaxId(text) {
  const id = plain(text)
  if (!isTaxIdShape(id) || /^(.)\1*$/.test(id)) return false
  const weights = id.length === 11 ? 10 : 8
  const [first, second] = [-2, -1].map((end) => checkDigit(id.slice(0, end), weights))
  return id.endsWith(`${first}${second}`)
}

// The cents of an amount as people type it, as the server reads it; NaN if it is none.
const REAIS = /^(?:R\$)?\s*(\d{1,3}(?:\.\d{3})+|\d{1,13})(?:,(\d{1,2})|\.(\d{2}))?$/i
function centsOf(text) {
  const [, reais, afterComma, afterDot] = REAIS.exec(text.trim()) ?? [null, 'x']
  return Number(reais.replaceAll('.', '') + (afterComma ?? afterDot ?? '').padEnd(2, '0'))
}

const CHECKS = {
  filled: (text) => text.trim() !== '',
  'tax-id': isTaxId,
  'tax-id-shape': isTaxIdShape,
  email: (text) => /^[^\s@<>"(),:;\\[\]]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text.trim()),
  phone: (text) => /^0*(55)?\d{10,11}$/.test(digits(text)),
  'postal-code': (text) => digits(text).length === 8,
  amount: (text, { dataset }) => centsOf(text) >= Number(dataset.min),
  quantity: (text) => /^\s*\d+\s*$/.test(text) && text >= 1 && text <= 1_000_000,
  url: (text) => /^\s*https?:\/\//i.test(text) && URL.canParse(text),
}

// A mask keeps the characters that count and writes the punctuation before the next of them, so
// that nothing has to be deleted twice. What is longer than the mask stays as it was typed.
function punctuate(text, parts) {
  let rest = text
  let written = ''
  for (const [before, length] of parts) {
    if (rest === '') break
    written += before + rest.slice(0, length)
    rest = rest.slice(length)
  }
  return written
}
const CPF = [
  ['', 3],
  ['.', 3],
  ['.', 3],
  ['-', 2],
]
const CNPJ = [
  ['', 2],
  ['.', 3],
  ['.', 3],
  ['/', 4],
  ['-', 2],
]
const CEP = [
  ['', 5],
  ['-', 3],
]
const LANDLINE = [
  ['(', 2],
  [') ', 4],
  ['-', 4],
]
const MOBILE = [
  ['(', 2],
  [') ', 5],
  ['-', 4],
]

// What counts in a field, and how it is written; null leaves the text alone.
const taxId = {
  keep: plain,
  write: (id) => (id.length > 14 ? null : punctuate(id, /^\d{0,11}$/.test(id) ? CPF : CNPJ)),
}
const MASKS = {
  'tax-id': taxId,
  'tax-id-shape': taxId,
  'postal-code': { keep: digits, write: (cep) => (cep.length > 8 ? null : punctuate(cep, CEP)) },
  phone: {
    // With the zero or the code of the country that are dialed before it, or without.
    keep: (text) =>
      digits(text)
        .replace(/^0+/, '')
        .replace(/^55(?=\d{10,11}$)/, ''),
    write: (number) =>
      number.length > 11 ? null : punctuate(number, number.length > 10 ? MOBILE : LANDLINE),
  },
}

// Where the given number of characters that count ends.
function placeAfter(text, count, keep) {
  let place = 0
  while (place < text.length && keep(text.slice(0, place)).length < count) place++
  return place
}

function applyMask(field, inputType = '') {
  const mask = MASKS[field.dataset.check]
  // Another country's number has a punctuation of its own, and a plus sign is its start.
  if (!mask || /^\s*\+(?!55)/.test(field.value)) return
  const written = mask.write(mask.keep(field.value))
  if (written === null || written === field.value) return
  const isAtEnd = field.selectionEnd === field.value.length
  const before = mask.keep(field.value.slice(0, field.selectionEnd)).length
  field.value = written
  let place = isAtEnd ? written.length : placeAfter(written, before, mask.keep)
  // Whoever deletes forward goes on behind the punctuation.
  if (inputType === 'deleteContentForward') {
    while (place < written.length && !/[0-9A-Z]/.test(written[place])) place++
  }
  if (document.activeElement === field) field.setSelectionRange(place, place)
}

// The state that has a postal code, by the ranges that the form brings along.
function fillState(form, postalCode) {
  const start = digits(postalCode)
  const state = form.querySelector('#state')
  if (!state || start.length !== 8) return
  const covers = (range) =>
    range.split('-').every((end, i) => (start.slice(0, 5) - end) * (i ? -1 : 1) >= 0)
  const option = [...state.options].find(({ dataset }) => dataset.ceps?.split(' ').some(covers))
  if (!option || state.value === option.value) return
  state.value = option.value
  if (state.hasAttribute('aria-invalid')) mark(state)
}

// A field may be needed unless something was chosen instead, such as a customer.
const isNeeded = ({ required, form, dataset }) =>
  required || (dataset.unless !== undefined && !form.elements[dataset.unless]?.value)
const isRight = (field) =>
  CHECKS[field.dataset.check](field.value, field) || (!isNeeded(field) && !field.value)

function mark(field) {
  const fault = document.getElementById(`${field.id}-fault`)
  const right = isRight(field)
  fault.hidden = right
  if (!right) fault.textContent = field.dataset.wrong
  field.toggleAttribute('aria-invalid', !right)
  if (!right) field.setAttribute('aria-invalid', 'true')
  const hint = document.getElementById(`${field.id}-hint`)
  const described = [!right && fault.id, hint?.id].filter(Boolean).join(' ')
  if (described) field.setAttribute('aria-describedby', described)
  else field.removeAttribute('aria-describedby')
  return right
}

for (const form of document.querySelectorAll('[data-form]')) {
  // Our own words instead of the browser's, which speak its language and not the page's.
  form.noValidate = true
  form.addEventListener('input', ({ target, inputType, isComposing }) => {
    if (!isComposing) applyMask(target, inputType)
    if (target.dataset.check === 'postal-code') fillState(form, target.value)
    if (target.dataset.check && target.hasAttribute('aria-invalid')) mark(target)
  })
  // The button marks what is wrong by itself. Marked before, the page would move it away from under
  // the finger that presses it.
  let isPressed = false
  form.addEventListener('pointerdown', ({ target }) => {
    isPressed = target.closest('button') !== null
  })
  form.addEventListener('focusout', ({ target }) => {
    if (!isPressed && target.dataset.check && target.value !== '') mark(target)
    isPressed = false
  })
  form.addEventListener('submit', (event) => {
    // Such a button only looks something up.
    if (event.submitter?.formNoValidate) return
    const wrong = [...form.querySelectorAll('[data-check]')].filter((field) => !mark(field))
    if (wrong.length > 0) {
      event.preventDefault()
      wrong[0].focus()
      return
    }
    form.querySelector('button').disabled = true
  })
}
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll('[data-form] button')) button.disabled = false
})
