import * as crypto from 'node:crypto'
import * as tls from 'node:tls'

// The package `vintem` runs on Node 20 too, where a function of Node that is newer is not there. An
// import by its name would keep the whole program from being loaded.

/** Argon2id. Before Node 24.7 it is computed in JavaScript, which takes about ten times as long. */
export async function argon2id(parameters: crypto.Argon2Parameters): Promise<Buffer> {
  if (!crypto.argon2) return argon2idInJavaScript(parameters)
  return new Promise((resolve, reject) => {
    crypto.argon2('argon2id', parameters, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

/** It lets other work go on every few milliseconds. */
export async function argon2idInJavaScript(parameters: crypto.Argon2Parameters): Promise<Buffer> {
  const { message, nonce, tagLength, memory, passes, parallelism } = parameters
  const { argon2idAsync } = await import('@noble/hashes/argon2.js')
  const options = { t: passes, m: memory, p: parallelism, dkLen: tagLength }
  return Buffer.from(await argon2idAsync(message as string, nonce as Uint8Array, options))
}

/** The authorities that Node trusts. Before Node 22.15 without those of NODE_EXTRA_CA_CERTS. */
export const trustedAuthorities = (): readonly string[] =>
  tls.getCACertificates?.('default') ?? tls.rootCertificates

/** The time of the processor that this thread has used, before Node 23.9 that of the process. */
export const cpuUsage = (before?: NodeJS.CpuUsage): NodeJS.CpuUsage =>
  process.threadCpuUsage ? process.threadCpuUsage(before) : process.cpuUsage(before)
