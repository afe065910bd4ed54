// The types of these packages are missing, or not found by Node's way to resolve modules.

declare module '@php-wasm/node-8-4' {
  export function getPHPLoaderModule(): Promise<unknown>
}

declare module '@php-wasm/universal' {
  type Run = {
    scriptPath: string
    method?: string
    headers?: Record<string, string>
    body?: Uint8Array
    env?: Record<string, string>
  }
  type Answer = {
    httpStatusCode: number
    bytes: Uint8Array
    text: string
    errors: string
    exitCode: number
  }
  export function loadPHPRuntime(loader: unknown, options: object): Promise<number>
  export class PHP {
    constructor(runtime: number)
    mkdir(path: string): void
    writeFile(path: string, text: string): void
    run(options: Run): Promise<Answer>
  }
}
