/** The color of the service itself, and of a company that has chosen none. */
export const DEFAULT_COLOR = '#0f766e'

/** The brightness of a color such as #0f766e, from 0 to 1, as WCAG calculates it. */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** White or black, whichever is easier to read on a color such as #0f766e: at least 4.5 to 1. */
export const inkOn = (color: string): '#ffffff' | '#000000' =>
  // Above this the contrast with black is the greater one.
  luminanceOf(color) > 0.179 ? '#000000' : '#ffffff'

/** The contrast of two colors, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [dark, bright] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (bright! + 0.05) / (dark! + 0.05)
}
