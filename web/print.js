// Prints the page. Without this the browser's own menu does.
document.querySelector('[data-print]').addEventListener('click', () => print())
