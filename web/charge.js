// Follows a charge while it is open: when its state changes, the page is loaded again, unless
// another script of the page does that itself.
const { live, state } = document.querySelector('main').dataset

// A form that is sent brings a page with what it has done, which loading this one would prevent.
let isSending = false
addEventListener('submit', (event) => {
  isSending = !event.defaultPrevented && !event.submitter?.hasAttribute('data-download')
})
addEventListener('pageshow', () => {
  isSending = false
})

const become = (now) => {
  if (isSending || now === state) return
  const event = new CustomEvent('become', { detail: now, cancelable: true })
  if (document.dispatchEvent(event)) location.replace(location.pathname)
}

async function ask() {
  const answer = await fetch(`${live}/status`).catch(() => null)
  if (answer?.ok) become((await answer.json()).state)
}

const events = new EventSource(`${live}/events`)
events.onmessage = ({ data }) => become(JSON.parse(data).state)
events.onerror = () => {
  if (events.readyState === EventSource.CLOSED) setInterval(() => document.hidden || ask(), 5000)
}
document.addEventListener('visibilitychange', () => document.hidden || ask())
