import type { Config } from './config.ts'
import { folderFault } from './lib/folders.ts'
import { OperatorFault } from './lib/operator-fault.ts'

/**
 * What is printed when the start fails. If the operator can fix it, a sentence says what to do. If
 * it is a bug, the stack is printed.
 */
export function describeStartFault(error: unknown, config?: Config): string {
  const {
    code = '',
    message,
    stack,
    syscall,
    port,
  } = error as NodeJS.ErrnoException & {
    port?: number
  }
  if (error instanceof OperatorFault) return message
  // If there are several processes, the parent may bind the port for them.
  const isListening = ['listen', 'bind', 'getaddrinfo'].includes(syscall ?? '')
  const isOperatorPort = config?.operator != null && config.operator.port === port
  const address = isOperatorPort ? { ...config.operator!, prefix: 'OPERATOR_' } : config
  const listening = address && isListening ? describeListenFault(code, address) : null
  if (listening) return listening
  if (config && isInside(config.dataDir, error)) {
    return (folderFault(config.dataDir, error) as Error).message
  }
  return stack ?? message
}

/** The exit code: 2 if a setting has to be changed first, such as the port, otherwise 1. */
export function startExitCode(error: unknown): number {
  if (error instanceof OperatorFault) return error.exitCode
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 2 : 1
}

/** Where to listen, and the prefix of the options for it. */
type Address = { host: string; port: number; prefix?: string }

function describeListenFault(code: string, { host, port, prefix = '' }: Address): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return `The port is taken: something listens on ${host}:${port} already. Stop it, or choose another ${prefix}PORT.`
    case 'EACCES':
      return `This user may not listen on port ${port}. Choose a ${prefix}PORT above 1023, and let a proxy in front listen on ${port}.`
    case 'EADDRNOTAVAIL':
      return `${prefix}HOST ${host} is not an address of this machine. Use 127.0.0.1 for this machine alone, or 0.0.0.0 for all its addresses.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${prefix}HOST ${host} is neither an address nor a known name. Use 127.0.0.1, or 0.0.0.0 for all addresses of this machine.`
    default:
      return null
  }
}

const isInside = (folder: string, error: unknown): boolean =>
  ((error as NodeJS.ErrnoException).path ?? '').startsWith(folder)
