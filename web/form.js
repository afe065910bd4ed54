// Checks fields while they are typed, and writes what people write with punctuation. The server
// checks everything again, and without this it is the only one.

const digits = (text) => text.replace(/\D/g, '')
const plain = (text) => text.replace(/[\s./-]/g, '').toUpperCase()

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

const CHECKS = {
  filled: (text) => text.trim() !== '',
  'tax-id': isTaxId,
  'tax-id-shape': isTaxIdShape,
  email: (text) => /^[^\s@<>"(),:;\\[\]]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(text.trim()),
  phone: (text) => /^0*(55)?\d{10,11}$/.test(digits(text)),
  'postal-code': (text) => digits(text).length === 8,
}

const cpf = (d) =>
  d.replace(/^(\d{3})(\d{1,3})?(\d{1,3})?(\d{1,2})?.*/, (_, a, b, c, e) =>
    [a, b && `.${b}`, c && `.${c}`, e && `-${e}`].join(''),
  )
const FORMS = {
  'tax-id': (text) => (/^\d{4,11}$/.test(plain(text)) ? cpf(plain(text)) : text),
  'postal-code': (text) =>
    digits(text)
      .slice(0, 8)
      .replace(/^(\d{5})(\d+)/, '$1-$2'),
  phone: (text) => {
    const all = digits(text)
    if (all.length > 11 || text.trim().startsWith('+')) return text
    return all.replace(/^(\d\d)(\d{4,5})(\d{4})$/, '($1) $2-$3')
  },
}
FORMS['tax-id-shape'] = FORMS['tax-id']

const isRight = (field) =>
  CHECKS[field.dataset.check](field.value) || (!field.required && !field.value)

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
  form.addEventListener('input', ({ target }) => {
    const write = FORMS[target.dataset.check]
    const atEnd = target.selectionEnd === target.value.length
    if (write && atEnd) target.value = write(target.value)
    if (target.dataset.check && target.hasAttribute('aria-invalid')) mark(target)
  })
  form.addEventListener('focusout', ({ target }) => {
    if (target.dataset.check && target.value !== '') mark(target)
  })
  form.addEventListener('submit', (event) => {
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
