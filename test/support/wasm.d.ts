// The packages that run Python and PHP, as far as tests use them. The types of PHP's are missing, or
// not found by Node's way to resolve modules.

declare module 'pyodide' {
  type Globals = { set(name: string, value: unknown): void }
  export type PyodideInterface = {
    FS: { writeFile(name: string, text: string): void }
    globals: { get(name: 'dict'): () => Globals }
    registerJsModule(name: string, module: object): void
    runPython(code: string): (value: unknown) => unknown
    runPythonAsync(code: string, options?: { globals: Globals }): Promise<unknown>
    toPy(value: unknown): unknown
  }
  type Options = { stdout(line: string): void; stderr(line: string): void }
  export function loadPyodide(options: Options): Promise<PyodideInterface>
}

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
