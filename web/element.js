// <vintem-pix src="…">: the code, the image and the state of a charge in a page of a shop. It only
// reads, from the address it is given. The package @vintem/element is this file.

const TEXTS = {
  pt: {
    pay: 'Pague com Pix',
    copy: 'Copiar código Pix',
    copied: 'Código copiado',
    code: 'Código Pix Copia e Cola',
    image: 'QR Code Pix desta cobrança, para ler com o aplicativo do seu banco',
    left: 'Expira em',
    lastDay: 'Pode ser pago até',
    waiting: 'Aguardando pagamento…',
    soon: 'Este Pix expira em menos de 2 minutos.',
    test: 'Teste: nenhum valor é cobrado.',
    loading: 'Carregando…',
    failed: 'Não foi possível carregar o Pix. Tentando de novo…',
    missing: 'Este Pix não existe.',
    paid: 'Pagamento confirmado',
    refunded: 'Pagamento devolvido',
    expired: 'Este Pix expirou. Não pague: peça um novo à loja.',
    canceled: 'A loja cancelou esta cobrança. Você não precisa pagar nada.',
    checking: 'A loja recebeu um Pix desta compra e está conferindo. Não pague de novo.',
    unavailable: 'Esta loja não pode receber agora. Não pague por enquanto.',
  },
  en: {
    pay: 'Pay with Pix',
    copy: 'Copy Pix code',
    copied: 'Code copied',
    code: 'Pix code to copy and paste',
    image: 'Pix QR code of this charge, for the app of your bank',
    left: 'Expires in',
    lastDay: 'Can be paid until',
    waiting: 'Waiting for the payment…',
    soon: 'This Pix expires in less than 2 minutes.',
    test: 'Test: no money is charged.',
    loading: 'Loading…',
    failed: 'The Pix could not be loaded. Trying again…',
    missing: 'There is no such Pix.',
    paid: 'Payment confirmed',
    refunded: 'Payment returned',
    expired: 'This Pix has expired. Do not pay: ask the shop for another one.',
    canceled: 'The shop has canceled this charge. You do not have to pay.',
    checking: 'The shop has received a Pix for this purchase and is checking it. Do not pay again.',
    unavailable: 'This shop cannot be paid now. Do not pay for the moment.',
  },
}

// Sheets that are made by a script are allowed by every Content-Security-Policy.
const STYLE = `
:host { display: block; max-width: 24rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--vintem-text, #14181d);
  background: var(--vintem-background, #fff); border: 1px solid var(--vintem-line, #dde2e8); border-radius: .75rem;
  padding: 1.25rem; text-align: center; box-sizing: border-box; overflow-wrap: anywhere }
:host([hidden]), [hidden] { display: none !important }
p { margin: .5rem 0 }
.amount { font-size: 1.75rem; font-weight: 700; margin: 0 }
.test { background: #fff4d9; color: #7a4a00; border-radius: .5rem; padding: .25rem .5rem }
canvas { width: min(100%, 14rem); image-rendering: pixelated; background: #fff; border-radius: .5rem }
button { font: inherit; font-weight: 600; width: 100%; min-height: 3rem; border: 0; border-radius: .5rem; cursor: pointer;
  color: var(--vintem-ink, #fff); background: var(--vintem-color, #0f766e) }
button:focus-visible, textarea:focus-visible { outline: 3px solid var(--vintem-text, #14181d); outline-offset: 2px }
textarea { font: .8125rem/1.4 ui-monospace, monospace; width: 100%; box-sizing: border-box; margin-top: .75rem;
  padding: .5rem; border: 1px solid #78828e; border-radius: .5rem; resize: none; color: inherit; background: transparent }
.soon { color: var(--vintem-warning, #b3261e); font-weight: 600 }
.status { margin-bottom: 0 }
[hidden] + .status { font-weight: 600 }
.hide { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
`

function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...inside)
  return made
}

// Not from HTML, which a page may forbid.
const body = () =>
  make(
    'div',
    { role: 'group' },
    make('p', { class: 'test', part: 'test', hidden: '' }),
    make('p', { class: 'amount', part: 'amount' }),
    make(
      'div',
      { class: 'open', hidden: '' },
      make('p', { class: 'until', part: 'until' }),
      make('p', {}, make('canvas', { part: 'qr', role: 'img' })),
      make('button', { type: 'button', part: 'button' }),
      make('span', { class: 'copied hide', role: 'status' }),
      make('textarea', {
        part: 'code',
        readonly: '',
        rows: 4,
        spellcheck: 'false',
        translate: 'no',
      }),
    ),
    make('p', { class: 'status', part: 'status', role: 'status', tabindex: '-1' }),
    make('p', { class: 'warning hide', role: 'status' }),
  )

