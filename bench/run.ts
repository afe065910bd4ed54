/** Runs one benchmark in this process: `node run.ts <name>`. */
const { run } = await import(`./${process.argv[2]}.ts`)
await run()
process.exit()
