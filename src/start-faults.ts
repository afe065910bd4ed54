import type { Config } from './config.ts'
import { folderFault } from './lib/folder-fault.ts'
import { OperatorFault } from './lib/operator-fault.ts'

/**
 * What is printed when the start fails: a sentence that says what to do, if whoever operates the
 * service can fix it; of a bug, where it is.
 */
export function describeStartFault(error: unknown, config?: Config): string {
  const { code = '', message, stack, syscall } = error as NodeJS.ErrnoException
  if (error instanceof OperatorFault) return message
  const isListening = syscall === 'listen' || syscall === 'getaddrinfo'
  const listening = config && isListening ? describeListenFault(code, config) : null
  if (listening) return listening
  if (config && isInside(config.dataDir, error)) {
    return (folderFault(config.dataDir, error) as Error).message
  }
  return stack ?? message
}

function describeListenFault(code: string, { host, port }: Config): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return `The port is taken: something listens on ${host}:${port} already. Stop it, or choose another PORT.`
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose a PORT above 1023, and let a proxy in front listen on ${port}.`
    case 'EADDRNOTAVAIL':
      return `HOST ${host} is not an address of this machine. Use 127.0.0.1 for this machine alone, or 0.0.0.0 for all its addresses.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST ${host} is neither an address nor a known name. Use 127.0.0.1, or 0.0.0.0 for all addresses of this machine.`
    default:
      return null
  }
}

const isInside = (folder: string, error: unknown): boolean =>
  ((error as NodeJS.ErrnoException).path ?? '').startsWith(folder)
