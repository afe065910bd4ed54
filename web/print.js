// Prints the page. Without this the browser's own menu does. Some pages with it have no button.
addEventListener('click', ({ target }) => {
  if (target.closest('[data-print]')) print()
})
// Somebody has asked for all lines of a list, to print them.
if (document.querySelector('[data-print=now]')) addEventListener('load', () => print())
