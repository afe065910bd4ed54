import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { loadPyodide, type PyodideInterface } from 'pyodide'
import { exchange } from './exchange.ts'

/**
 * Python without an installation: CPython as WebAssembly. It has no sockets, so a socket of our own
 * sends what `http.client` has written and reads the answer, and a server of our own gives
 * connections to `http.server`. All above the socket is Python's own.
 */
const SOCKETS = `
import http.server, io, os, socket, sys
import vintem_sockets
from pyodide.ffi import run_sync


class Connection:
    def __init__(self, address=None, received=b""):
        self.address, self.received, self.sent = address, received, b""

    def sendall(self, data):
        self.sent += bytes(data)

    def makefile(self, mode, *rest):
        if self.address:
            answer = vintem_sockets.exchange(*self.address, self.sent)
            self.received = run_sync(answer).to_bytes()
        return io.BytesIO(self.received)

    def setsockopt(self, *rest):
        pass

    def close(self):
        pass


class Server:
    def __init__(self, address, handler):
        self.handler = handler
        run_sync(vintem_sockets.listen(address[1]))

    def serve_forever(self):
        while received := run_sync(vintem_sockets.accept()):
            connection = Connection(received=received.to_bytes())
            self.handler(connection, ("127.0.0.1", 0), self)
            vintem_sockets.answer(connection.sent)


socket.create_connection = lambda address, *rest, **options: Connection(address)
http.server.ThreadingHTTPServer = Server
`

type Bytes = { toJs(): Uint8Array }

type Accepted = { socket: Socket; request: Buffer }

type Environment = Record<string, string>

export type Python = {
  /** Writes a module that programs can import. */
  write(name: string, text: string): void
  /** Runs a program, and gives what it has printed. */
  run(program: string, environment: Environment, onLine?: (line: string) => void): Promise<string>
  /** Ends the program that serves. */
  stop(): void
}

let starting: Promise<Python> | null = null

/** It takes seconds to start, so a process starts it once. */
export function startPython(): Promise<Python> {
  starting ??= start()
  return starting
}

async function start(): Promise<Python> {
  let print = (_line: string) => {}
  const output = (line: string) => print(line)
  const python = await loadPyodide({ stdout: output, stderr: output })
  const connections = createConnections()
  python.registerJsModule('vintem_sockets', {
    exchange: (host: string, port: number, request: Bytes) => exchange(host, port, request.toJs()),
    listen: connections.listen,
    accept: connections.accept,
    answer: (bytes: Bytes) => connections.answer(bytes.toJs()),
  })
  await python.runPythonAsync(SOCKETS)
  return {
    write: (name, text) => python.FS.writeFile(name, text),
    async run(program, environment, onLine = () => {}) {
      const lines: string[] = []
      print = (line) => {
        lines.push(line)
        onLine(line)
      }
      await python.runPythonAsync(program, { globals: namespace(python, environment) })
      return lines.join('\n')
    },
    stop: connections.stop,
  }
}

/** The variables of a new program, which has loaded no module of ours. */
function namespace(python: PyodideInterface, environment: Environment) {
  const globals = python.globals.get('dict')()
  globals.set('__name__', '__main__')
  const set = python.runPython(
    `lambda environment: (os.environ.update(environment), sys.modules.pop("vintem", None))`,
  )
  set(python.toPy(environment))
  return globals
}

/** Takes one whole request after the other, as `Content-Length` says where it ends. */
function createConnections() {
  let server: Server | null = null
  const waiting: Accepted[] = []
  let current: Accepted | null = null
  let wake = () => {}
  return {
    async listen(port: number): Promise<void> {
      server = createServer((socket) => {
        let request = Buffer.alloc(0)
        socket.on('data', (part) => {
          request = Buffer.concat([request, part])
          if (!isWhole(request)) return
          waiting.push({ socket, request })
          wake()
        })
      }).listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    async accept(): Promise<Uint8Array | null> {
      while (waiting.length === 0 && server) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      current = waiting.shift() ?? null
      return current && new Uint8Array(current.request)
    },
    answer(bytes: Uint8Array): void {
      current?.socket.end(bytes)
    },
    stop(): void {
      server?.close()
      server = null
      wake()
    },
  }
}

function isWhole(request: Buffer): boolean {
  const end = request.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = /^content-length: *(\d+)/im.exec(request.subarray(0, end).toString('latin1'))?.[1]
  return request.length >= end + 4 + Number(length ?? 0)
}
