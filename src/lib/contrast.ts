/** White or black, whichever is easier to read on a color such as #0f766e: at least 4.5 to 1. */
export function inkOn(color: string): '#ffffff' | '#000000' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
  // Above this the contrast with black is the greater one.
  return luminance > 0.179 ? '#000000' : '#ffffff'
}
