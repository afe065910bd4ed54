// Picks many records at once: all of the page, or with Shift all between two.
const boxes = [...document.querySelectorAll('input[form="picked"][name="id"]')]
const all = document.querySelector('[data-pick-all]')
const count = document.querySelector('.picked-count')
let last = null

function show() {
  const picked = boxes.filter((box) => box.checked).length
  if (!count) return
  count.textContent = picked === 1 ? count.dataset.one : count.dataset.many.replace('#', picked)
  all.checked = picked === boxes.length
  all.indeterminate = picked > 0 && picked < boxes.length
}

boxes.forEach((box, i) => {
  box.addEventListener('click', (event) => {
    if (event.shiftKey && last !== null) {
      const between = boxes.slice(Math.min(i, last), Math.max(i, last) + 1)
      for (const other of between) other.checked = box.checked
    }
    last = i
    show()
  })
})
all?.addEventListener('click', () => {
  for (const box of boxes) box.checked = all.checked
  show()
})
// The browser may have kept what was picked before.
addEventListener('pageshow', show)
