// Shows one empty row of a list, and another one when it is asked for. Without this all are shown.
const list = document.querySelector('[data-rows]')
const rows = [...list.querySelectorAll('[data-row]')]
const isFilled = (row) => row.querySelector('select').value !== ''
const last = rows.findLastIndex(isFilled)
rows.forEach((row, i) => {
  row.hidden = i > Math.max(0, last)
})

const button = document.querySelector('[name="step"][value="rows"]')
button.addEventListener('click', (event) => {
  const next = rows.find((row) => row.hidden)
  if (!next) return
  event.preventDefault()
  next.hidden = false
  next.querySelector('select').focus()
})