const SOON_S = 120
const DAY_S = 86_400
const COPIED_MS = 4000
/** How often it asks if nothing tells it of changes, and if it is told: the amount may change. */
const [ASK_MS, TOLD_MS] = [3000, 3_600_000]
/** Each failure in a row doubles the time, so often. */
const MAX_DOUBLED = 5
/** Banks tell late of what was paid in time. */
const LATE_MS = 150_000
/** If none of these is new, what is shown stays. */
const SHOWN = ['state', 'amount', 'brCode']
const FINAL = ['paid', 'refunded', 'canceled', 'missing']
const MISSING = { state: 'missing', amount: null, brCode: null }

const two = (number) => String(number).padStart(2, '0')

function timeWords(left_s) {
  const [hours, minutes, seconds] = [left_s / 3600, (left_s / 60) % 60, left_s % 60].map(Math.floor)
  if (hours > 0) return `${hours} h ${two(minutes)} min`
  return minutes > 0 ? `${minutes} min ${two(seconds)} s` : `${seconds} s`
}

/** Draws the image of a data URL. A canvas needs no permission of the page to show it. */
async function draw(canvas, dataUrl) {
  const bytes = Uint8Array.from(atob(dataUrl.split(',')[1]), (char) => char.charCodeAt(0))
  const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  canvas.width = image.width
  canvas.height = image.height
  canvas.getContext('2d').drawImage(image, 0, 0)
  canvas.hidden = false
}

/** The language of an element, also of one inside of another. */
function languageOf(element) {
  const named = element.closest('[lang]')
  const { host } = element.getRootNode()
  return named ? named.getAttribute('lang').toLowerCase() : host ? languageOf(host) : ''
}

// A server renders pages that name the element, and has no HTMLElement.
const Base = globalThis.HTMLElement ?? class {}

class VintemPix extends Base {
  static observedAttributes = ['src', 'lang']

  #root
  #charge = null
  #events = null
  #timers = new Map()
  /** Answers to questions of before this are not shown. */
  #turn = 0
  #failures = 0
  /** Whether the stream of events has spoken, and its end was not noticed since. */
  #isTold = false
  #hasAskedLate = false
  #isOn = false

  constructor() {
    super()
    // A browser that cannot do this shows what is inside the element, as long as it has no root.
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    this.#root = this.attachShadow({ mode: 'open' })
    this.#root.adoptedStyleSheets = [sheet]
    this.#root.append(body())
    this.#find('button').addEventListener('click', () => this.#copy())
    this.#find('textarea').addEventListener('focus', (event) => event.target.select())
  }

  /** The state that is shown. Null before the first answer. */
  get state() {
    return this.#charge?.state ?? null
  }

  get src() {
    return this.getAttribute('src') ?? ''
  }

  set src(value) {
    this.setAttribute('src', value)
  }

  connectedCallback() {
    this.#isOn = true
    document.addEventListener('visibilitychange', this.#wake)
    this.#begin()
  }

  disconnectedCallback() {
    this.#isOn = false
    document.removeEventListener('visibilitychange', this.#wake)
    this.#end()
  }

  attributeChangedCallback(name, before, now) {
    if (!this.#isOn || before === now) return
    if (name === 'src') this.#begin()
    else this.#show()
  }

  get #texts() {
    return languageOf(this).startsWith('en') ? TEXTS.en : TEXTS.pt
  }

  #find(selector) {
    return this.#root.querySelector(selector)
  }

  /** A phone sends pages to sleep while its owner pays in another app. */
  #wake = () => {
    if (!document.hidden && this.#isWaiting) this.#ask()
  }

  get #isWaiting() {
    return this.#isOn && this.src !== '' && !FINAL.includes(this.state)
  }

