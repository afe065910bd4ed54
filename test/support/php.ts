import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { getPHPLoaderModule } from '@php-wasm/node-8-4'
import { loadPHPRuntime, PHP } from '@php-wasm/universal'

/**
 * What PHP takes for a WebSocket to a proxy is a connection to the server itself, so that its own
 * sockets, streams and curl work as they are.
 */
class Connection extends EventEmitter {
  static CONNECTING = 0
  static OPEN = 1
  static CLOSING = 2
  static CLOSED = 3
  CONNECTING = 0
  OPEN = 1
  CLOSING = 2
  CLOSED = 3
  readyState = 0
  url: string
  #socket: Socket

  constructor(url: string) {
    super()
    this.url = url
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('connect', () => {
      this.readyState = this.OPEN
      this.emit('open')
    })
    this.#socket.on('data', (bytes) => this.emit('message', bytes, true))
    this.#socket.on('error', (error) => this.emit('error', error))
    this.#socket.on('close', () => {
      this.readyState = this.CLOSED
      this.emit('close')
    })
  }

  addEventListener(name: string, listener: () => void): void {
    this.on(name, listener)
  }

  removeEventListener(name: string, listener: () => void): void {
    this.off(name, listener)
  }

  send(bytes: ArrayBuffer): void {
    this.#socket.write(Buffer.from(bytes))
  }

  close(): void {
    this.readyState = this.CLOSING
    this.#socket.end()
  }
}

export type Php = {
  /** Writes a file beside the programs. */
  write(name: string, text: string): void
  /** Runs a program, and gives what it has printed. */
  run(program: string, environment: Record<string, string>): Promise<string>
  /** Serves requests with a file, as `php -S` does, until it is stopped. */
  serve(file: string, port: number, options: Serving): Promise<() => void>
}

type Serving = { environment: Record<string, string>; onError(text: string): void }

const FOLDER = '/samples'

/** PHP without an installation, as WebAssembly. */
export async function startPhp(): Promise<Php> {
  const websocket = {
    url: (_socket: unknown, host: string, port: number) => `ws://${host}:${port}`,
    subprotocol: 'binary',
    decorator: () => Connection,
  }
  const php = new PHP(await loadPHPRuntime(await getPHPLoaderModule(), { websocket }))
  php.mkdir(FOLDER)
  return {
    write: (name, text) => php.writeFile(`${FOLDER}/${name}`, text),
    async run(program, env) {
      php.writeFile(`${FOLDER}/program.php`, program)
      const { text, errors, exitCode } = await php.run({ scriptPath: `${FOLDER}/program.php`, env })
      if (exitCode !== 0 || errors !== '') throw new Error(`PHP ended with ${exitCode}: ${errors}`)
      return text
    },
    async serve(file, port, { environment: env, onError }) {
      const answer = async (request: IncomingMessage) => {
        const headers = request.headers as Record<string, string>
        const body = await buffer(request)
        const method = request.method as 'POST'
        return php.run({ scriptPath: `${FOLDER}/${file}`, method, headers, body, env })
      }
      const server = createServer(async (request, response) => {
        const { httpStatusCode, bytes, errors } = await answer(request)
        onError(errors)
        response.writeHead(httpStatusCode).end(bytes)
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
      return () => server.close()
    },
  }
}
