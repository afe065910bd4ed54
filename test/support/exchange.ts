import { connect } from 'node:net'

/** Sends bytes over a new connection, and gives all that comes back until it is closed. */
export const exchange = (host: string, port: number, request: Uint8Array): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect(port, host)
    socket.on('data', (part) => parts.push(part))
    socket.on('error', reject)
    socket.on('close', () => resolve(new Uint8Array(Buffer.concat(parts))))
    socket.write(request)
  })
