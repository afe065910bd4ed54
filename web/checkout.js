// Copies the code, counts down, and follows what becomes of the charge. Everything on the page is
// there without this; when its state changes, the page is asked for again and put in place.

const find = (selector) => document.querySelector(selector)

async function copy(button) {
  const field = document.getElementById(button.dataset.copy)
  try {
    await navigator.clipboard.writeText(field.value)
  } catch {
    // A page without https has no clipboard, but can still copy what is selected.
    field.select()
    if (!document.execCommand('copy')) return
  }
  const words = button.querySelector('span')
  const before = words.textContent
  words.textContent = button.dataset.done
  button.nextElementSibling.textContent = button.dataset.done
  button.classList.add('done')
  setTimeout(() => {
    words.textContent = before
    button.nextElementSibling.textContent = ''
    button.classList.remove('done')
  }, 4000)
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]')
  if (button) copy(button)
  if (event.target.closest('[data-leave] button')) stay()
  if (event.target.matches('textarea[readonly]')) event.target.select()
})

const two = (number) => String(number).padStart(2, '0')

function words(left_s) {
  const [hours, minutes, seconds] = [left_s / 3600, (left_s / 60) % 60, left_s % 60].map(Math.floor)
  if (hours > 0) return `${hours} h ${two(minutes)} min`
  return minutes > 0 ? `${minutes} min ${two(seconds)} s` : `${seconds} s`
}

// With less time than this it is urgent, which is said once and shown in words, sign and color.
const SOON_S = 120
let counting
function countDown() {
  clearInterval(counting)
  const place = find('[data-left]')
  // Of days to come the date says more.
  if (!place || place.dataset.left > 86400) return
  // From the server's clock: that of a phone may be wrong.
  const end_ms = performance.now() + place.dataset.left * 1000
  const show = () => {
    const left_s = Math.max(0, Math.round((end_ms - performance.now()) / 1000))
    place.querySelector('.timer').textContent = words(left_s)
    if (left_s < SOON_S) warn(place)
    if (left_s === 0) {
      clearInterval(counting)
      setTimeout(ask, 1000)
    }
  }
  show()
  place.querySelector('.countdown').hidden = false
  place.querySelector('time').classList.add('hide')
  counting = setInterval(show, 1000)
}

function warn(place) {
  const status = find('[data-soon]')
  place.classList.add('soon')
  if (status.textContent === '') status.textContent = status.dataset.soon
}

// A wide window shows the image without being asked; older browsers need this.
function openImage() {
  const box = find('.qr-box')
  if (box && matchMedia('(min-width: 52rem)').matches) box.open = true
}

// An image that cannot be loaded leaves the initial of the name that is behind it.
for (const image of document.querySelectorAll('.logo img')) {
  const drop = () => image.remove()
  if (image.complete && image.naturalWidth === 0) drop()
  else image.addEventListener('error', drop)
}

let leaving
function stay() {
  clearInterval(leaving)
  find('[data-leave]').hidden = true
}

function leave() {
  const place = find('[data-leave]')
  if (!place) return
  let left_s = Number(place.dataset.leave)
  place.hidden = false
  leaving = setInterval(() => {
    left_s -= 1
    place.querySelector('span').textContent = left_s
    if (left_s > 0) return
    clearInterval(leaving)
    location.assign(find('.result a.button').href)
  }, 1000)
}

let events
let polling
const main = () => find('main')

async function become(state) {
  if (state === main().dataset.state) return
  const answer = await fetch(location.pathname + location.search, { cache: 'no-store' })
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
  if (page.querySelector('main').dataset.state === main().dataset.state) return
  main().replaceWith(document.adoptNode(page.querySelector('main')))
  document.title = page.title
  find('main h1').tabIndex = -1
  find('main h1').focus()
  openImage()
  countDown()
  if (['paid', 'approved'].includes(main().dataset.state)) leave()
  if (!main().dataset.live) hangUp()
}

function hangUp() {
  events?.close()
  clearInterval(polling)
}

async function ask() {
  const { live } = main().dataset
  if (!live) return
  const answer = await fetch(`${live}/status`).catch(() => null)
  if (answer?.ok) become((await answer.json()).state)
}

function follow() {
  const { live } = main().dataset
  if (!live) return
  events = new EventSource(`${live}/events`)
  const poll = () => {
    clearInterval(polling)
    polling = setInterval(ask, 3000)
  }
  // A proxy may hold back what is streamed, so it asks until the stream has spoken.
  poll()
  events.onmessage = ({ data }) => {
    clearInterval(polling)
    become(JSON.parse(data).state)
  }
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) poll()
  }
}

// Whoever has nothing to fill in gets the code without pressing anything, but only once: if that
// fails, or somebody comes back to the page, the button is there.
function openAtOnce() {
  const form = find('form[data-auto]')
  if (!form || document.visibilityState !== 'visible') return
  try {
    if (sessionStorage.getItem(location.pathname)) return
    sessionStorage.setItem(location.pathname, 'opened')
  } catch {
    return
  }
  const button = form.querySelector('button')
  button.textContent = form.dataset.auto
  button.disabled = true
  form.submit()
}

openImage()
countDown()
follow()
openAtOnce()
// A phone sends pages to sleep while its owner pays in another app.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return
  ask()
  openAtOnce()
})
addEventListener('pageshow', (event) => event.persisted && ask())
