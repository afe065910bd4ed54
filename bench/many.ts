/**
 * Runs commands of some version's CLI in one process, because starting a process takes longer than
 * a command: `node many.ts <its main.ts> <a JSON list of commands, each a list of arguments>`.
 */
const [main, commands] = process.argv.slice(2)
for (const [n, args] of (JSON.parse(commands!) as string[][]).entries()) {
  process.argv = [process.execPath, main!, ...args]
  await import(`${main}?${n}`)
  if (process.exitCode) process.exit(process.exitCode)
}
process.exit(0)
