/** The part of newman that tests use. It comes without types. */
declare module 'newman' {
  export type Summary = {
    run: {
      failures: { source?: { name: string }; error: Error }[]
      executions: { item: { name: string }; response?: { code: number; text(): string } }[]
    }
  }
  type Options = {
    collection: object
    environment: { values: { key: string; value: string }[] }
  }
  export function run(options: Options, done: (fault: Error | null, summary: Summary) => void): void
}
