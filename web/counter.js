// The keypad of an amount, and the screen of a sale: it stays awake, and says aloud that it is paid.
const amount = document.querySelector('.counter-typed input')
const pad = document.querySelector('.keypad')
const main = document.querySelector('main')

const written = (cents) => {
  const digits = cents.padStart(3, '0')
  const reais = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.')
  return `${reais},${digits.slice(-2)}`
}

// What was typed without cents has none yet.
function centsOf(text) {
  const digits = text.replace(/\D/g, '')
  if (/,\d$/.test(text)) return `${digits}0`
  return /[.,]\d\d$/.test(text) ? digits : digits && `${digits}00`
}

function press(key) {
  const cents = centsOf(amount.value)
  const next = (key === 'back' ? cents.slice(0, -1) : cents + key).replace(/^0+/, '')
  if (next.length > 12) return
  amount.value = next && written(next)
  amount.dispatchEvent(new Event('input', { bubbles: true }))
}

if (pad) {
  pad.addEventListener('click', ({ target }) => {
    const key = target.closest('[data-key]')?.dataset.key
    if (key) press(key)
  })
  // The keyboard of a phone would cover the keypad.
  if (matchMedia('(pointer: coarse)').matches) amount.inputMode = 'none'
}

// A browser plays sound only after a touch. Some take that of the page before.
const audio = main.dataset.live && window.AudioContext ? new AudioContext() : null
const button = document.querySelector('[data-sound]')
async function hear() {
  await audio?.resume()
  if (audio?.state === 'running') button.hidden = true
}
if (audio && button) {
  button.hidden = audio.state === 'running'
  audio.onstatechange = () => {
    button.hidden = audio.state === 'running'
  }
  button.addEventListener('click', async () => {
    await hear()
    beep(0, 880)
  })
  document.addEventListener('pointerdown', hear)
}

function beep(after_s, pitch) {
  if (audio?.state !== 'running') return
  const [tone, volume] = [audio.createOscillator(), audio.createGain()]
  const start = audio.currentTime + after_s
  tone.frequency.value = pitch
  volume.gain.setValueAtTime(0.3, start)
  volume.gain.exponentialRampToValueAtTime(0.001, start + 0.3)
  tone.connect(volume).connect(audio.destination)
  tone.start(start)
  tone.stop(start + 0.3)
}

// The screen must not go dark while somebody pays.
const stayAwake = () => document.hidden || navigator.wakeLock?.request('screen').catch(() => {})
if (main.dataset.live) {
  stayAwake()
  document.addEventListener('visibilitychange', stayAwake)
}

// The new page would end sound and vibration, so it is asked for when they are over.
const SIGNAL_MS = 900
let isOver = false
document.addEventListener('become', (event) => {
  if (event.detail !== 'paid') return
  event.preventDefault()
  if (isOver) return
  isOver = true
  document.body.classList.add('is-paid')
  main.querySelector('[role=status]').textContent = main.dataset.paid
  beep(0, 880)
  beep(0.25, 1320)
  navigator.vibrate?.([200, 100, 300])
  setTimeout(() => location.replace(location.pathname), SIGNAL_MS)
})
