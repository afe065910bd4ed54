// What opens over the page closes with Escape, and with a press beside it.
const popups = document.querySelectorAll('details.popup')
addEventListener('click', ({ target }) => {
  for (const popup of popups) if (!popup.contains(target)) popup.open = false
})
addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return
  for (const popup of popups) {
    if (popup.open && popup.contains(document.activeElement)) popup.firstElementChild.focus()
    popup.open = false
  }
})

// On a phone the tabs of a section are wider than the screen. If `scrollIntoView` did this, the Tab
// key would begin there and not at the top of the page.
const here = document.querySelector('.section-tabs [aria-current]')
if (here) {
  const { clientWidth } = here.parentElement
  here.parentElement.scrollLeft = here.offsetLeft - (clientWidth - here.offsetWidth) / 2
}

// Copies the text of a button, and says so for a moment.
for (const button of document.querySelectorAll('[data-copy]')) {
  const label = button.querySelector('[aria-live] > span')
  const words = label.textContent
  let timer
  button.addEventListener('click', async () => {
    await write(button.dataset.copy)
    label.textContent = button.dataset.copied
    button.classList.add('done')
    clearTimeout(timer)
    timer = setTimeout(() => {
      label.textContent = words
      button.classList.remove('done')
    }, 2500)
  })
}

// A page that did not come over TLS from another machine has no clipboard of its own.
async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

// A second click must not pay a second time. What another script has refused is not sent.
const sent = new Set()
addEventListener('submit', (event) => {
  const form = event.target
  // A download leaves the page as it is, so that its form may be sent again.
  if (event.defaultPrevented || event.submitter?.hasAttribute('data-download')) return
  if (sent.has(form)) event.preventDefault()
  sent.add(form)
  form.setAttribute('aria-busy', 'true')
})
addEventListener('pageshow', () => {
  for (const form of sent) form.removeAttribute('aria-busy')
  sent.clear()
})
