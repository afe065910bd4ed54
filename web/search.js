// "/" and Ctrl+K (Cmd+K) lead to the search of the header. Below the results, arrows go through them.
const box = document.getElementById('find-all')

const isWriting = (element) =>
  element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)

function step(event) {
  const results = [...document.querySelectorAll('.found a')]
  const here = results.indexOf(document.activeElement)
  const isInBox = document.activeElement === box
  if (results.length === 0 || (here < 0 && !isInBox && isWriting(document.activeElement))) return
  event.preventDefault()
  const next = event.key === 'ArrowDown' ? here + 1 : here - 1
  if (next < 0) box.focus()
  else results[Math.min(next, results.length - 1)].focus()
}

addEventListener('keydown', (event) => {
  const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey
  const isK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey
  if (isK || (isSlash && !isWriting(event.target))) {
    event.preventDefault()
    box.focus()
    box.select()
  }
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') step(event)
})
