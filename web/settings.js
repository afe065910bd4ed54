// Keeps the preview of the brand color current while it is typed or picked.
const field = document.querySelector('#color')
const picker = document.querySelector('#picked')
const preview = document.querySelector('.color-preview')

function luminanceOf(color) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

field?.addEventListener('input', () => {
  const color = field.value.trim()
  if (!/^#[0-9a-f]{6}$/i.test(color)) return
  picker.value = color
  show(color)
})
picker?.addEventListener('input', () => {
  field.value = picker.value
  show(picker.value)
})

function show(color) {
  const luminance = luminanceOf(color)
  const isBlack = luminance > 0.179
  const ratio = isBlack ? (luminance + 0.05) / 0.05 : 1.05 / (luminance + 0.05)
  const { white, black } = preview.dataset
  preview.querySelector('rect').setAttribute('fill', color)
  preview.querySelector('text').setAttribute('fill', isBlack ? '#000000' : '#ffffff')
  const text = ratio.toFixed(1).replace('.', ',')
  preview.querySelector('p').textContent = (isBlack ? black : white).replace('{}', text)
}
