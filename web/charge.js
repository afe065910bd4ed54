// Follows a charge while it is open: when its state changes, the page is loaded again, unless
// another script of the page does that itself.
const { live, state } = document.querySelector('main').dataset

const become = (now) => {
  if (now === state) return
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