  #begin() {
    this.#end()
    this.#charge = null
    this.#failures = 0
    this.#hasAskedLate = false
    this.#find('.test').hidden = true
    this.#find('.amount').textContent = ''
    this.#say(this.src ? this.#texts.loading : '')
    if (this.src) this.#ask()
  }

  #end() {
    this.#turn++
    this.#hangUp()
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #hangUp() {
    this.#events?.close()
    this.#events = null
    this.#isTold = false
  }

  #later(name, delay_ms, act) {
    clearTimeout(this.#timers.get(name))
    this.#timers.set(name, setTimeout(act, delay_ms))
  }

  async #ask() {
    const turn = ++this.#turn
    const answer = await fetch(this.src, { cache: 'no-store', credentials: 'omit' }).catch(
      () => null,
    )
    const charge = answer?.ok ? await answer.json().catch(() => null) : null
    if (turn !== this.#turn) return
    if (charge) this.#become(charge)
    else if (answer?.status === 404) this.#become(MISSING)
    else {
      this.#failures++
      if (!this.#charge) this.#say(this.#texts.failed)
      this.#askLater()
    }
  }

  #become(charge) {
    const before = this.#charge
    this.#charge = { ...charge, end_ms: performance.now() + (charge.secondsLeft ?? 0) * 1000 }
    this.#failures = 0
    if (FINAL.includes(charge.state)) this.#end()
    else if (charge.state === 'expired') this.#hangUp()
    else this.#follow()
    this.#askLater()
    if (SHOWN.some((name) => before?.[name] !== charge[name])) this.#show()
    else if (charge.brCode) this.#showTime()
    if (before?.state === charge.state) return
    const detail = { state: charge.state }
    // The last thing: who hears it may set another src.
    this.dispatchEvent(new CustomEvent('state', { detail, bubbles: true, composed: true }))
  }

  #askLater() {
    // A page that nobody sees asks when it is seen again.
    if (!this.#isWaiting || document.hidden) return
    if (this.state === 'expired') {
      if (!this.#hasAskedLate) this.#later('ask', LATE_MS, () => this.#ask())
      this.#hasAskedLate = true
      return
    }
    const doubled = 2 ** Math.min(this.#failures, MAX_DOUBLED)
    this.#later('ask', this.#isTold ? TOLD_MS : ASK_MS * doubled, () => this.#ask())
  }

  /** Server-sent events tell of a change. As long as there are none, it asks again and again. */
  #follow() {
    if (this.#events) return
    const events = new EventSource(`${this.src}/events`)
    this.#events = events
    let hasOpened = false
    events.onopen = () => {
      // The machine may have slept, and what is shown may be old.
      if (hasOpened) this.#ask()
      hasOpened = true
    }
    events.onmessage = ({ data }) => {
      this.#isTold = true
      if (JSON.parse(data).state === this.state) this.#askLater()
      else this.#ask()
    }
    events.onerror = () => {
      this.#isTold = false
      this.#askLater()
    }
  }

  #say(words) {
    const [open, status] = [this.#find('.open'), this.#find('.status')]
    const hasFocus = open.contains(this.#root.activeElement)
    clearTimeout(this.#timers.get('time'))
    open.hidden = true
    status.textContent = words
    for (const name of ['.warning', '.copied']) this.#find(name).textContent = ''
    if (hasFocus) status.focus()
    this.#nameIt()
  }

  /** The page around it may be in another language. */
  #nameIt() {
    const group = this.#find('[role=group]')
    group.lang = this.#texts === TEXTS.en ? 'en' : 'pt-BR'
    group.setAttribute('aria-label', this.#texts.pay)
  }

  #show() {
    const charge = this.#charge
    if (!charge) return
    const texts = this.#texts
    const reais = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' })
    this.#find('.test').hidden = !charge.test
    this.#find('.test').textContent = texts.test
    this.#find('.amount').textContent =
      charge.amount === null ? '' : reais.format(charge.amount / 100)
    if (charge.brCode === null) {
      this.#say(texts[charge.state] ?? texts.unavailable)
      return
    }
    this.#nameIt()
    this.#find('.open').hidden = false
    this.#find('.status').textContent = texts.waiting
    this.#find('button').textContent = texts.copy
    this.#find('textarea').value = charge.brCode
    this.#find('textarea').setAttribute('aria-label', texts.code)
    const canvas = this.#find('canvas')
    canvas.setAttribute('aria-label', texts.image)
    // Who cannot see the image has the code below it.
    draw(canvas, charge.brCodeBase64).catch(() => {
      canvas.hidden = true
    })
    this.#showTime()
  }

  #showTime() {
    const { secondsLeft, lastDay, end_ms } = this.#charge
    const texts = this.#texts
    const until = this.#find('.until')
    if (secondsLeft === null) {
      until.textContent = `${texts.lastDay} ${lastDay.split('-').reverse().join('/')}`
      return
    }
    // From the server's clock: that of a phone may be wrong.
    const left_s = Math.max(0, Math.round((end_ms - performance.now()) / 1000))
    until.textContent = `${texts.left} ${timeWords(left_s)}`
    until.classList.toggle('soon', left_s < SOON_S)
    const warning = this.#find('.warning')
    if (left_s < SOON_S && !warning.textContent) warning.textContent = texts.soon
    if (left_s === 0) this.#later('ask', 1000, () => this.#ask())
    else this.#later('time', left_s > DAY_S ? 60_000 : 1000, () => this.#showTime())
  }

  async #copy() {
    const field = this.#find('textarea')
    try {
      await navigator.clipboard.writeText(field.value)
    } catch {
      // A page without https has no clipboard, but can still copy what is selected.
      field.select()
      if (!document.execCommand('copy')) return
    }
    const button = this.#find('button')
    const texts = this.#texts
    button.textContent = texts.copied
    this.#find('.copied').textContent = texts.copied
    this.#later('copied', COPIED_MS, () => {
      button.textContent = texts.copy
      this.#find('.copied').textContent = ''
    })
  }
}

const registry = globalThis.customElements
const known = registry?.get('vintem-pix')
if (!known) registry?.define('vintem-pix', VintemPix)

/** If the page has the script twice, that of the first. */
const Registered = known ?? VintemPix

export { Registered as VintemPix }
