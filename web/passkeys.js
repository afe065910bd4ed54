// Asks the device for a passkey, and sends its answer with the form that the button is in.

const TOO_OLD_MS = 9 * 60_000

for (const part of document.querySelectorAll('[data-passkey]')) {
  const button = part.querySelector('button')
  const fault = part.querySelector('.fault')
  const explain = (reason) => {
    fault.textContent = fault.dataset[reason]
    fault.hidden = false
  }
  button.addEventListener('click', async () => {
    const { form } = button
    if (!form.reportValidity()) return
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) return explain('unsupported')
    fault.hidden = true
    button.disabled = true
    try {
      if (performance.now() > TOO_OLD_MS) await renew(part)
      const credential = await ask(part.dataset)
      part.querySelector('[name=response]').value = JSON.stringify(credential.toJSON())
      form.submit()
    } catch {
      button.disabled = false
      explain('canceled')
    }
  })
  // The browser may show the page again as it was left.
  addEventListener('pageshow', () => {
    button.disabled = false
  })
}

function ask({ passkey, options }) {
  const json = JSON.parse(options)
  return passkey === 'create'
    ? navigator.credentials.create({
        publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json),
      })
    : navigator.credentials.get({
        publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json),
      })
}

// A page that has been open for long has a question that is no longer accepted. A new copy of the
// page has a new one.
async function renew(part) {
  const reply = await fetch(location.href)
  const copy = new DOMParser().parseFromString(await reply.text(), 'text/html')
  const fresh = copy.querySelector(`[data-passkey=${part.dataset.passkey}]`)
  if (!fresh) return
  part.dataset.options = fresh.dataset.options
  part.querySelector('[name=state]').value = fresh.querySelector('[name=state]').value
}
