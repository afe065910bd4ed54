// @ts-check
/** Bundlers must not look for it: it is imported only where the global is missing. */
const NODE_CRYPTO = 'node:crypto'

/**
 * Web Crypto. Node 18 has it, but not as a global.
 * @returns {Promise<typeof globalThis.crypto>}
 */
export async function webCrypto() {
  if (globalThis.crypto) return globalThis.crypto
  const { webcrypto } = await import(/* webpackIgnore: true */ /* @vite-ignore */ NODE_CRYPTO)
  return webcrypto
}

/** 128 random bits in hexadecimal. */
export async function randomName() {
  const bytes = (await webCrypto()).getRandomValues(new Uint8Array(16))
  return toHex(bytes)
}

/** @param {Uint8Array} bytes */
export const toHex = (bytes) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
