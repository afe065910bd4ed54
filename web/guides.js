const main = document.querySelector('main')
const { copy, copied } = main.dataset

// A language that was chosen once is shown in all samples, here and on the next pages.
const LANGUAGE = 'vintem-language'
const choose = (language) => {
  for (const input of document.querySelectorAll('.tabs > input')) {
    if (input.value === language) input.checked = true
  }
}
choose(read())
main.addEventListener('change', ({ target }) => {
  if (!target.matches('.tabs > input')) return
  const before = target.getBoundingClientRect().top
  choose(target.value)
  // Other samples have another height now. Stay at the one that was clicked.
  scrollBy(0, target.getBoundingClientRect().top - before)
  store(target.value)
})

// A browser may forbid pages to store anything.
function read() {
  try {
    return localStorage.getItem(LANGUAGE)
  } catch {
    return null
  }
}
function store(language) {
  try {
    localStorage.setItem(LANGUAGE, language)
  } catch {
    // Then it is chosen for this page only.
  }
}

// A button that copies a block of code, where there is a clipboard.
for (const block of navigator.clipboard ? main.querySelectorAll('pre') : []) {
  const button = document.createElement('button')
  button.className = 'button quiet slim copy'
  button.textContent = copy
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent)
    button.textContent = copied
    setTimeout(() => {
      button.textContent = copy
    }, 2500)
  })
  const around = document.createElement('div')
  around.className = 'sample'
  block.replaceWith(around)
  around.append(block, button)
}

// The other language is shown at the same heading, whose anchor both have.
const other = document.querySelector('.forms .language')
other.addEventListener('click', () => {
  other.hash = location.hash
})

// Searches while somebody types. The answer is the page that the form would show.
const field = document.getElementById('q')
const status = document.createElement('p')
status.className = 'hide'
status.setAttribute('role', 'status')
field.form.append(status)
let timer
let asked = field.value
let isSearch = asked !== ''
field.addEventListener('input', () => {
  clearTimeout(timer)
  timer = setTimeout(search, 250)
})
async function search() {
  const query = field.value.trim()
  if (query.length < 3 || query === asked) return
  asked = query
  const address = `/guides?${new URLSearchParams(new FormData(field.form))}`
  const reply = await fetch(address).catch(() => null)
  if (query !== asked) return
  if (!reply?.ok) {
    asked = ''
    return
  }
  const answer = new DOMParser().parseFromString(await reply.text(), 'text/html')
  const found = answer.getElementById('found')
  if (!found || query !== asked) return
  main.replaceChildren(document.adoptNode(found))
  document.title = answer.title
  status.textContent = found.querySelector('h1').textContent
  // Back leads to the page that was read before the search.
  if (isSearch) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  isSearch = true
}
addEventListener('popstate', () => {
  if (isSearch) location.reload()
})
