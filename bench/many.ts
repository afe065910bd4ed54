/**
 * Runs a command of some version's CLI so many times in one process, because starting a process
 * takes longer than the command: `node many.ts <its main.ts> <times> <arguments>`.
 */
const [main, times, ...command] = process.argv.slice(2)
for (let n = 0; n < Number(times); n++) {
  process.argv = [process.execPath, main!, ...command]
  await import(`${main}?${n}`)
  if (process.exitCode) process.exit(process.exitCode)
}
process.exit(0)
