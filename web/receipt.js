// Keeps a receipt: prints it, shares its address, copies what is on it. The page is put in place
// again when its state changes, so that clicks are listened for on the whole document.

const root = document.documentElement
if (typeof navigator.share === 'function') root.classList.add('can-share')
if (typeof window.print !== 'function') root.classList.add('cannot-print')

async function write(text) {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // A page without https has no clipboard, but can still copy what is selected.
    const field = document.createElement('textarea')
    field.value = text
    document.body.append(field)
    field.select()
    document.execCommand('copy')
    field.remove()
  }
}

async function copyText(button) {
  await write(button.dataset.copyText)
  const status = button.nextElementSibling
  const label = button.querySelector('span')
  button.dataset.label ??= label?.textContent ?? ''
  if (label) label.textContent = button.dataset.done
  status.textContent = button.dataset.done
  button.classList.add('done')
  clearTimeout(button.timer)
  button.timer = setTimeout(() => {
    if (label) label.textContent = button.dataset.label
    status.textContent = ''
    button.classList.remove('done')
  }, 4000)
}

// Whoever closes the dialog without sharing has decided so, which is no error.
const share = ({ dataset }) =>
  navigator.share({ title: dataset.title, url: dataset.share }).catch(() => {})

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-print], [data-share], [data-copy-text]')
  if (!button) return
  // Whoever keeps the receipt is not sent away from it.
  document.querySelector('[data-leave]:not([hidden]) button')?.click()
  if ('print' in button.dataset) window.print()
  else if ('share' in button.dataset) share(button)
  else copyText(button)
})
