// Keeps what changes on the page up to date while somebody looks at it. Without this there is a link.

const EVERY_MS = 4000
// After an hour without a sign of anybody it stops, because the session must be able to end.
const ALONE_MS = 3600_000

const { now } = document.querySelector('main').dataset
let seen_ms = performance.now()
let timer

async function refresh() {
  clearTimeout(timer)
  if (document.hidden || performance.now() - seen_ms > ALONE_MS) return
  try {
    const answer = await fetch(now, { cache: 'no-store', redirect: 'error' })
    if (answer.ok) put(await answer.text())
  } catch {
    // The next attempt may work.
  }
  clearTimeout(timer)
  timer = setTimeout(refresh, EVERY_MS)
}

// What has not changed stays, so that a selection and the focus stay too.
function put(text) {
  const answer = new DOMParser().parseFromString(text, 'text/html')
  for (const part of answer.querySelectorAll('[data-part]')) {
    const old = document.getElementById(part.id)
    if (old && !old.isEqualNode(part)) old.replaceWith(document.adoptNode(part))
  }
}

for (const sign of ['pointerdown', 'pointermove', 'keydown', 'wheel']) {
  addEventListener(sign, () => {
    const wasAlone = performance.now() - seen_ms > ALONE_MS
    seen_ms = performance.now()
    if (wasAlone) refresh()
  })
}
document.addEventListener('visibilitychange', () => {
  seen_ms = performance.now()
  refresh()
})
timer = setTimeout(refresh, EVERY_MS)
