// Prints the page. Without this the browser's own menu does. Some pages with it have no button.
addEventListener('click', ({ target }) => {
  if (target.closest('[data-print]')) print()
})
