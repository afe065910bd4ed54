// The sheet of a phone that shares with any of its apps. The text has the link already.
const isPhone = matchMedia('(pointer: coarse)').matches
for (const button of document.querySelectorAll('[data-share]')) {
  if (!navigator.share || !isPhone) continue
  button.hidden = false
  button.addEventListener('click', () => {
    const { share: text, shareTitle: title } = button.dataset
    // Whoever closes the sheet without sending has made no mistake.
    navigator.share({ title, text }).catch(() => {})
  })
}
