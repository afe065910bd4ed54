import { cleanJpeg, isJpeg } from './clean-jpeg.ts'
import { cleanPng, isPng } from './clean-png.ts'
import type { Cleaned } from './cleaned-image.ts'

/**
 * Rebuilds a PNG or JPEG from its essential parts, so that no metadata and no other file hidden in
 * it are kept. Null if it is neither, or is broken, or is larger than this on a side.
 */
export async function cleanImage(bytes: Buffer, maxSide: number): Promise<Cleaned | null> {
  if (isPng(bytes)) return cleanPng(bytes, maxSide)
  return isJpeg(bytes) ? cleanJpeg(bytes, maxSide) : null
}
