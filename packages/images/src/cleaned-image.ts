/** An image that holds nothing but what is needed to show it. */
export type Cleaned = {
  type: 'image/png' | 'image/jpeg'
  bytes: Buffer
  width: number
  height: number
}
